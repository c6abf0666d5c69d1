//! The relayed call of an agent: one union in, its outcome or its error out.

use compass_comms::{
    Caller, Comms,
    accounts::set_status::SetStatus,
    asks::cancel_ask::CancelAsk,
    relay_union::{self, Call, CallOutcome},
};
use compass_proto::v1::{
    self, CommsCallError, CommsCallRequest, CommsCallResult, comms_call_request::Call as Arm,
    comms_call_result::Result as Outcome,
};

use super::{
    ids::given,
    message,
    request::{Unnamed, list_messages_in, list_topics_in, post_in},
    topic::listed_topics,
};
use crate::{error::DoorError, pending, status::call_error};

/// Every arm of the call, by its name on the wire.
pub const ARMS: [&str; 11] = [
    "post",
    "list",
    "roster",
    "set_status",
    "pin",
    "create_channel",
    "update_members",
    "create_channel_group",
    "open_dm",
    "list_topics",
    "cancel_ask",
];

/// Runs a relayed call as `caller`. Whatever it runs into is inside the result, which repeats the call's id.
pub async fn comms_call(comms: &Comms, caller: &Caller, request: CommsCallRequest) -> CommsCallResult {
    let result = match request.call {
        Some(arm) => run(comms, caller, arm).await,
        None => Err(call_error(&DoorError::UnsetCall(ARMS.join(", ")))),
    };
    let result = result.unwrap_or_else(Outcome::Error);
    CommsCallResult { call_id: request.call_id, result: Some(result) }
}

async fn run(comms: &Comms, caller: &Caller, arm: Arm) -> Result<Outcome, CommsCallError> {
    match call_in(arm)? {
        Some(call) => match relay_union::call(comms, caller, call).await {
            Ok(outcome) => Ok(outcome_out(&outcome)),
            Err(error) => Err(call_error(&error)),
        },
        None => Ok(Outcome::List(v1::ListMessagesResponse::default())),
    }
}

/// The call of an arm; none for a page that can only be empty.
fn call_in(arm: Arm) -> Result<Option<Call>, CommsCallError> {
    let refused = |error: DoorError| call_error(&error);
    match arm {
        Arm::Post(post) => Ok(Some(Call::Post(post_in(post, Unnamed::Home).map_err(refused)?))),
        Arm::List(list) => Ok(list_messages_in(list, Unnamed::Home).map_err(refused)?.map(Call::List)),
        Arm::ListTopics(list) => {
            Ok(Some(Call::ListTopics(list_topics_in(list, Unnamed::Home).map_err(refused)?)))
        }
        Arm::SetStatus(status) => Ok(Some(Call::SetStatus(SetStatus { activity: status.activity }))),
        Arm::CancelAsk(cancel) => {
            let ask = given("ask_id", &cancel.ask_id).map_err(refused)?.parse().ok();
            Ok(Some(Call::CancelAsk(CancelAsk { ask })))
        }
        Arm::Roster(_) => Err(pending::arm("roster")),
        Arm::Pin(_) => Err(pending::arm("pin")),
        Arm::CreateChannel(_) => Err(pending::arm("create_channel")),
        Arm::UpdateMembers(_) => Err(pending::arm("update_members")),
        Arm::CreateChannelGroup(_) => Err(pending::arm("create_channel_group")),
        Arm::OpenDm(_) => Err(pending::arm("open_dm")),
    }
}

fn outcome_out(outcome: &CallOutcome) -> Outcome {
    match outcome {
        CallOutcome::Post(posted) => {
            Outcome::Post(v1::PostMessageResponse { message: Some(message(&posted.message)) })
        }
        CallOutcome::List(messages) => Outcome::List(v1::ListMessagesResponse {
            messages: messages.iter().map(|listed| message(listed)).collect(),
        }),
        CallOutcome::ListTopics(listed) => Outcome::ListTopics(listed_topics(listed)),
        CallOutcome::SetStatus => Outcome::SetStatus(v1::SetAgentStatusResponse {}),
        CallOutcome::CancelAsk(_) => Outcome::CancelAsk(v1::CancelAskResponse {}),
    }
}
