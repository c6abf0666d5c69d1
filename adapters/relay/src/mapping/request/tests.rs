//! Requests that name things twice, not at all, or by what is no id.

use compass_comms::channels::{create_channel::Mode, resolve::ChannelRef};

use super::*;

const ID: &str = "000102030405060708090a0b0c0d0e0f";

fn list() -> v1::ListMessagesRequest {
    let container = Some(ListIn::ChannelId(ID.into()));
    v1::ListMessagesRequest { container, ..Default::default() }
}

#[test]
fn a_relayed_call_without_a_channel_means_home() {
    for container in [None, Some(ListIn::ChannelId(String::new()))] {
        let read = list_messages_in(v1::ListMessagesRequest { container, ..list() }, Unnamed::Home);
        assert_eq!(read.unwrap().unwrap().channel, ChannelRef::Home);
    }
    let container = Some(ListIn::ChannelName(String::new()));
    let read = list_messages_in(v1::ListMessagesRequest { container, ..list() }, Unnamed::Home);
    assert_eq!(read, Err(DoorError::Empty("channel_name".into())));
}

#[test]
fn a_page_of_what_cannot_exist_is_empty_and_its_cursor_is_checked_first() {
    let of = |container: ListIn, topic: &str, before: &str| {
        let request = v1::ListMessagesRequest {
            container: Some(container),
            topic_id: topic.into(),
            before_message_id: before.into(),
            ..Default::default()
        };
        list_messages_in(request, Unnamed::Refused)
    };
    assert_eq!(of(ListIn::ChannelId("nope".into()), "", ""), Ok(None));
    assert_eq!(of(ListIn::ChannelId(ID.into()), "nope", ""), Ok(None));
    let unknown = of(ListIn::ChannelId("nope".into()), "", "nope").unwrap_err();
    assert_eq!(unknown.to_string(), "before_message_id \"nope\" is unknown");
}

#[test]
fn a_page_carries_every_bound() {
    let request = v1::ListMessagesRequest {
        limit: 3,
        before_message_id: ID.into(),
        snapshot_seq: 9,
        topic_id: ID.into(),
        ..list()
    };
    let read = list_messages_in(request, Unnamed::Refused).unwrap().unwrap();
    assert_eq!(read.channel, ChannelRef::Id(ID.parse().unwrap()));
    assert_eq!((read.limit, read.snapshot), (3, Some(Position(9))));
    assert_eq!((read.before, read.topic), (Some(ID.parse().unwrap()), Some(ID.parse().unwrap())));
    assert_eq!(list_messages_in(list(), Unnamed::Refused).unwrap().unwrap().snapshot, None);
}

#[test]
fn id_and_name_of_one_topic_are_refused() {
    let request = v1::ListMessagesRequest { topic_id: ID.into(), topic_name: "t".into(), ..list() };
    let both = DoorError::Both { one: "topic_id", other: "topic_name" };
    assert_eq!(list_messages_in(request, Unnamed::Refused), Err(both));
}

#[test]
fn a_channel_is_named_by_exactly_one_of_id_and_name() {
    let of = |id: &str, name: &str| channel_ref(id, name.to_owned());
    assert_eq!(of(ID, ""), Ok(ChannelRef::Id(ID.parse().unwrap())));
    assert_eq!(of("", "ops"), Ok(ChannelRef::Name("ops".into())));
    assert_eq!(of(ID, "ops"), Err(DoorError::Both { one: "channel_id", other: "channel_name" }));
    assert_eq!(of("", ""), Err(DoorError::Neither { one: "channel_id", other: "channel_name" }));
    assert_eq!(of("nope", ""), Err(DoorError::NotFound("channel")));
}

#[test]
fn a_channels_mode_and_anchor_go_together() {
    use v1::ChannelMembershipMode::{Flat, Tree};
    let of = |mode: i32, anchor: &str| {
        let request = v1::CreateChannelRequest {
            membership_mode: mode,
            anchor_agent_id: anchor.into(),
            ..Default::default()
        };
        create_channel_in(request).map(|create| create.mode).map_err(|error| error.to_string())
    };
    assert_eq!(of(Flat.into(), ""), Ok(Mode::Flat));
    assert_eq!(of(Tree.into(), ID), Ok(Mode::Tree { anchor: ID.parse().unwrap() }));
    assert_eq!(of(Flat.into(), ID), Err("anchor_agent_id must be empty in a flat channel".into()));
    assert_eq!(of(Tree.into(), ""), Err("anchor_agent_id is empty".into()));
    assert_eq!(of(Tree.into(), "nope"), Err("anchor_agent_id \"nope\" is unknown".into()));
    assert_eq!(of(7, ""), Err("membership_mode cannot be 7".into()));
}

