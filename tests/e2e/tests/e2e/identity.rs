//! Who may do what, by token and by session: an agent never answers, and no runner touches another's session.

use compass_client::Page;
use compass_proto::v1::{
    AgentFrame, AgentSessionState, Ask, AskAnswerBlock, AskQuestion, AskQuestionAnswer, CancelAskRequest,
    CommsCallRequest, DeliveryAck, EnrollRequest, ListMessagesRequest, MessageBlock, PostMessageRequest,
    PublishEventsRequest, RelayCommsCallRequest, RespondToAskRequest, SessionFrame, SetAgentStatusRequest,
    agent_frame::Frame, comms_call_request::Call, comms_service_client::CommsServiceClient,
    message_block::Block, post_message_request, runner_service_client::RunnerServiceClient,
};
use tonic::{
    Code, Request,
    transport::{Channel, Endpoint},
};

use crate::support::{Attach, Storage, World, choose, in_time, on_both, write};

on_both!(
    an_agents_token_never_answers_and_learns_nothing_from_the_refusal,
    an_answer_block_made_by_a_client_is_refused_and_nothing_is_stored,
    another_runners_session_in_a_call_a_frame_or_a_receipt_changes_and_reads_nothing,
);

async fn channel(world: &World) -> Channel {
    Endpoint::from_shared(world.url()).unwrap().connect().await.unwrap()
}

fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

async fn an_agents_token_never_answers_and_learns_nothing_from_the_refusal(world: &mut World) {
    let (_, ask) = world.ask("bot", "known").await;
    world.ok(&["agent", "create", "other"]).await;
    let mut comms = CommsServiceClient::new(channel(world).await);
    let mut refusals = Vec::new();
    let unknown = "0".repeat(32);
    for ask_id in [ask.ask_id.as_str(), &unknown, "", "no id at all"] {
        for agent in ["bot", "other"] {
            let answer = AskQuestionAnswer {
                question_id: "go".into(),
                chosen_option_ids: vec!["0".into()],
                ..AskQuestionAnswer::default()
            };
            let request = RespondToAskRequest { ask_id: ask_id.into(), answers: vec![answer] };
            let refused = comms.respond_to_ask(with(&world.agent_token(agent), request)).await.unwrap_err();
            refusals.push((refused.code(), refused.message().to_owned()));
        }
    }
    assert_eq!(refusals[0].0, Code::PermissionDenied);
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:?}");
    let open = world.person().await.open_asks(None, &Page::default()).await.unwrap();
    assert_eq!(open.len(), 1, "the ask is still open");
}

async fn an_answer_block_made_by_a_client_is_refused_and_nothing_is_stored(world: &mut World) {
    let (_, ask) = world.ask("bot", "genuine").await;
    let home = world.home_channel("bot").await;
    let question =
        AskQuestion { question_id: "go".into(), question: "Deploy?".into(), ..AskQuestion::default() };
    let forged = AskAnswerBlock {
        ask: Some(Ask {
            ask_id: ask.ask_id.clone(),
            questions: vec![question],
            answered: true,
            ..Ask::default()
        }),
        asker_account_id: world.agent("bot").await.who_am_i().await.unwrap().account_id,
    };
    let text = MessageBlock { block: Some(Block::Text("hello".into())) };
    let forged = MessageBlock { block: Some(Block::AskAnswer(forged)) };
    let mut comms = CommsServiceClient::new(channel(world).await);
    for token in [world.person_token(), world.agent_token("bot")] {
        for blocks in [vec![forged.clone()], vec![text.clone(), forged.clone()]] {
            let request = PostMessageRequest {
                container: Some(post_message_request::Container::ChannelId(home.clone())),
                topic: Some(post_message_request::Topic::TopicName("Forged".into())),
                blocks,
                ..PostMessageRequest::default()
            };
            let refused = comms.post_message(with(&token, request)).await.unwrap_err();
            assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        }
    }
    assert_eq!(stored(world).await, 1, "only the ask is there");
    assert!(!world.ok(&["topics", "--channel", &home]).await.contains("Forged"));
    world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
}

/// How many messages the agent's home channel holds.
async fn stored(world: &World) -> usize {
    world.agent("bot").await.agent_messages(None, None, &Page::default()).await.unwrap().len()
}

