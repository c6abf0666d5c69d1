//! What a hook says: the documented forms, one JSON object on one line, flushed.

use std::io::{self, Write};

use compass_agent::pickup::Limits;
use serde_json::{Map, Value, json};

/// Context for the model at this event.
pub(super) fn context(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}

/// Makes the turn go on, for this reason.
pub(super) fn go_on(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}

/// Denies the tool's call and tells the model why.
pub(super) fn deny(reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
    } })
}

/// Lets the tool run on another input, without a prompt.
pub(super) fn allow(updated_input: &Value) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated_input,
    } })
}

/// Replies to an elicitation; content goes with an acceptance only.
pub(super) fn elicited(action: &str, content: Option<Map<String, Value>>) -> Value {
    let mut specific = json!({ "hookEventName": "Elicitation", "action": action });
    if let (Some(content), Some(specific)) = (content, specific.as_object_mut()) {
        specific.insert("content".to_owned(), Value::Object(content));
    }
    json!({ "hookSpecificOutput": specific })
}

/// True if it holds no text that Claude Code would cut off.
pub(super) fn fits(value: &Value) -> bool {
    Limits::HOOK.hold(&value.to_string())
}

/// Writes the object and flushes: only then it counts as said.
pub(super) fn write(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    out.write_all(format!("{value}\n").as_bytes())?;
    out.flush()
}