#[test]
fn only_ordinary_channels_are_created_and_a_group_is_named_once() {
    let create = |request| create_channel_in(request).unwrap_err();
    for kind in [1, 2, 9] {
        let request = v1::CreateChannelRequest { kind, ..Default::default() };
        assert_eq!(create(request), DoorError::EnumValue { field: "kind", value: kind });
    }
    let named = v1::CreateChannelRequest { group_name: "g".into(), ..Default::default() };
    let group = |request| create_channel_in(request).unwrap().group;
    assert_eq!(group(named.clone()), Some(GroupRef::Name("g".into())));
    assert_eq!(group(v1::CreateChannelRequest::default()), None);
    let by_id = v1::CreateChannelRequest { group_id: ID.into(), ..Default::default() };
    assert_eq!(group(by_id), Some(GroupRef::Id(ID.parse().unwrap())));
    let no_id = v1::CreateChannelRequest { group_id: "nope".into(), ..Default::default() };
    assert_eq!(create(no_id), DoorError::NotFound("group"));
    let both = v1::CreateChannelRequest { group_id: ID.into(), ..named };
    assert_eq!(create(both), DoorError::Both { one: "group_id", other: "group_name" });
}

#[test]
fn a_member_that_is_no_id_is_refused_by_its_place() {
    let request = v1::UpdateChannelMembersRequest {
        channel_id: ID.into(),
        subscribe_account_ids: vec![ID.into(), "nope".into()],
        ..Default::default()
    };
    let error = update_members_in(request).unwrap_err();
    assert_eq!(error.to_string(), "subscribe_account_ids[1] \"nope\" is unknown");
}

#[test]
fn open_asks_of_a_channel_that_cannot_exist_are_none() {
    let request = v1::ListOpenAsksRequest { channel_id: "nope".into(), ..Default::default() };
    assert_eq!(list_open_asks_in(&request), Ok(None));
    let request = v1::ListOpenAsksRequest { before_message_id: "nope".into(), ..Default::default() };
    assert!(matches!(list_open_asks_in(&request), Err(DoorError::UnknownReference { .. })));
}

#[test]
fn a_groups_visibility_and_a_channels_policy_are_of_the_contract() {
    let request = v1::CreateChannelGroupRequest { visibility: 7, ..Default::default() };
    assert_eq!(create_group_in(request).unwrap_err().to_string(), "visibility cannot be 7");
    let both = v1::CreateChannelGroupRequest {
        parent_group_id: ID.into(),
        parent_group_name: "g".into(),
        ..Default::default()
    };
    let refused = create_group_in(both).unwrap_err();
    assert_eq!(refused, DoorError::Both { one: "parent_group_id", other: "parent_group_name" });
    let policy = |request: &v1::SetChannelPolicyRequest| set_policy_in(request).unwrap_err().to_string();
    let request = v1::SetChannelPolicyRequest { channel_id: ID.into(), ..Default::default() };
    let owned = v1::SetChannelPolicyRequest { owner_account_id: "nope".into(), ..request.clone() };
    assert_eq!(policy(&owned), "owner_account_id \"nope\" is unknown");
    let strange = v1::SetChannelPolicyRequest { post_policy: 9, ..request };
    assert_eq!(policy(&strange), "post_policy cannot be 9");
}

#[test]
fn a_board_changes_by_exactly_one_of_pin_and_unpin_and_has_no_default_channel() {
    let of =
        |channel: &str, op| update_board_in(v1::UpdatePinnedBoardRequest { channel_id: channel.into(), op });
    let pin = |message: &str, replace: &str| {
        Some(Op::Pin(v1::PinMessage { message_id: message.into(), replace_message_id: replace.into() }))
    };
    assert_eq!(of(ID, None), Err(DoorError::Neither { one: "pin", other: "unpin_message_id" }));
    for nowhere in ["", "nope"] {
        assert_eq!(of(nowhere, pin(ID, "")), Err(DoorError::NotFound("channel")));
    }
    assert_eq!(of(ID, pin("nope", "")), Err(DoorError::NotFound("message")));
    assert_eq!(of(ID, pin("", "")), Err(DoorError::Empty("pin.message_id".into())));
    let message = ID.parse().unwrap();
    let swap = BoardChange::Pin { message, replace: Some(message) };
    assert_eq!(of(ID, pin(ID, ID)).unwrap().change, swap);
    assert_eq!(of(ID, Some(Op::UnpinMessageId("nope".into()))).unwrap().change, BoardChange::Unpin(None));
}

#[test]
fn an_agent_that_is_no_id_is_one_that_does_not_exist() {
    let of = |agent: &str, parent: &str| {
        reparent_in(&v1::ReparentAgentRequest {
            agent_account_id: agent.into(),
            new_parent_agent_id: parent.into(),
        })
    };
    assert_eq!(of("", ""), Err(DoorError::Empty("agent_account_id".into())));
    assert_eq!(of("nope", ""), Ok(ReparentAgent { agent: None, new_parent: None }));
    assert_eq!(of(ID, "nope"), Err(DoorError::NotFound("parent agent")));
}
