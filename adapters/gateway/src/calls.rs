//! Calls of the relay's union, and what a failed one means.

use compass_agent::ports::{Call, CallError, CallResult, Channel};
use compass_proto::{
    code::token,
    contact::other_protocol,
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
        Call::ListTopics { channel, include_archived } => {
            let (channel_id, channel_name) = match channel {
                Channel::Home => (String::new(), String::new()),
                Channel::Name(name) => (String::new(), name),
                Channel::Id(id) => (id, String::new()),
            };
            WireCall::ListTopics(v1::ListTopicsRequest { channel_id, include_archived, channel_name })
        }
        Call::Roster { scope } => WireCall::Roster(v1::GetRosterRequest {
            scope: mapping::scope(scope).into(),
            ..v1::GetRosterRequest::default()
        }),
        Call::OpenDm { peer_handle } => WireCall::OpenDm(v1::OpenDmRequest { peer_handle }),
        Call::CreateChannel { name, group, members } => WireCall::CreateChannel(v1::CreateChannelRequest {
            name,
            group_name: group,
            member_handles: members,
            ..v1::CreateChannelRequest::default()
        }),
        Call::UpdateMembers { channel, changes } => {
            WireCall::UpdateMembers(v1::UpdateChannelMembersRequest {
                channel_name: channel,
                add_handles: changes.add,
                remove_handles: changes.remove,
                subscribe_handles: changes.subscribe,
                unsubscribe_handles: changes.unsubscribe,
                new_name: changes.new_name,
                ..v1::UpdateChannelMembersRequest::default()
            })
        }
        Call::CreateChannelGroup { name, parent_group, visibility } => {
            WireCall::CreateChannelGroup(v1::CreateChannelGroupRequest {
                name,
                parent_group_name: parent_group,
                visibility: mapping::visibility(visibility).into(),
                ..v1::CreateChannelGroupRequest::default()
            })
        }
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
    let result = result.unwrap_or_default();
    let handles = result.handles.into_iter().map(|of| (of.account_id, of.handle)).collect();
    arm(result.result).map(|seen| seen.with_handles(&handles))
}

fn arm(result: Option<WireResult>) -> Result<CallResult, CallError> {
    let unexpected = |arm: &str| Ok(CallResult::Unexpected(arm.to_owned()));
    match result {
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
        Some(WireResult::ListTopics(list)) => {
            Ok(CallResult::ListTopics(list.topics.into_iter().map(mapping::topic).collect()))
        }
        Some(WireResult::Roster(roster)) => {
            Ok(CallResult::Roster(roster.entries.into_iter().map(mapping::roster_entry).collect()))
        }
        Some(WireResult::OpenDm(opened)) => {
            Ok(CallResult::OpenDm { channel: opened.channel.map(mapping::channel), created: opened.created })
        }
        Some(WireResult::CreateChannel(created)) => {
            Ok(CallResult::CreateChannel(created.channel.map(mapping::channel)))
        }
        Some(WireResult::UpdateMembers(updated)) => {
            Ok(CallResult::UpdateMembers(updated.channel.map(mapping::channel)))
        }
        Some(WireResult::CreateChannelGroup(created)) => {
            Ok(CallResult::CreateChannelGroup(created.group.map(mapping::group)))
        }
        // No tool changes a pinned board.
        Some(WireResult::Pin(_)) => unexpected("pin"),
    }
}

