//! Topics, searches and read positions at the doors.

use compass_proto::v1::{
    self, comms_call_request::Call, comms_call_result::Result as Outcome, search_messages_request::Scope,
    subscribe_comms_response::Payload,
};
use tonic::Code;

use crate::support::{Seat, Server, ask_block, post_in, refused, text, with, yes_or_no};

const UNKNOWN_ID: &str = "ffffffffffffffffffffffffffffffff";

async fn post(server: &Server, topic: &str, block: v1::MessageBlock) -> v1::Message {
    use v1::post_message_request::Topic;
    let topic = Some(Topic::TopicName(topic.to_owned()));
    let request = v1::PostMessageRequest { topic, ..post_in(&server.agent.home(), vec![block]) };
    let posted = server.conversation().post_message(with(&server.agent.token, request)).await.unwrap();
    posted.into_inner().message.unwrap()
}

fn rename(topic: &str, name: &str) -> v1::UpdateTopicRequest {
    v1::UpdateTopicRequest { topic_id: topic.into(), name: Some(name.into()), archived: None }
}

async fn topics(server: &Server, seat: &Seat) -> v1::ListTopicsResponse {
    let list = v1::ListTopicsRequest { channel_id: server.agent.home(), ..Default::default() };
    server.conversation().list_topics(with(&seat.token, list)).await.unwrap().into_inner()
}

#[tokio::test]
async fn a_topic_is_renamed_archived_and_merged_and_the_stream_tells_each() {
    let server = Server::start().await;
    let source = post(&server, "source", ask_block(yes_or_no())).await;
    let target = post(&server, "target", text("text")).await;
    let start = v1::SubscribeCommsRequest::default();
    let mut stream =
        server.conversation().subscribe_comms(with(&server.member.token, start)).await.unwrap().into_inner();
    let mut client = server.conversation();
    let mut update = async |request: v1::UpdateTopicRequest| {
        client.update_topic(with(&server.member.token, request)).await.unwrap().into_inner().topic.unwrap()
    };
    let renamed = update(rename(&source.topic_id, "Start")).await;
    assert_eq!((&*renamed.id, &*renamed.name, renamed.open_ask_count), (&*source.topic_id, "Start", 1));
    let archive =
        v1::UpdateTopicRequest { topic_id: target.topic_id.clone(), name: None, archived: Some(true) };
    let archived = update(archive).await;
    assert!(archived.archived);
    let merge = v1::UpdateTopicRequest { archived: Some(false), ..rename(&source.topic_id, "TARGET") };
    let survivor = update(merge).await;
    assert_eq!((&*survivor.id, &*survivor.name, survivor.archived), (&*target.topic_id, "target", false));
    assert_eq!((survivor.message_count, survivor.open_ask_count), (2, 1));
    assert_eq!(topics(&server, &server.member).await.topics, std::slice::from_ref(&survivor));
    let of_home = v1::ListTopicsOfChannelsRequest { channel_ids: vec![server.agent.home()] };
    let listed = async |seat: &Seat| {
        server.inbox().list_topics_of_channels(with(&seat.token, of_home.clone())).await.unwrap().into_inner()
    };
    let moved = v1::MovedTopic { topic_id: source.topic_id.clone(), into_topic_id: target.topic_id.clone() };
    assert_eq!(listed(&server.member).await.moved, [moved]);
    assert_eq!(listed(&server.admin).await, v1::ListTopicsOfChannelsResponse::default(), "takes no part");

    let (mut told, mut seqs) = (Vec::new(), Vec::new());
    while told.len() < 6 {
        let frame = stream.message().await.unwrap().unwrap();
        let (what, topic) = match frame.payload {
            Some(Payload::TopicUpserted(upserted)) => (String::new(), upserted.topic.unwrap()),
            Some(Payload::TopicMerged(merged)) => (merged.from_topic_id, merged.into.unwrap()),
            _ => continue,
        };
        seqs.push(frame.seq);
        // Open asks are counted when the event is told, and the ask moves meanwhile.
        told.push((what, v1::Topic { open_ask_count: 0, ..topic }));
    }
    let expected = [(String::new(), renamed), (String::new(), archived), (source.topic_id, survivor.clone())];
    let survivor = v1::Topic { open_ask_count: 0, ..survivor };
    for (told, (what, topic)) in told[2..].iter().zip(expected) {
        assert_eq!(*told, (what, v1::Topic { open_ask_count: 0, ..topic }));
    }
    assert_eq!(told[5], (String::new(), survivor));
    assert_eq!(seqs[5], seqs[4] + 1, "the end of a topic and the survivor are adjacent");
}

