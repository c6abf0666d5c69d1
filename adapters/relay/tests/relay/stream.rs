//! SubscribeComms: its first frame, what it tells, and how it ends.

use compass_proto::v1::{self, subscribe_comms_response::Payload};
use tonic::{Code, Streaming};

use crate::support::{Seat, Server, answer_yes, ask_block, ask_of, text, with, yes_or_no};

async fn subscribe(
    server: &Server,
    seat: &Seat,
    since: u64,
    epoch: u64,
) -> Streaming<v1::SubscribeCommsResponse> {
    let request = v1::SubscribeCommsRequest { since_seq: since, instance_epoch: epoch };
    server.conversation().subscribe_comms(with(&seat.token, request)).await.unwrap().into_inner()
}

async fn next(stream: &mut Streaming<v1::SubscribeCommsResponse>) -> v1::SubscribeCommsResponse {
    stream.message().await.unwrap().expect("another frame")
}

/// The next frame that is about messages or topics.
async fn talk(stream: &mut Streaming<v1::SubscribeCommsResponse>) -> Payload {
    loop {
        let payload = next(stream).await.payload.unwrap();
        if matches!(
            payload,
            Payload::MessagePosted(_) | Payload::MessageUpdated(_) | Payload::TopicUpserted(_)
        ) {
            return payload;
        }
    }
}

#[tokio::test]
async fn a_fresh_stream_starts_with_its_boundary_and_tells_what_an_answer_changed_in_order() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.member, 0, 0).await;
    let first = next(&mut stream).await;
    assert_eq!((first.seq, first.snapshot_seq, first.payload), (0, 0, None));
    assert_eq!(first.instance_epoch, server.comms.bus.epoch());
    let posted = server.post(&server.agent, vec![ask_block(yes_or_no())]).await.unwrap();
    let Payload::TopicUpserted(topic) = talk(&mut stream).await else { panic!("the topic comes first") };
    let topic = topic.topic.unwrap();
    assert_eq!((topic.name.as_str(), topic.message_count, topic.open_ask_count), ("t", 1, 1));
    assert_eq!(
        talk(&mut stream).await,
        Payload::MessagePosted(v1::MessagePosted { message: Some(posted.clone()) })
    );
    let ask_id = ask_of(&posted).ask_id;
    server.conversation().respond_to_ask(with(&server.member.token, answer_yes(&ask_id))).await.unwrap();
    let Payload::MessageUpdated(updated) = talk(&mut stream).await else { panic!("the ask comes first") };
    assert!(ask_of(&updated.message.unwrap()).answered);
    let Payload::MessagePosted(answer) = talk(&mut stream).await else { panic!("then the answer") };
    assert_eq!(answer.message.unwrap().author_account_id, server.member.id());
}

#[tokio::test]
async fn who_takes_no_part_hears_nothing_of_a_message() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.admin, 0, 0).await;
    server.post(&server.member, vec![text("private")]).await.unwrap();
    let create = v1::CreateUserRequest { handle: "canary".into(), ..Default::default() };
    server.conversation().create_user(with(&server.admin.token, create)).await.unwrap();
    loop {
        match next(&mut stream).await.payload {
            Some(Payload::AccountChanged(changed))
                if changed.account.as_ref().unwrap().handle == "canary" =>
            {
                return;
            }
            Some(Payload::MessagePosted(_) | Payload::TopicUpserted(_)) => panic!("told to a stranger"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_place_of_another_life_of_the_server_is_answered_with_a_resync_and_the_end() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.member, 1, 999).await;
    let only = next(&mut stream).await;
    assert_eq!((only.seq, only.instance_epoch), (0, server.comms.bus.epoch()));
    assert_eq!(only.payload, Some(Payload::ResyncRequired(v1::CommsResyncRequired {})));
    assert_eq!(stream.message().await.unwrap(), None);
}

#[tokio::test]
async fn a_stream_goes_on_after_the_last_seq_seen() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.member, 0, 0).await;
    let epoch = next(&mut stream).await.instance_epoch;
    server.post(&server.member, vec![text("one")]).await.unwrap();
    let seen = loop {
        let frame = next(&mut stream).await;
        if matches!(frame.payload, Some(Payload::MessagePosted(_))) {
            break frame.seq;
        }
    };
    let two = server.post(&server.member, vec![text("two")]).await.unwrap();
    let mut resumed = subscribe(&server, &server.member, seen, epoch).await;
    assert_eq!(talk(&mut resumed).await, Payload::MessagePosted(v1::MessagePosted { message: Some(two) }));
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.agent, 0, 0).await;
    next(&mut stream).await;
    let revoke = v1::RevokeTokenRequest { token: server.agent.token.clone() };
    server.server().revoke_token(with(&server.member.token, revoke)).await.unwrap();
    let ended = loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end says why"),
            Err(status) => break status,
        }
    };
    assert_eq!(ended.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_stream_ends_cleanly_when_the_server_stops() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.member, 0, 0).await;
    next(&mut stream).await;
    server.stop.cancel();
    while stream.message().await.unwrap().is_some() {}
}

#[tokio::test]
async fn a_new_group_is_told_to_those_that_see_it() {
    let server = Server::start().await;
    let mut stream = subscribe(&server, &server.admin, 0, 0).await;
    let mut client = server.conversation();
    let mut made = Vec::new();
    for visibility in [v1::ChannelGroupVisibility::Owner, v1::ChannelGroupVisibility::Shared] {
        let visibility = visibility.into();
        let create = v1::CreateChannelGroupRequest { name: "teams".into(), visibility, ..Default::default() };
        let reply = client.create_channel_group(with(&server.member.token, create)).await.unwrap();
        made.push(reply.into_inner().group);
    }
    let told = loop {
        if let Some(Payload::ChannelGroupChanged(changed)) = next(&mut stream).await.payload {
            break changed.group;
        }
    };
    assert_eq!(told, made[1], "the first one is its owner's alone");
}
