//! Groups, channels, boards, the tree and direct conversations at the doors.

use compass_proto::v1::{
    self, comms_call_request::Call, comms_call_result::Result as Outcome, update_pinned_board_request::Op,
};
use tonic::Code;

use crate::support::{Server, post_in, refused, text, with};

#[tokio::test]
async fn an_agent_makes_groups_channels_members_boards_and_conversations_as_itself() {
    let server = Server::start().await;
    let twin = v1::CreateAgentRequest { handle: "twin".into(), ..Default::default() };
    let twin = server.conversation().create_agent(with(&server.member.token, twin)).await.unwrap();
    let twin = twin.into_inner().account.unwrap().id;
    let mut door = server.agent_door();
    let mut call = async |call: Call| {
        let request = v1::CommsCallRequest { call_id: "c1".into(), call: Some(call), ..Default::default() };
        let result = door.call(with(&server.agent.token, request)).await.unwrap().into_inner();
        assert_eq!(result.call_id, "c1");
        result.result.unwrap()
    };
    let create = v1::CreateChannelGroupRequest { name: "teams".into(), ..Default::default() };
    let made = call(Call::CreateChannelGroup(create)).await;
    let Outcome::CreateChannelGroup(group) = made else { panic!("{made:?}") };
    let group = group.group.unwrap();
    assert_eq!(group.owner_user_id, server.agent.id());

    let group_name = "Teams".to_owned();
    let create = v1::CreateChannelRequest { name: "work".into(), group_name, ..Default::default() };
    let made = call(Call::CreateChannel(create)).await;
    let Outcome::CreateChannel(work) = made else { panic!("{made:?}") };
    let work = work.channel.unwrap();
    assert_eq!(work.group_id, group.id);
    assert_eq!(work.member_account_ids, [server.agent.id(), server.member.id()]);

    let update = v1::UpdateChannelMembersRequest {
        channel_name: "work".into(),
        subscribe_handles: vec!["twin".into()],
        new_name: "works".into(),
        ..Default::default()
    };
    let done = call(Call::UpdateMembers(update)).await;
    let Outcome::UpdateMembers(updated) = done else { panic!("{done:?}") };
    let updated = updated.channel.unwrap();
    assert_eq!((updated.name.as_str(), updated.subscriber_account_ids), ("works", vec![twin.clone()]));

    let post = post_in(&work.id, vec![text("pin me")]);
    let Outcome::Post(posted) = call(Call::Post(post)).await else { panic!("no post") };
    let message_id = posted.message.unwrap().id;
    let pin = |channel_id: &str| {
        let pin = v1::PinMessage { message_id: message_id.clone(), ..Default::default() };
        Call::Pin(v1::UpdatePinnedBoardRequest { channel_id: channel_id.into(), op: Some(Op::Pin(pin)) })
    };
    let done = call(pin(&work.id)).await;
    let Outcome::Pin(pinned) = done else { panic!("{done:?}") };
    let entry = &pinned.channel.unwrap().pinned_entries[0];
    assert_eq!((&entry.message_id, &entry.pinned_by_account_id), (&message_id, &server.agent.id()));
    let Outcome::Error(nowhere) = call(pin("")).await else { panic!("a pin has no default channel") };
    assert_eq!((nowhere.code.as_str(), nowhere.message.as_str()), ("not_found", "channel not found"));

    let open = v1::OpenDmRequest { peer_handle: "twin".into() };
    let done = call(Call::OpenDm(open)).await;
    let Outcome::OpenDm(opened) = done else { panic!("{done:?}") };
    let direct = opened.channel.unwrap();
    assert!(opened.created && direct.mandatory_subscription);
    assert_eq!(direct.member_account_ids, [server.agent.id(), twin, server.member.id()]);
}

