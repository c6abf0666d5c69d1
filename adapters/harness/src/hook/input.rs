//! What a hook is told: the event and the few fields of it that are used. Unknown events and fields are passed over.

use serde::Deserialize;
use serde_json::Value;

/// The built-in tool whose calls become asks.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The session of the model.
    pub session_id: String,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A moment at which context reaches the model beside something else.
    Context {
        /// The event's name.
        name: &'static str,
    },
    /// The turn is about to end.
    Stop {
        /// It went on before because of a hook.
        active: bool,
    },
    /// The model calls the question tool.
    Question {
        /// The call's id; empty if it has none.
        tool_use_id: String,
        /// The call's input, as it came.
        tool_input: Value,
    },
    /// An MCP server asks its user to fill in a form.
    Elicitation(Elicitation),
    /// Anything else.
    Other {
        /// The event's name.
        name: String,
    },
}

/// The request of an MCP server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Elicitation {
    /// The server.
    #[serde(default)]
    pub mcp_server_name: String,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// `form` or `url`.
    pub mode: Option<String>,
    /// The form.
    #[serde(default)]
    pub requested_schema: Value,
    /// Its id, if it has one.
    #[serde(rename = "elicitation_id")]
    pub id: Option<String>,
}

/// The input is not an event.
#[derive(Debug, thiserror::Error)]
#[error("the hook's input is not understood: {0}")]
pub struct InputError(#[from] serde_json::Error);

/// What tells events apart. Nothing else is read for all of them, because other fields may hold what no text can: a
/// prompt that was cut within a surrogate pair is still a prompt.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Head {
    #[serde(default)]
    session_id: String,
    hook_event_name: String,
    #[serde(default)]
    stop_hook_active: bool,
    #[serde(default)]
    tool_name: String,
    /// Set inside a subagent, whose context is not the one that messages are for.
    agent_id: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    tool_use_id: String,
    #[serde(default)]
    tool_input: Value,
}

impl Input {
    /// Reads an event from the text a hook gets.
    ///
    /// # Errors
    ///
    /// [`InputError`] if it is no JSON object with the name of an event, or a field that the event needs cannot be read.
    pub fn read(text: &str) -> Result<Self, InputError> {
        let head: Head = serde_json::from_str(text)?;
        let event = match head.hook_event_name.as_str() {
            "UserPromptSubmit" => Event::Context { name: "UserPromptSubmit" },
            "SessionStart" => Event::Context { name: "SessionStart" },
            "PostToolUse" if head.agent_id.is_none() => Event::Context { name: "PostToolUse" },
            "Stop" => Event::Stop { active: head.stop_hook_active },
            "PreToolUse" if head.tool_name == QUESTION_TOOL => {
                let Call { tool_use_id, tool_input } = serde_json::from_str(text)?;
                Event::Question { tool_use_id, tool_input }
            }
            "Elicitation" => Event::Elicitation(serde_json::from_str(text)?),
            _ => Event::Other { name: head.hook_event_name },
        };
        Ok(Self { session_id: head.session_id, event })
    }
}
