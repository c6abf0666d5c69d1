//! The JSON schema of a tool's parameters, without what tells a model nothing.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

/// The schema of an object of parameters. A parameter that need not be given is not required, and never null.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.transforms.push(Box::new(RecursiveTransform(plain)));
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The tool has a description of its own.
    schema.remove("description");
    schema.to_value()
}

fn plain(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("title");
    object.remove("format");
    // The lines of a doc comment end where the source file is full.
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if object.get("default").is_some_and(says_nothing) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [kind] = types.as_slice() {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
    // Values that are each described are a plain list; the parameter's description tells what they mean.
    if let Some(Value::Array(variants)) = object.get("oneOf")
        && let Some(values) = variants.iter().map(|variant| variant.get("const").cloned()).collect()
    {
        object.remove("oneOf");
        object.insert("type".to_owned(), Value::from("string"));
        object.insert("enum".to_owned(), Value::Array(values));
    }
}

fn says_nothing(default: &Value) -> bool {
    match default {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Params {
        /// Text.
        text: Option<String>,
        /// Number.
        #[schemars(range(min = 1, max = 9))]
        number: Option<u32>,
        /// One or two.
        #[serde(default)]
        choice: Choice,
        /// Words, of
        /// any kind.
        #[serde(default)]
        words: Vec<String>,
    }

    #[derive(Default, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is read")]
    enum Choice {
        /// The first.
        #[default]
        One,
        /// The second.
        Two,
    }

    #[test]
    fn a_schema_says_only_what_a_model_needs() {
        let expected = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "Text." },
                "number": { "type": "integer", "description": "Number.", "minimum": 1, "maximum": 9 },
                "choice": {
                    "type": "string", "description": "One or two.", "enum": ["one", "two"], "default": "one"
                },
                "words": { "type": "array", "description": "Words, of any kind.", "items": { "type": "string" } },
            },
        });
        assert_eq!(schema::<Params>(), expected);
    }
}