#[tokio::test]
async fn people_group_channels_set_their_policy_pin_and_join() {
    let server = Server::start().await;
    let (ann, root) = (&server.member.token, &server.admin.token);
    let mut client = server.conversation();
    let create = v1::CreateChannelGroupRequest {
        name: "open".into(),
        visibility: v1::ChannelGroupVisibility::Shared.into(),
        ..Default::default()
    };
    let group = client.create_channel_group(with(ann, create)).await.unwrap().into_inner().group.unwrap();
    let listed = client.list_channel_groups(with(root, v1::ListChannelGroupsRequest::default())).await;
    assert_eq!(listed.unwrap().into_inner().groups, std::slice::from_ref(&group));
    let create =
        v1::CreateChannelRequest { name: "news".into(), group_id: group.id.clone(), ..Default::default() };
    let news = client.create_channel(with(ann, create)).await.unwrap().into_inner().channel.unwrap();
    let set = v1::SetChannelPolicyRequest {
        channel_id: news.id.clone(),
        post_policy: v1::ChannelPostPolicy::OwnerOnly.into(),
        owner_account_id: server.member.id(),
        mandatory_subscription: true,
    };
    let set = client.set_channel_policy(with(ann, set)).await.unwrap().into_inner().channel.unwrap();
    assert_eq!((&set.owner_account_id, set.mandatory_subscription), (&server.member.id(), true));

    let join = v1::JoinChannelRequest { channel_id: news.id.clone() };
    let denied = refused(server.people().join_channel(with(&server.agent.token, join.clone())).await);
    assert_eq!(denied.0, Code::PermissionDenied);
    let joined = server.people().join_channel(with(root, join)).await.unwrap().into_inner().channel.unwrap();
    assert_eq!(joined.subscriber_account_ids, [server.admin.id()]);
    let unknown = v1::JoinChannelRequest { channel_id: "nope".into() };
    assert_eq!(refused(server.people().join_channel(with(root, unknown)).await).0, Code::NotFound);

    let posted = client.post_message(with(ann, post_in(&news.id, vec![text("read me")]))).await.unwrap();
    let message_id = posted.into_inner().message.unwrap().id;
    let pin = v1::PinMessage { message_id: message_id.clone(), ..Default::default() };
    let pin = v1::UpdatePinnedBoardRequest { channel_id: news.id.clone(), op: Some(Op::Pin(pin)) };
    assert_eq!(refused(client.update_pinned_board(with(root, pin.clone())).await).0, Code::NotFound);
    client.update_pinned_board(with(ann, pin.clone())).await.unwrap();
    assert_eq!(refused(client.update_pinned_board(with(ann, pin)).await).0, Code::AlreadyExists);
    let channels = client.list_channels(with(root, v1::ListChannelsRequest::default())).await.unwrap();
    let seen = channels.into_inner().channels.into_iter().find(|channel| channel.id == news.id).unwrap();
    assert_eq!(seen.pinned_entries[0].message_id, message_id);
    let pinned = async |channel_id: &str| {
        let list = v1::ListPinnedRequest { channel_id: channel_id.into() };
        server.people().list_pinned(with(root, list)).await
    };
    let listed = pinned(&news.id).await.unwrap().into_inner().messages;
    assert_eq!(listed.iter().map(|message| &*message.id).collect::<Vec<_>>(), [message_id]);
    assert_eq!(pinned("nope").await.unwrap().into_inner().messages, []);
    assert_eq!(refused(pinned("").await).0, Code::InvalidArgument);
}

#[tokio::test]
async fn people_move_their_agents_and_open_conversations() {
    let server = Server::start().await;
    let (ann, root) = (&server.member.token, &server.admin.token);
    let mut client = server.conversation();
    let create = v1::CreateAgentRequest { handle: "kid".into(), ..Default::default() };
    let kid = client.create_agent(with(ann, create)).await.unwrap().into_inner().account.unwrap().id;
    let place = |parent: &str| v1::ReparentAgentRequest {
        agent_account_id: kid.clone(),
        new_parent_agent_id: parent.to_owned(),
    };
    let moved = client.reparent_agent(with(ann, place(&server.agent.id()))).await.unwrap().into_inner();
    let Some(v1::account::Kind::Agent(agent)) = moved.account.unwrap().kind else { panic!("an agent") };
    assert_eq!(agent.parent_agent_id, server.agent.id());
    assert_eq!(refused(client.reparent_agent(with(ann, place(&kid))).await).0, Code::FailedPrecondition);
    assert_eq!(refused(client.reparent_agent(with(ann, place("nope"))).await).0, Code::NotFound);
    assert_eq!(refused(client.reparent_agent(with(root, place(""))).await).0, Code::PermissionDenied);
    let channels = client.list_channels(with(&server.agent.token, v1::ListChannelsRequest::default())).await;
    let channels = channels.unwrap().into_inner().channels;
    assert!(channels.iter().any(|channel| channel.name == "bot-coordination"), "{channels:?}");

    let open = |peer: &str| v1::OpenDmRequest { peer_handle: peer.to_owned() };
    let opened = server.people().open_dm(with(ann, open("root"))).await.unwrap().into_inner();
    assert!(opened.created);
    let again = server.people().open_dm(with(root, open("ann"))).await.unwrap().into_inner();
    assert_eq!((again.created, again.channel), (false, opened.channel));
    assert_eq!(refused(server.people().open_dm(with(ann, open(""))).await).0, Code::InvalidArgument);
}
