//! An agent that is its own runner: it attaches, is delivered to, acknowledges and calls.

use std::sync::Arc;

use compass_proto::v1::{
    self, AgentSessionState, comms_call_request::Call, comms_call_result::Result as Outcome,
    message_block::Block,
};
use compass_testkit::FlakyWriter;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::{
    process::{Process, owed, published, receipt, state},
    support::{Server, answer_yes, ask_block, ask_of, text, with, yes_or_no},
};

fn call(call_id: &str, call: Option<Call>) -> v1::CommsCallRequest {
    v1::CommsCallRequest { call_id: call_id.into(), call, trigger_traceparent: String::new() }
}

fn post(blocks: Vec<v1::MessageBlock>) -> Call {
    Call::Post(v1::PostMessageRequest {
        topic: Some(v1::post_message_request::Topic::TopicName("t".into())),
        blocks,
        ..Default::default()
    })
}

#[tokio::test]
async fn the_start_names_the_account_as_its_place_and_a_session_the_server_minted() {
    let server = Server::start().await;
    let mut process = Process::open(&server, &server.agent.token, "a").await;
    let (_, start) = process.take_start().await;
    assert_eq!(start.container_name, server.agent.id());
    assert_eq!(start.session_id.len(), 32);
    assert!(start.resume_session_id.is_empty());
}

#[tokio::test]
async fn a_message_comes_whole_with_its_names_and_a_receipt_ends_it() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    let posted = server.post(&server.member, vec![text("hello")]).await.unwrap();
    let deliver = process.delivered().await;
    assert_eq!(deliver.message.as_ref(), Some(&posted));
    assert_eq!((deliver.topic_name.as_str(), deliver.from_handle.as_str()), ("t", "ann"));
    assert!(!deliver.channel_name.is_empty());
    assert_eq!(owed(&server, &server.agent.token).await, 1);
    process.publish(vec![receipt(&posted.id)]).await;
    assert_eq!(owed(&server, &server.agent.token).await, 0, "the answer to the frames came after the commit");
}

#[tokio::test]
async fn an_ask_of_a_relayed_call_is_answered_and_delivered_to_the_session_that_asked() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    let session = process.session.clone();
    let asked =
        process.relay_as(&session, call("1", Some(post(vec![ask_block(yes_or_no())])))).await.unwrap();
    assert_eq!(asked.call_id, "1");
    let Some(Outcome::Post(asked)) = asked.result else { panic!("not a post: {:?}", asked.result) };
    let asked = asked.message.unwrap();
    assert_eq!(asked.author_account_id, server.agent.id(), "the call is the bound account's");
    let answer = answer_yes(&ask_of(&asked).ask_id);
    server.conversation().respond_to_ask(with(&server.member.token, answer)).await.unwrap();
    let message = process.delivered().await.message.unwrap();
    let Some(Block::AskAnswer(answer)) = &message.blocks[0].block else { panic!("not an answer") };
    assert_eq!(answer.asker_account_id, server.agent.id());
    assert_eq!(answer.ask.as_ref().unwrap().questions[0].chosen_option_ids, ["yes"]);
}

#[tokio::test]
async fn a_call_without_an_arm_fails_inside_the_result_and_names_every_arm() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    let session = process.session.clone();
    let result = process.relay_as(&session, call("7", None)).await.unwrap();
    assert_eq!(result.call_id, "7");
    let Some(Outcome::Error(error)) = result.result else { panic!("not an error") };
    assert_eq!(error.code, "invalid_argument");
    assert!(error.message.contains("post") && error.message.contains("cancel_ask"), "{}", error.message);
}

#[tokio::test]
async fn what_was_missed_comes_at_the_start_and_what_was_not_acknowledged_comes_again() {
    let server = Server::start().await;
    let first = server.post(&server.member, vec![text("one")]).await.unwrap();
    let second = server.post(&server.member, vec![text("two")]).await.unwrap();
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    assert_eq!(process.delivered().await.message.unwrap().id, first.id);
    assert_eq!(process.delivered().await.message.unwrap().id, second.id);
    process.publish(vec![receipt(&first.id)]).await;
    drop(process);
    let mut again = Process::attach(&server, &server.agent.token, "a").await;
    assert_eq!(again.delivered().await.message.unwrap().id, second.id);
}

