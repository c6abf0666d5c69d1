//! What an agent calls through a relay.

use compass_comms::{
    accounts::set_status::SetStatus,
    asks::cancel_ask::{CancelAsk, Withdrawn},
    channels::resolve::ChannelRef,
    messages::{list_messages::ListMessages, post_message::PostMessage},
    relay_union::{Call, CallOutcome, call},
    topics::list_topics::ListTopics,
};
use compass_domain::{AskId, ErrorKind, message::DraftBlock};

use crate::house::{House, a_post, ask_draft, kind};

fn list() -> ListMessages {
    ListMessages {
        channel: ChannelRef::Home,
        topic: None,
        topic_name: None,
        before: None,
        limit: 0,
        snapshot: None,
    }
}

fn status() -> SetStatus {
    SetStatus { activity: "busy".into() }
}

fn topics() -> ListTopics {
    ListTopics { channel: ChannelRef::Home, include_archived: false }
}

#[tokio::test]
async fn every_call_runs_as_the_calling_agent_and_defaults_to_its_home() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let post = PostMessage { blocks: vec![DraftBlock::Ask(ask_draft())], ..a_post(ChannelRef::Home) };
    let outcome = call(&house.comms, &bot, Call::Post(post)).await.unwrap();
    let CallOutcome::Post(posted) = outcome else { panic!("{outcome:?}") };
    assert_eq!(posted.message.author(), bot.actor.id);
    assert_eq!(posted.message.channel(), house.home_of(&bot).await);
    let outcome = call(&house.comms, &bot, Call::List(list())).await.unwrap();
    assert_eq!(outcome, CallOutcome::List(vec![posted.message.clone()]));
    let outcome = call(&house.comms, &bot, Call::SetStatus(status())).await.unwrap();
    assert_eq!(outcome, CallOutcome::SetStatus);
    let outcome = call(&house.comms, &bot, Call::ListTopics(topics())).await.unwrap();
    let CallOutcome::ListTopics(listed) = outcome else { panic!("{outcome:?}") };
    assert_eq!(listed.topics[0].topic.id, posted.message.topic());
    assert_eq!((listed.topics.len(), listed.read_positions.len()), (1, 0));
    let cancel = CancelAsk { ask: posted.message.asks().next().map(compass_domain::Ask::id) };
    let outcome = call(&house.comms, &bot, Call::CancelAsk(cancel)).await.unwrap();
    assert_eq!(outcome, CallOutcome::CancelAsk(Withdrawn::Now));
}

#[tokio::test]
async fn nobody_but_an_agent_may_call() {
    let house = House::new().await;
    let plans = ChannelRef::Id(house.channel(&house.admin, "plans", &[]).await.id);
    let calls = [
        Call::Post(a_post(ChannelRef::Home)),
        Call::Post(a_post(plans)),
        Call::List(list()),
        Call::SetStatus(status()),
        Call::ListTopics(topics()),
        Call::CancelAsk(CancelAsk { ask: Some(AskId::from_bytes([1; 16])) }),
    ];
    for one in calls {
        assert_eq!(kind(call(&house.comms, &house.admin, one).await), ErrorKind::FailedPrecondition);
    }
}

#[tokio::test]
async fn a_refusal_keeps_the_kind_and_text_of_its_use_case() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let cancel = Call::CancelAsk(CancelAsk { ask: Some(AskId::from_bytes([1; 16])) });
    let error = call(&house.comms, &bot, cancel).await.unwrap_err();
    assert_eq!(error.to_string(), "ask not found");
    assert_eq!(kind::<(), _>(Err(error)), ErrorKind::NotFound);
    let empty = Call::Post(PostMessage { blocks: Vec::new(), ..a_post(ChannelRef::Home) });
    assert_eq!(kind(call(&house.comms, &bot, empty).await), ErrorKind::InvalidArgument);
}