#[tokio::test]
async fn a_topic_that_does_not_exist_is_not_found_and_an_empty_id_names_its_field() {
    let server = Server::start().await;
    let topic = post(&server, "t", text("text")).await.topic_id;
    let mut client = server.conversation();
    let mut update =
        async |seat: &Seat, id: &str| refused(client.update_topic(with(&seat.token, rename(id, "x"))).await);
    let unknown = update(&server.member, UNKNOWN_ID).await;
    assert_eq!(unknown, (Code::NotFound, "topic not found".into()));
    assert_eq!(update(&server.member, "no id").await, unknown);
    assert_eq!(update(&server.admin, &topic).await, unknown, "who takes no part finds nothing");
    assert_eq!(update(&server.member, "").await, (Code::InvalidArgument, "topic_id is empty".into()));
    let blank = refused(client.update_topic(with(&server.member.token, rename(&topic, " "))).await);
    assert_eq!(blank, (Code::InvalidArgument, "topic name is empty".into()));
}

#[tokio::test]
async fn a_search_finds_what_the_caller_may_read_within_its_scope() {
    let server = Server::start().await;
    let message = post(&server, "t", text("the anchor holds")).await;
    let search = async |seat: &Seat, query: &str, scope: Option<&str>| {
        let scope = scope.map(|id| Scope::ChannelId(id.to_owned()));
        let request = v1::SearchMessagesRequest { query: query.into(), scope, ..Default::default() };
        server.conversation().search_messages(with(&seat.token, request)).await
    };
    let home = server.agent.home();
    for (seat, scope, expected) in [
        (&server.member, None, vec![message.clone()]),
        (&server.agent, Some(&*home), vec![message.clone()]),
        (&server.member, Some(""), vec![message.clone()]),
        (&server.member, Some(UNKNOWN_ID), vec![]),
        (&server.member, Some("no id"), vec![]),
        (&server.admin, None, vec![]),
    ] {
        let found = search(seat, "anchors", scope).await.unwrap().into_inner().messages;
        assert_eq!(found, expected, "{scope:?}");
    }
    for scope in [None, Some("no id")] {
        let blank = refused(search(&server.member, " ", scope).await);
        assert_eq!(blank, (Code::InvalidArgument, "query is empty".into()));
    }
    let bounded = v1::SearchMessagesRequest { query: "anchor".into(), snapshot_seq: 1, ..Default::default() };
    post(&server, "t", text("another anchor")).await;
    let found = server.conversation().search_messages(with(&server.member.token, bounded)).await.unwrap();
    assert_eq!(found.into_inner().messages, [message]);
}