/// Tells a refusal from a connection that never was and from one that broke on the way.
pub(crate) fn failure(status: &Status) -> CallError {
    if let Some(other) = other_protocol(status) {
        return CallError::Unreachable(other.to_string());
    }
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
        if error.is::<tonic::ConnectError>() {
            return true;
        }
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
    use compass_agent::ports::MemberChanges;
    use compass_domain::{group::Visibility, roster::RosterScope};

    use super::*;

    #[test]
    fn a_refusal_keeps_its_token_and_a_broken_call_has_an_unknown_outcome() {
        let refused = failure(&Status::already_exists("closed"));
        assert_eq!(refused, CallError::Refused { code: "already_exists".into(), message: "closed".into() });
        for broken in [Status::unavailable("gone"), Status::deadline_exceeded("late"), Status::unknown("?")] {
            assert!(matches!(failure(&broken), CallError::OutcomeUnknown(_)), "{broken:?}");
        }
    }

    fn call_arm(call: Call) -> WireCall {
        request("7", call).call.expect("an arm")
    }

    #[test]
    fn what_names_a_channel_is_its_id_or_its_name_or_nothing() {
        for (channel, id, name) in [
            (Channel::Home, "", ""),
            (Channel::Name("ops".into()), "", "ops"),
            (Channel::Id("c".into()), "c", ""),
        ] {
            let WireCall::ListTopics(list) = call_arm(Call::ListTopics { channel, include_archived: true })
            else {
                panic!("another arm")
            };
            assert_eq!((list.channel_id.as_str(), list.channel_name.as_str()), (id, name));
            assert!(list.include_archived);
        }
    }

    #[test]
    fn every_scope_is_sent_seen_from_the_caller() {
        for (scope, wire) in [
            (RosterScope::Neighborhood, v1::RosterScope::Neighborhood),
            (RosterScope::Subtree, v1::RosterScope::Subtree),
            (RosterScope::Owner, v1::RosterScope::Owner),
        ] {
            let expected = v1::GetRosterRequest { scope: wire.into(), ..v1::GetRosterRequest::default() };
            assert_eq!(call_arm(Call::Roster { scope }), WireCall::Roster(expected));
        }
    }

    #[test]
    fn channels_groups_and_members_go_by_name_and_handle() {
        let create = Call::CreateChannel { name: "c".into(), group: "g".into(), members: vec!["m".into()] };
        let expected = v1::CreateChannelRequest {
            name: "c".into(),
            group_name: "g".into(),
            member_handles: vec!["m".into()],
            ..v1::CreateChannelRequest::default()
        };
        assert_eq!(call_arm(create), WireCall::CreateChannel(expected));
        let changes = MemberChanges {
            add: vec!["a".into()],
            remove: vec!["r".into()],
            subscribe: vec!["s".into()],
            unsubscribe: vec!["u".into()],
            new_name: "n".into(),
        };
        let expected = v1::UpdateChannelMembersRequest {
            channel_name: "c".into(),
            add_handles: vec!["a".into()],
            remove_handles: vec!["r".into()],
            subscribe_handles: vec!["s".into()],
            unsubscribe_handles: vec!["u".into()],
            new_name: "n".into(),
            ..v1::UpdateChannelMembersRequest::default()
        };
        assert_eq!(
            call_arm(Call::UpdateMembers { channel: "c".into(), changes }),
            WireCall::UpdateMembers(expected)
        );
        for (visibility, wire) in [
            (Visibility::Owner, v1::ChannelGroupVisibility::Owner),
            (Visibility::Shared, v1::ChannelGroupVisibility::Shared),
        ] {
            let create = Call::CreateChannelGroup { name: "g".into(), parent_group: "p".into(), visibility };
            let expected = v1::CreateChannelGroupRequest {
                name: "g".into(),
                parent_group_name: "p".into(),
                visibility: wire.into(),
                ..v1::CreateChannelGroupRequest::default()
            };
            assert_eq!(call_arm(create), WireCall::CreateChannelGroup(expected));
        }
        let open = Call::OpenDm { peer_handle: "bo".into() };
        assert_eq!(call_arm(open), WireCall::OpenDm(v1::OpenDmRequest { peer_handle: "bo".into() }));
    }

    #[test]
    fn every_arm_of_the_wire_is_the_same_arm_here_but_the_pin() {
        let arms = [
            WireResult::Post(v1::PostMessageResponse::default()),
            WireResult::List(v1::ListMessagesResponse::default()),
            WireResult::Roster(v1::GetRosterResponse::default()),
            WireResult::SetStatus(v1::SetAgentStatusResponse::default()),
            WireResult::Pin(v1::UpdatePinnedBoardResponse::default()),
            WireResult::CreateChannel(v1::CreateChannelResponse::default()),
            WireResult::UpdateMembers(v1::UpdateChannelMembersResponse::default()),
            WireResult::CreateChannelGroup(v1::CreateChannelGroupResponse::default()),
            WireResult::OpenDm(v1::OpenDmResponse::default()),
            WireResult::ListTopics(v1::ListTopicsResponse::default()),
            WireResult::CancelAsk(v1::CancelAskResponse::default()),
        ];
        let names: Vec<String> = arms
            .into_iter()
            .map(|arm| v1::CommsCallResult { result: Some(arm), ..v1::CommsCallResult::default() })
            .map(|wire| result(Some(wire)).expect("no error").arm().to_owned())
            .collect();
        let expected = [
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
        assert_eq!(names, expected);
    }

    #[test]
    fn messages_and_channels_take_the_handles_of_those_they_name() {
        let handle =
            |id: &str, handle: &str| v1::AccountHandle { account_id: id.into(), handle: handle.into() };
        let seen = |arm| {
            let handles = vec![handle("p", "ana"), handle("m", "bo"), handle("e", "")];
            let wire = v1::CommsCallResult { result: Some(arm), handles, ..v1::CommsCallResult::default() };
            result(Some(wire)).expect("a result")
        };
        let message = v1::Message { author_account_id: "p".into(), ..v1::Message::default() };
        let list = v1::ListMessagesResponse { messages: vec![message] };
        let CallResult::List(messages) = seen(WireResult::List(list)) else { panic!("a page") };
        assert_eq!(["p", "m", "e"].map(|id| messages[0].handles.name(id)), ["ana", "m", "e"]);
        let channel = Some(v1::Channel {
            member_account_ids: vec!["m".into(), "e".into()],
            subscriber_account_ids: vec!["p".into()],
            ..v1::Channel::default()
        });
        for arm in [
            WireResult::UpdateMembers(v1::UpdateChannelMembersResponse { channel: channel.clone() }),
            WireResult::CreateChannel(v1::CreateChannelResponse { channel: channel.clone() }),
            WireResult::OpenDm(v1::OpenDmResponse { channel, created: true }),
        ] {
            let channel = match seen(arm) {
                CallResult::UpdateMembers(Some(channel)) | CallResult::CreateChannel(Some(channel)) => {
                    channel
                }
                CallResult::OpenDm { channel: Some(channel), .. } => channel,
                other => panic!("{other:?}"),
            };
            assert_eq!(["p", "m", "e"].map(|id| channel.handles.name(id)), ["ana", "bo", "e"]);
        }
    }

    #[test]
    fn an_error_in_band_is_a_refusal_and_no_arm_is_unexpected() {
        let error = v1::CommsCallError { code: "not_found".into(), message: "no".into() };
        let wire =
            v1::CommsCallResult { result: Some(WireResult::Error(error)), ..v1::CommsCallResult::default() };
        assert!(matches!(result(Some(wire)), Err(CallError::Refused { .. })));
        assert_eq!(result(None), Ok(CallResult::Unexpected("none".into())));
    }
}
