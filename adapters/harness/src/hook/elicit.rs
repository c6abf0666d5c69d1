//! An elicitation of an MCP server: which forms become asks, and under which key.

use compass_agent::elicitation::Form;

use super::input::Elicitation;

/// The form of a request; the reason if it cannot be asked here.
pub(super) fn form(request: &Elicitation) -> Result<Form, String> {
    match request.mode.as_deref() {
        None | Some("form") => {
            Form::read(&request.message, &request.requested_schema).map_err(|error| error.to_string())
        }
        Some(other) => Err(format!("elicitations of the mode {other:?} cannot be asked")),
    }
}