#[tokio::test]
async fn a_person_marks_what_it_read_and_its_own_stream_tells_it() {
    let server = Server::start().await;
    let first = post(&server, "t", text("one")).await;
    post(&server, "t", text("two")).await;
    let start = v1::SubscribeCommsRequest::default();
    let mut stream =
        server.conversation().subscribe_comms(with(&server.member.token, start)).await.unwrap().into_inner();
    let place = |seq: u64, unread: u32| v1::ReadPosition {
        topic_id: first.topic_id.clone(),
        channel_seq: seq,
        unread_count: unread,
        last_channel_seq: 2,
    };
    assert_eq!(topics(&server, &server.member).await.read_positions, [place(0, 2)]);
    assert_eq!(topics(&server, &server.agent).await.read_positions, [], "an agent has a cursor instead");
    let mark = async |seat: &Seat, topic: &str, seq: u64| {
        let request = v1::MarkReadRequest { topic_id: topic.into(), channel_seq: seq };
        server.inbox().mark_read(with(&seat.token, request)).await
    };
    let marked = mark(&server.member, &first.topic_id, 1).await.unwrap().into_inner();
    assert_eq!(marked.position, Some(place(1, 1)));
    let positions = async |seat: &Seat, channel: &str| {
        let request = v1::ReadPositionsRequest { channel_id: channel.into() };
        server.inbox().read_positions(with(&seat.token, request)).await
    };
    for channel in [server.agent.home(), String::new()] {
        let listed = positions(&server.member, &channel).await.unwrap().into_inner().positions;
        assert_eq!(listed, [place(1, 1)]);
    }
    let of_channels = async |seat: &Seat, channel_ids: Vec<String>| {
        let request = v1::ListTopicsOfChannelsRequest { channel_ids };
        server.inbox().list_topics_of_channels(with(&seat.token, request)).await
    };
    let named = vec!["no id".into(), UNKNOWN_ID.into(), server.agent.home()];
    let listed = of_channels(&server.member, named).await.unwrap().into_inner();
    assert_eq!(listed.topics, topics(&server, &server.member).await.topics);
    assert_eq!(listed.read_positions, [place(1, 1)]);
    assert_eq!(
        refused(of_channels(&server.member, vec![]).await),
        (Code::InvalidArgument, "channel_ids is empty".into())
    );
    loop {
        if let Some(Payload::ReadPositionChanged(told)) = stream.message().await.unwrap().unwrap().payload {
            assert_eq!(told, place(1, 1));
            break;
        }
    }
    let unknown = refused(mark(&server.member, UNKNOWN_ID, 1).await);
    assert_eq!(unknown, (Code::NotFound, "topic not found".into()));
    assert_eq!(refused(mark(&server.member, "no id", 1).await), unknown);
    assert_eq!(refused(mark(&server.admin, &first.topic_id, 1).await), unknown);
    assert_eq!(
        refused(mark(&server.member, "", 1).await),
        (Code::InvalidArgument, "topic_id is empty".into())
    );
    assert_eq!(refused(mark(&server.member, &first.topic_id, 3).await).0, Code::InvalidArgument);
    assert_eq!(refused(mark(&server.agent, &first.topic_id, 1).await).0, Code::PermissionDenied);
    assert_eq!(refused(positions(&server.agent, "").await).0, Code::PermissionDenied);
    assert_eq!(
        refused(positions(&server.member, "no id").await),
        (Code::NotFound, "channel not found".into())
    );
}

#[tokio::test]
async fn a_relayed_list_of_topics_is_the_agents_own_and_defaults_to_its_home() {
    let server = Server::start().await;
    post(&server, "t", text("text")).await;
    let call = async |list: v1::ListTopicsRequest| {
        let call = v1::CommsCallRequest { call: Some(Call::ListTopics(list)), ..Default::default() };
        server.agent_door().call(with(&server.agent.token, call)).await.unwrap().into_inner().result.unwrap()
    };
    let expected = topics(&server, &server.agent).await;
    assert_eq!(expected.topics.len(), 1);
    let named = v1::ListTopicsRequest { channel_id: server.agent.home(), ..Default::default() };
    for list in [v1::ListTopicsRequest::default(), named] {
        assert_eq!(call(list).await, Outcome::ListTopics(expected.clone()));
    }
    let create = v1::CreateChannelRequest { name: "admins".into(), ..Default::default() };
    let created = server.conversation().create_channel(with(&server.admin.token, create)).await.unwrap();
    let foreign = created.into_inner().channel.unwrap().id;
    for id in [&*foreign, UNKNOWN_ID, "no id"] {
        let list = v1::ListTopicsRequest { channel_id: id.into(), ..Default::default() };
        let Outcome::Error(error) = call(list).await else { panic!("not the agent's to read") };
        assert_eq!((&*error.code, &*error.message), ("not_found", "channel not found"));
    }
}
