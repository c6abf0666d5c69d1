//! Our entries in somebody's settings: put in and taken out again, with every other byte left as it is.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::{Value, json};

/// Name of our server among the MCP servers.
const SERVER: &str = "compass";
/// What every command of ours has behind the program.
const HOOK: &str = " agent hook";
/// Seconds that a hook which only hands messages over may take.
const MESSAGES: u64 = 10;
/// What a file begins with that some editors put there.
const MARK: char = '\u{feff}';

/// Which entries a file has of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// The hooks.
    Hooks,
    /// The MCP server.
    Server,
}

/// What our entries say.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// The program, a name or a path.
    pub(super) program: String,
    /// The agent's handle.
    pub(super) agent: Option<String>,
    /// Seconds that a question waits.
    pub(super) wait: u64,
    /// Seconds that its hook has beside that.
    pub(super) spare: u64,
}

/// Why a file is left alone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EditError {
    /// It is not JSON.
    #[error("it cannot be read as JSON: {0}")]
    Syntax(String),
    /// Something else stands where our entries go.
    #[error("{0} is not {1}")]
    Other(String, &'static str),
    /// There is a server of our name that is not ours.
    #[error("its mcpServers.compass is another server; rename it first")]
    Taken,
}

impl Entries {
    /// The text with our entries; a text that has them as wanted comes back as it is.
    pub(super) fn put(self, text: Option<&str>, wanted: &Wanted) -> Result<String, EditError> {
        let text = text.unwrap_or_default();
        let text = if is_blank(text)? { with_object(text) } else { text.to_owned() };
        edit(&text, |root| match self {
            Self::Hooks => put_hooks(root, wanted),
            Self::Server => put_server(root, wanted),
        })
    }

    /// The text without our entries and without what only they were in; `before` is what it was before them.
    pub(super) fn take_out(self, text: &str, before: Option<&str>) -> Result<String, EditError> {
        if is_blank(text)? {
            return Ok(text.to_owned());
        }
        let before = before.and_then(|before| value(before).ok()).unwrap_or(Value::Null);
        edit(text, |root| {
            match self {
                Self::Hooks => take_hooks_out(root, &before),
                Self::Server => take_server_out(root, &before),
            }
            Ok(())
        })
    }
}

impl Wanted {
    fn arguments(&self, what: &[&str]) -> Vec<String> {
        let agent = self.agent.iter().flat_map(|agent| ["--agent", agent.as_str()]);
        what.iter().copied().chain(agent).map(str::to_owned).collect()
    }

    fn command(&self) -> String {
        let wait = format!("--wait={}", self.wait);
        let words = self.arguments(&["agent", "hook", &wait]);
        std::iter::once(&self.program).chain(&words).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// Event, matcher and handler of each hook.
    fn hooks(&self) -> Vec<(&'static str, Option<&'static str>, Value)> {
        let handler =
            |timeout: u64| json!({ "type": "command", "command": self.command(), "timeout": timeout });
        let question = self.wait + self.spare;
        vec![
            ("SessionStart", None, handler(MESSAGES)),
            ("UserPromptSubmit", None, handler(MESSAGES)),
            ("Stop", None, handler(MESSAGES)),
            ("PreToolUse", Some("AskUserQuestion"), handler(question)),
            ("Elicitation", None, handler(question)),
        ]
    }

    fn server(&self) -> Value {
        json!({ "type": "stdio", "command": self.program, "args": self.arguments(&["agent", "mcp"]) })
    }
}

/// The JSON of a text with comments.
fn value(text: &str) -> Result<Value, EditError> {
    let root = parse(text.trim_start_matches(MARK))?;
    Ok(root.to_serde_value().unwrap_or(Value::Null))
}

/// True if there is nothing but white space and comments.
fn is_blank(text: &str) -> Result<bool, EditError> {
    Ok(parse(text.trim_start_matches(MARK))?.value().is_none())
}

/// A blank text with an empty object on a line of its own behind it.
fn with_object(blank: &str) -> String {
    let end = if blank.contains("\r\n") { "\r\n" } else { "\n" };
    let starts_line = blank.trim_start_matches(MARK).is_empty() || blank.ends_with('\n');
    format!("{blank}{}{{}}{end}", if starts_line { "" } else { end })
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options).map_err(|error| EditError::Syntax(error.to_string()))?;
    // What cannot be given back as it is must not be edited.
    if root.to_string() == text {
        Ok(root)
    } else {
        Err(EditError::Syntax("it has parts that are not kept".into()))
    }
}

fn edit(text: &str, change: impl FnOnce(&CstObject) -> Result<(), EditError>) -> Result<String, EditError> {
    let (mark, json) = match text.strip_prefix(MARK) {
        Some(json) => (MARK.to_string(), json),
        None => (String::new(), text),
    };
    let root = parse(json)?;
    let object = root.object_value_or_create().ok_or(EditError::Other("it".into(), "an object"))?;
    change(&object)?;
    Ok(mark + &root.to_string())
}

