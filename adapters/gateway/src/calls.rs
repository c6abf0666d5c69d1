//! Calls of the relay's union, and what a failed one means.

use compass_agent::ports::{Call, CallError, CallResult, Channel};
use compass_proto::{
    code::token,
    v1::{
        self, comms_call_request::Call as WireCall, comms_call_result::Result as WireResult,
        list_messages_request, post_message_request,
    },
};
use tonic::{Code, Status};

use crate::{endpoint::MESSAGE_BYTES, mapping};

pub(crate) fn request(call_id: &str, call: Call) -> v1::CommsCallRequest {
    let call = match call {
        Call::Post { channel, topic, existing_topic_only, blocks, key } => {
            WireCall::Post(v1::PostMessageRequest {
                container: post_container(channel),
                topic: Some(post_message_request::Topic::TopicName(topic)),
                existing_topic_only,
                blocks: blocks.into_iter().map(mapping::draft).collect(),
                client_request_id: key,
            })
        }
        Call::List { channel, topic, limit, before_message_id } => WireCall::List(v1::ListMessagesRequest {
            container: list_container(channel),
            topic_name: topic.unwrap_or_default(),
            limit,
            before_message_id,
            ..v1::ListMessagesRequest::default()
        }),
        Call::SetStatus { activity } => WireCall::SetStatus(v1::SetAgentStatusRequest { activity }),
        Call::CancelAsk { ask_id } => WireCall::CancelAsk(v1::CancelAskRequest { ask_id }),
    };
    v1::CommsCallRequest { call_id: call_id.to_owned(), call: Some(call), ..v1::CommsCallRequest::default() }
}

/// Refuses a call that the other side would cut off instead of answering.
pub(crate) fn check_size(request: &impl prost::Message) -> Result<(), CallError> {
    let size = request.encoded_len();
    if size > MESSAGE_BYTES {
        let message = format!("the call is too long: {size} bytes, the limit is {MESSAGE_BYTES}");
        return Err(CallError::Refused { code: "invalid_argument".to_owned(), message });
    }
    Ok(())
}

pub(crate) fn result(result: Option<v1::CommsCallResult>) -> Result<CallResult, CallError> {
    let unexpected = |arm: &str| Ok(CallResult::Unexpected(arm.to_owned()));
    match result.and_then(|result| result.result) {
        None => unexpected("none"),
        Some(WireResult::Error(error)) => {
            Err(CallError::Refused { code: error.code, message: error.message })
        }
        Some(WireResult::Post(post)) => Ok(CallResult::Post(post.message.map(mapping::message))),
        Some(WireResult::List(list)) => {
            Ok(CallResult::List(list.messages.into_iter().map(mapping::message).collect()))
        }
        Some(WireResult::SetStatus(_)) => Ok(CallResult::SetStatus),
        Some(WireResult::CancelAsk(_)) => Ok(CallResult::CancelAsk),
        Some(WireResult::Roster(_)) => unexpected("roster"),
        Some(WireResult::Pin(_)) => unexpected("pin"),
        Some(WireResult::CreateChannel(_)) => unexpected("create_channel"),
        Some(WireResult::UpdateMembers(_)) => unexpected("update_members"),
        Some(WireResult::CreateChannelGroup(_)) => unexpected("create_channel_group"),
        Some(WireResult::OpenDm(_)) => unexpected("open_dm"),
        Some(WireResult::ListTopics(_)) => unexpected("list_topics"),
    }
}

/// Tells a refusal from a connection that never was and from one that broke on the way.
pub(crate) fn failure(status: &Status) -> CallError {
    match status.code() {
        Code::Unavailable if never_connected(status) => CallError::Unreachable(status.message().to_owned()),
        Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled | Code::Unknown | Code::Aborted => {
            CallError::OutcomeUnknown(status.message().to_owned())
        }
        code => CallError::Refused { code: token(code).to_owned(), message: status.message().to_owned() },
    }
}

/// True if the connection could not be made, so that nothing was sent.
fn never_connected(status: &Status) -> bool {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return matches!(io.kind(), std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound);
        }
        source = error.source();
    }
    false
}

fn post_container(channel: Channel) -> Option<post_message_request::Container> {
    use post_message_request::Container;
    match channel {
        Channel::Home => None,
        Channel::Name(name) => Some(Container::ChannelName(name)),
        Channel::Id(id) => Some(Container::ChannelId(id)),
    }
}

fn list_container(channel: Channel) -> Option<list_messages_request::Container> {
    use list_messages_request::Container;
    match channel {
        Channel::Home => None,
        Channel::Name(name) => Some(Container::ChannelName(name)),
        Channel::Id(id) => Some(Container::ChannelId(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_its_token_and_a_broken_call_has_an_unknown_outcome() {
        let refused = failure(&Status::already_exists("closed"));
        assert_eq!(refused, CallError::Refused { code: "already_exists".into(), message: "closed".into() });
        for broken in [Status::unavailable("gone"), Status::deadline_exceeded("late"), Status::unknown("?")] {
            assert!(matches!(failure(&broken), CallError::OutcomeUnknown(_)), "{broken:?}");
        }
    }

    #[test]
    fn an_error_in_band_is_a_refusal_and_no_arm_is_unexpected() {
        let error = v1::CommsCallError { code: "not_found".into(), message: "no".into() };
        let wire = v1::CommsCallResult { call_id: "1".into(), result: Some(WireResult::Error(error)) };
        assert!(matches!(result(Some(wire)), Err(CallError::Refused { .. })));
        assert_eq!(result(None), Ok(CallResult::Unexpected("none".into())));
    }
}