#[tokio::test]
async fn frames_that_come_to_nothing_end_no_stream() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    let posted = server.post(&server.member, vec![text("hello")]).await.unwrap();
    let session = process.session.clone();
    let mut odd = vec![
        published(1, "", receipt(&posted.id)),
        published(2, "nonsense", receipt(&posted.id)),
        published(3, &session, receipt("")),
        published(9, &session, receipt("00000000000000000000000000000000")),
        v1::PublishEventsRequest { runner_seq: 10, session_id: session.clone(), ..Default::default() },
        published(10, &session, v1::agent_frame::Frame::ControlAck(v1::ControlAck::default())),
        published(10, &session, state(AgentSessionState::Unspecified)),
        published(10, "00000000000000000000000000000000", receipt(&posted.id)),
    ];
    odd.push(published(11, &session, receipt(&posted.id)));
    process.client.publish_events(with(&process.token, tokio_stream::iter(odd))).await.unwrap();
    assert_eq!(owed(&server, &server.agent.token).await, 0, "the last frame was taken in");
    let counters = &server.counters;
    assert_eq!((counters.dropped_frames(), counters.gaps()), (8, 1));
}

#[tokio::test]
async fn a_receipt_that_cannot_be_kept_is_counted_stays_owed_and_ends_no_stream() {
    let mut flaky = None;
    let server =
        Server::start_over(|writer| Arc::clone(flaky.insert(Arc::new(FlakyWriter::over(writer)))) as _);
    let server = server.await;
    let writer = flaky.unwrap();
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    let lost = server.post(&server.member, vec![text("one")]).await.unwrap();
    let kept = server.post(&server.member, vec![text("two")]).await.unwrap();
    let (frames, queued) = mpsc::channel(2);
    let session = process.session.clone();
    let both = async {
        let mut is_first = true;
        writer.fail_if(move |_| std::mem::take(&mut is_first));
        frames.send(published(1, &session, receipt(&lost.id))).await.unwrap();
        writer.failed().await;
        frames.send(published(2, &session, receipt(&kept.id))).await.unwrap();
        drop(frames);
    };
    let stream = process.client.publish_events(with(&process.token, ReceiverStream::new(queued)));
    let (taken, ()) = tokio::join!(stream, both);
    taken.expect("the stream goes on");
    assert_eq!(server.counters.dropped_frames(), 1);
    let owed = server.agent_door().fetch(with(&process.token, v1::FetchRequest::default())).await.unwrap();
    let owed: Vec<_> =
        owed.into_inner().deliveries.into_iter().map(|owed| owed.message.unwrap().id).collect();
    assert_eq!(owed, [lost.id], "it is sent again, and the receipt after it was kept");
}

#[tokio::test]
async fn a_session_that_reports_its_end_is_not_served_any_more() {
    let server = Server::start().await;
    let mut process = Process::attach(&server, &server.agent.token, "a").await;
    process.publish(vec![state(AgentSessionState::Ready), state(AgentSessionState::Stopped)]).await;
    let session = process.session.clone();
    let refused = process.relay_as(&session, call("1", Some(post(vec![text("late")])))).await;
    assert_eq!(refused.unwrap_err().code(), tonic::Code::NotFound);
}

#[tokio::test]
async fn a_process_may_call_before_the_answer_to_its_start_arrives() {
    let server = Server::start().await;
    let mut process = Process::open(&server, &server.agent.token, "a").await;
    process.take_start().await;
    let session = process.session.clone();
    let result = process.relay_as(&session, call("1", Some(post(vec![text("early")])))).await.unwrap();
    assert!(matches!(result.result, Some(Outcome::Post(_))), "{result:?}");
}