fn put_hooks(root: &CstObject, wanted: &Wanted) -> Result<(), EditError> {
    let hooks = object(root, "hooks", "its \"hooks\"")?;
    for (event, matcher, handler) in wanted.hooks() {
        let name = format!("its \"hooks.{event}\"");
        let groups = hooks.array_value_or_create(event).ok_or(EditError::Other(name, "a list"))?;
        let ours = handlers(&groups).into_iter().find(is_ours);
        match ours {
            Some(node) if node.to_serde_value().as_ref() == Some(&handler) => {}
            Some(node) => node.as_object().into_iter().for_each(|object| renew(&object, &handler)),
            None => {
                let mut group = json!({ "hooks": [handler] });
                if let Some(matcher) = matcher {
                    group = json!({ "matcher": matcher, "hooks": group["hooks"] });
                }
                drop(groups.append(input(&group)));
            }
        }
    }
    Ok(())
}

fn take_hooks_out(root: &CstObject, before: &Value) {
    let Some(hooks) = root.object_value("hooks") else { return };
    let mut ours_were_there = false;
    for event in hooks.properties() {
        let (Some(name), Some(groups)) = (event.decoded_name(), event.array_value()) else { continue };
        let mut touched = false;
        for group in groups.elements() {
            let Some(list) = group.as_object().and_then(|group| group.array_value("hooks")) else { continue };
            let ours: Vec<_> = list.elements().into_iter().filter(is_ours).collect();
            touched |= !ours.is_empty();
            let emptied = !ours.is_empty() && ours.len() == list.elements().len();
            if emptied { group.remove() } else { ours.into_iter().for_each(CstNode::remove) }
        }
        ours_were_there |= touched;
        if touched && groups.elements().is_empty() && before["hooks"][&name].is_null() {
            event.remove();
        }
    }
    if ours_were_there && hooks.properties().is_empty() && before["hooks"].is_null() {
        root.get("hooks").into_iter().for_each(CstObjectProp::remove);
    }
}

fn put_server(root: &CstObject, wanted: &Wanted) -> Result<(), EditError> {
    let servers = object(root, "mcpServers", "its \"mcpServers\"")?;
    let server = wanted.server();
    match servers.get(SERVER) {
        None => drop(servers.append(SERVER, input(&server))),
        Some(found) => match found.value().and_then(|value| value.to_serde_value()) {
            Some(value) if value == server => {}
            Some(value) if is_our_server(&value) => match found.object_value() {
                Some(object) => renew(&object, &server),
                None => found.set_value(input(&server)),
            },
            _ => return Err(EditError::Taken),
        },
    }
    Ok(())
}

/// Gives an entry of ours new values where they stand: an object that is put in as a whole is indented anew, wrongly.
fn renew(entry: &CstObject, wanted: &Value) {
    for (name, value) in wanted.as_object().into_iter().flatten() {
        match entry.get(name) {
            None => drop(entry.append(name, input(value))),
            Some(found) if found.value().and_then(|node| node.to_serde_value()).as_ref() == Some(value) => {}
            Some(found) => match (found.array_value(), value.as_array()) {
                (Some(list), Some(wanted)) if list.elements().len() == wanted.len() => {
                    renew_list(&list, wanted);
                }
                _ => found.set_value(input(value)),
            },
        }
    }
}

fn renew_list(list: &CstArray, wanted: &[Value]) {
    for (node, value) in list.elements().into_iter().zip(wanted) {
        if node.to_serde_value().as_ref() != Some(value)
            && let Some(text) = node.as_string_lit()
        {
            text.set_raw_value(value.to_string());
        }
    }
}

fn take_server_out(root: &CstObject, before: &Value) {
    let Some(servers) = root.object_value("mcpServers") else { return };
    let Some(ours) = servers.get(SERVER) else { return };
    if !ours.value().and_then(|value| value.to_serde_value()).is_some_and(|value| is_our_server(&value)) {
        return;
    }
    ours.remove();
    if servers.properties().is_empty() && before["mcpServers"].is_null() {
        root.get("mcpServers").into_iter().for_each(CstObjectProp::remove);
    }
}

fn object(root: &CstObject, name: &str, told: &str) -> Result<CstObject, EditError> {
    root.object_value_or_create(name).ok_or(EditError::Other(told.to_owned(), "an object"))
}

/// Every handler of every group.
fn handlers(groups: &CstArray) -> Vec<CstNode> {
    let lists = groups.elements().into_iter().filter_map(|group| group.as_object()?.array_value("hooks"));
    lists.flat_map(|list| list.elements()).collect()
}

fn is_ours(handler: &CstNode) -> bool {
    let value = handler.to_serde_value().unwrap_or(Value::Null);
    let command = value["command"].as_str().unwrap_or_default();
    command.split_once(HOOK).is_some_and(|(program, rest)| {
        // One word of the shell: what only mentions the program is somebody else's.
        let is_quoted = program.starts_with('\'') && program.ends_with('\'');
        if !is_quoted && program.contains(char::is_whitespace) {
            return false;
        }
        let name = program.trim_matches('\'').rsplit('/').next().unwrap_or_default();
        name.starts_with("compass") && (rest.is_empty() || rest.starts_with(' '))
    })
}

fn is_our_server(value: &Value) -> bool {
    value["args"][0] == "agent" && value["args"][1] == "mcp"
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@,+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
