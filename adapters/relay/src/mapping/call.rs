//! The relayed call of an agent: one union in, its outcome or its error out.

use compass_comms::{
    Caller, Comms,
    accounts::set_status::SetStatus,
    asks::cancel_ask::CancelAsk,
    handles::handles,
    relay_union::{self, Call, CallOutcome},
};
use compass_domain::{AccountId, Handle};
use compass_proto::v1::{
    self, AccountHandle, CommsCallError, CommsCallRequest, CommsCallResult, comms_call_request::Call as Arm,
    comms_call_result::Result as Outcome,
};

use super::{
    channel, group,
    ids::given,
    message,
    request::{
        Unnamed, create_channel_in, create_group_in, list_messages_in, list_topics_in, open_dm_in, post_in,
        update_board_in, update_members_in,
    },
    roster::{get_roster_in, roster},
    topic::listed_topics,
};
use crate::{error::DoorError, status::call_error};

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
    let (result, handles) = result.unwrap_or_else(|error| (Outcome::Error(error), Vec::new()));
    CommsCallResult { call_id: request.call_id, result: Some(result), handles }
}

async fn run(
    comms: &Comms,
    caller: &Caller,
    arm: Arm,
) -> Result<(Outcome, Vec<AccountHandle>), CommsCallError> {
    let Some(call) = call_in(arm)? else {
        return Ok((Outcome::List(v1::ListMessagesResponse::default()), Vec::new()));
    };
    let outcome = relay_union::call(comms, caller, call).await.map_err(|error| call_error(&error))?;
    // What was done is done: without handles the result still stands, with ids alone.
    let handles = handles(comms, caller, &outcome).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the handles for a call's result cannot be read");
        Vec::new()
    });
    Ok((outcome_out(&outcome), handles.iter().map(handle_out).collect()))
}

fn handle_out((account, handle): &(AccountId, Handle)) -> AccountHandle {
    AccountHandle { account_id: account.to_string(), handle: handle.to_string() }
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
        Arm::Roster(get) => Ok(Some(Call::Roster(get_roster_in(&get).map_err(refused)?))),
        Arm::Pin(update) => Ok(Some(Call::Pin(update_board_in(update).map_err(refused)?))),
        Arm::CreateChannel(create) => {
            Ok(Some(Call::CreateChannel(create_channel_in(create).map_err(refused)?)))
        }
        Arm::UpdateMembers(update) => {
            Ok(Some(Call::UpdateMembers(update_members_in(update).map_err(refused)?)))
        }
        Arm::CreateChannelGroup(create) => {
            Ok(Some(Call::CreateGroup(create_group_in(create).map_err(refused)?)))
        }
        Arm::OpenDm(open) => Ok(Some(Call::OpenDm(open_dm_in(open).map_err(refused)?))),
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
        CallOutcome::Roster(entries) => Outcome::Roster(roster(entries)),
        CallOutcome::ListTopics(listed) => Outcome::ListTopics(listed_topics(listed)),
        CallOutcome::SetStatus => Outcome::SetStatus(v1::SetAgentStatusResponse {}),
        CallOutcome::Pin(of) => Outcome::Pin(v1::UpdatePinnedBoardResponse { channel: Some(channel(of)) }),
        CallOutcome::CreateChannel(of) => {
            Outcome::CreateChannel(v1::CreateChannelResponse { channel: Some(channel(of)) })
        }
        CallOutcome::UpdateMembers(of) => {
            Outcome::UpdateMembers(v1::UpdateChannelMembersResponse { channel: Some(channel(of)) })
        }
        CallOutcome::CreateGroup(of) => {
            Outcome::CreateChannelGroup(v1::CreateChannelGroupResponse { group: Some(group(of)) })
        }
        CallOutcome::OpenDm(opened) => Outcome::OpenDm(v1::OpenDmResponse {
            channel: Some(channel(&opened.channel)),
            created: opened.created,
        }),
        CallOutcome::CancelAsk(_) => Outcome::CancelAsk(v1::CancelAskResponse {}),
    }
}