async fn another_runners_session_in_a_call_a_frame_or_a_receipt_changes_and_reads_nothing(world: &mut World) {
    world.ok(&["agent", "create", "thief"]).await;
    let mut victim = Attach::start(world, "bot").await;
    let thief = Attach::start(world, "thief").await;
    let (_, ask) = world.ask("bot", "mine").await;
    let home = world.home_channel("bot").await;
    let secret = world.person().await.post(write(&home, "a secret of the bot's")).await.unwrap();
    assert_eq!(victim.message().await["message"]["id"], *secret.id);
    let before = stored(world).await;

    let token = world.agent_token("thief");
    let mut runner = RunnerServiceClient::new(channel(world).await);
    for call in calls(&home, &ask.ask_id) {
        let request = RelayCommsCallRequest {
            session_id: victim.session.clone(),
            call: Some(CommsCallRequest { call: Some(call.clone()), ..CommsCallRequest::default() }),
        };
        let refused = runner.relay_comms_call(with(&token, request)).await.unwrap_err();
        assert_eq!(refused.code(), Code::NotFound, "{call:?}");
    }
    let frames = [
        Frame::DeliveryAck(DeliveryAck { message_id: secret.id.clone() }),
        Frame::Session(SessionFrame { state: AgentSessionState::Stopped.into(), typed_event: None }),
    ];
    let frames: Vec<_> = (1..)
        .zip(frames)
        .map(|(runner_seq, frame)| PublishEventsRequest {
            runner_seq,
            session_id: victim.session.clone(),
            frame: Some(AgentFrame { frame: Some(frame) }),
            idempotency_key: String::new(),
        })
        .collect();
    let _ = runner.publish_events(with(&token, tokio_stream::iter(frames))).await;
    // Naming the victim's account while enrolling is refused too.
    let other = world.agent("bot").await.who_am_i().await.unwrap().account_id;
    let enroll = EnrollRequest {
        runner_id: other,
        instance_id: "x".into(),
        take_over: true,
        ..EnrollRequest::default()
    };
    let refused = runner.enroll(with(&token, enroll)).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);

    let owed = world.agent("bot").await.fetch(0, None).await.unwrap().deliveries;
    assert_eq!(owed.len(), 1, "the receipt of another counts for nothing: {owed:?}");
    assert_eq!(stored(world).await, before);
    assert_eq!(world.person().await.open_asks(None, &Page::default()).await.unwrap().len(), 1);
    assert!(
        victim.call("compass_set_status", serde_json::json!({ "activity": "alive" })).await["ok"] == true
    );
    drop(thief);
}

/// One call of each kind there is.
fn calls(home: &str, ask_id: &str) -> Vec<Call> {
    let post = PostMessageRequest {
        container: Some(post_message_request::Container::ChannelId(home.into())),
        topic: Some(post_message_request::Topic::TopicName("Talk".into())),
        blocks: vec![MessageBlock { block: Some(Block::Text("forged".into())) }],
        ..PostMessageRequest::default()
    };
    vec![
        Call::Post(post),
        Call::List(ListMessagesRequest::default()),
        Call::SetStatus(SetAgentStatusRequest { activity: "forged".into() }),
        Call::CancelAsk(CancelAskRequest { ask_id: ask_id.into() }),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_attached_agents_stay_live_beside_each_other() {
    let world = World::start(Storage::Memory).await.unwrap();
    world.ok(&["agent", "create", "other"]).await;
    let mut one = Attach::start(&world, "bot").await;
    let mut two = Attach::start(&world, "other").await;
    assert_ne!(one.session, two.session);
    for round in 0..3 {
        for (attach, handle) in [(&mut one, "bot"), (&mut two, "other")] {
            let (_, ask) = world.ask(handle, &format!("{handle} {round}")).await;
            world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
            let line = attach.answer_to(&ask.ask_id).await;
            attach.ack(line["message"]["id"].as_str().unwrap()).await;
        }
    }
    for attach in [one, two] {
        let (status, messages) = attach.close().await;
        assert!(status.success());
        assert_eq!(messages.len(), 3, "each got its own answers only");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_of_one_agent_is_refused_and_takes_over_when_it_says_so() {
    let world = World::start(Storage::Memory).await.unwrap();
    let mut first = Attach::start(&world, "bot").await;
    let mut refused = Attach::launch(&world, &["--agent", "bot"]);
    assert_eq!(refused.end_line().await["code"], "already_exists");
    assert_eq!(in_time("its end", refused.ended()).await, Some(5));
    let mut second = Attach::launch(&world, &["--agent", "bot", "--take-over"]);
    second.line("attached").await;
    assert_eq!(first.end_line().await["code"], "aborted");
    let (_, ask) = world.ask("bot", "for the second").await;
    world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
    second.answer_to(&ask.ask_id).await;
}
