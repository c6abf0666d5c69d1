//! What is wrong with the params of a request that the protocol's types refused.

use rmcp::{
    ErrorData,
    model::{CustomRequest, ErrorCode},
};
use serde_json::Value;

/// The method that calls a tool.
pub(super) const CALL: &str = "tools/call";

/// The error for a request that no type of the protocol fits: its params are wrong, or nobody knows its method.
pub(super) fn error(request: CustomRequest) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    if method != CALL {
        return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None);
    }
    let told = of_call(params.as_ref());
    let told = told.unwrap_or_else(|| format!("params of {CALL} do not fit the protocol's schema"));
    ErrorData::invalid_params(told, None)
}

/// What is wrong with the params of a call; none if it is neither the name nor the arguments.
pub(super) fn of_call(params: Option<&Value>) -> Option<String> {
    let takes = "it takes an object with name, a string, and arguments, an object";
    let Some(params) = params.filter(|params| !params.is_null()) else {
        return Some(format!("{CALL} has no params; {takes}"));
    };
    let Value::Object(params) = params else {
        return Some(format!("params of {CALL} must be an object, not {}; {takes}", kind(params)));
    };
    match (params.get("name"), params.get("arguments")) {
        (None, _) => Some(format!("params of {CALL} have no name; {takes}")),
        (Some(Value::String(_)), None | Some(Value::Null | Value::Object(_))) => None,
        (Some(Value::String(_)), Some(other)) => {
            Some(format!("arguments of {CALL} must be an object, not {}", kind(other)))
        }
        (Some(other), _) => Some(format!("name of {CALL} must be a string, not {}", kind(other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
