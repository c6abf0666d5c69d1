//! A form the agent wants filled in: as an ask, and the answer as what a person filled in, or that nobody did.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction,
    ElicitationContentValue, ElicitationMode, ElicitationScope, SessionId,
};
use compass_agent::elicitation::{Form, Reason, Reply};

/// The topic of such asks in the agent's home channel.
pub(super) const TOPIC: &str = "Forms";

/// What goes back if nobody decides.
pub(super) const WITHDRAWN: Reply = Reply::Cancel(Reason::Withdrawn);

/// The form of a request, and whose conversation it belongs to.
///
/// # Errors
///
/// Why people cannot be asked this; it names the field.
pub(super) fn form(request: &CreateElicitationRequest) -> Result<(SessionId, Form), String> {
    let ElicitationMode::Form(mode) = &request.mode else {
        return Err("only forms can be put to people".to_owned());
    };
    let ElicitationScope::Session(scope) = &mode.scope else {
        return Err("only what belongs to a conversation can be put to people".to_owned());
    };
    let schema = serde_json::to_value(&mode.requested_schema).map_err(|error| error.to_string())?;
    let form = Form::read(&request.message, &schema).map_err(|error| error.to_string())?;
    Ok((scope.session_id.clone(), form))
}

/// The answer of a request; true if a person said something that it does not carry.
pub(super) fn response(reply: Reply) -> (CreateElicitationResponse, bool) {
    let (action, says_more) = match reply {
        Reply::Accept(content) => match typed(content) {
            Some(content) => {
                (ElicitationAction::Accept(ElicitationAcceptAction::new().content(content)), false)
            }
            None => (ElicitationAction::Cancel, true),
        },
        Reply::Decline => (ElicitationAction::Decline, false),
        Reply::Cancel(reason) => (ElicitationAction::Cancel, matches!(reason, Reason::Unfit(_))),
    };
    (CreateElicitationResponse::new(action), says_more)
}

/// The values in the types of the protocol; none if one of them has none.
fn typed(
    content: serde_json::Map<String, serde_json::Value>,
) -> Option<BTreeMap<String, ElicitationContentValue>> {
    let typed = content.into_iter().map(|(name, value)| Some((name, serde_json::from_value(value).ok()?)));
    typed.collect()
}
