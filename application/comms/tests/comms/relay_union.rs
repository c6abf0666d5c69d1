//! What an agent calls through a relay.

use compass_comms::{
    accounts::{get_roster::GetRoster, set_status::SetStatus},
    asks::{
        cancel_ask::{CancelAsk, Withdrawn},
        respond_to_ask::{RespondToAsk, respond_to_ask},
    },
    channels::{
        open_dm::OpenDm,
        resolve::ChannelRef,
        update_board::{BoardChange, UpdateBoard},
        update_members::UpdateMembers,
    },
    groups::create_group::CreateGroup,
    handles::handles,
    messages::{list_messages::ListMessages, post_message::PostMessage},
    relay_union::{Call, CallOutcome, call},
    topics::list_topics::ListTopics,
};
use compass_domain::{
    AskId, ChannelId, ErrorKind, MessageId, group::Visibility, message::DraftBlock, roster::RosterScope,
};

use crate::house::{House, a_post, answer, ask_draft, kind, new_channel};

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
    let get = GetRoster { scope: RosterScope::Subtree, vantage: None };
    let outcome = call(&house.comms, &bot, Call::Roster(get)).await.unwrap();
    let CallOutcome::Roster(entries) = outcome else { panic!("{outcome:?}") };
    assert_eq!(entries.iter().map(|entry| entry.agent.id).collect::<Vec<_>>(), [bot.actor.id]);
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

fn a_group() -> CreateGroup {
    CreateGroup { name: "g".into(), parent: None, visibility: Visibility::Owner }
}

#[tokio::test]
async fn every_call_about_channels_runs_as_the_calling_agent() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let (bot, twin) = (house.agent(&ada, "bot").await, house.agent(&ada, "twin").await);
    let stranger = house.agent(&house.admin, "stranger").await;
    let run = async |by, one| call(&house.comms, by, one).await;
    let outcome = run(&bot, Call::CreateGroup(a_group())).await.unwrap();
    let CallOutcome::CreateGroup(group) = outcome else { panic!("{outcome:?}") };
    assert_eq!(group.owner, bot.actor.id);
    let outcome = run(&bot, Call::CreateChannel(new_channel("work", &[]))).await.unwrap();
    let CallOutcome::CreateChannel(work) = outcome else { panic!("{outcome:?}") };
    assert!(work.has_member(bot.actor.id) && work.has_member(ada.actor.id));
    let add = UpdateMembers { add: vec![twin.actor.id], ..UpdateMembers::of(ChannelRef::Id(work.id)) };
    let refused = run(&stranger, Call::UpdateMembers(add.clone())).await;
    assert_eq!(kind(refused), ErrorKind::NotFound);
    let outcome = run(&bot, Call::UpdateMembers(add)).await.unwrap();
    let CallOutcome::UpdateMembers(work) = outcome else { panic!("{outcome:?}") };
    assert!(work.has_member(twin.actor.id));
    let message: MessageId = house.post(&bot, work.id, "pin me").await.message.id();
    let pin = UpdateBoard { channel: work.id, change: BoardChange::Pin { message, replace: None } };
    assert_eq!(kind(run(&stranger, Call::Pin(pin.clone())).await), ErrorKind::NotFound);
    let outcome = run(&bot, Call::Pin(pin)).await.unwrap();
    let CallOutcome::Pin(work) = outcome else { panic!("{outcome:?}") };
    assert_eq!(work.pins[0].pinned_by, bot.actor.id);
    let open = OpenDm { peer_handle: "twin".into() };
    assert_eq!(kind(run(&stranger, Call::OpenDm(open.clone())).await), ErrorKind::NotFound);
    let outcome = run(&bot, Call::OpenDm(open)).await.unwrap();
    let CallOutcome::OpenDm(opened) = outcome else { panic!("{outcome:?}") };
    assert!(opened.channel.has_member(bot.actor.id) && opened.channel.has_member(twin.actor.id));
}

#[tokio::test]
async fn whoever_an_outcome_names_has_a_handle() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let (bot, twin) = (house.agent(&ada, "bot").await, house.agent(&ada, "twin").await);
    let run = async |one| call(&house.comms, &bot, one).await.unwrap();
    let named = async |outcome: &CallOutcome| {
        let mut named: Vec<String> = handles(&house.comms, &bot, outcome)
            .await
            .unwrap()
            .into_iter()
            .map(|(_, handle)| handle.to_string())
            .collect();
        named.sort_unstable();
        named
    };
    let created = run(Call::CreateChannel(new_channel("work", &[&twin]))).await;
    assert_eq!(named(&created).await, ["ada", "bot", "twin"]);
    let CallOutcome::CreateChannel(work) = created else { panic!("{created:?}") };
    let work = ChannelRef::Id(work.id);
    let subscribe = UpdateMembers { subscribe: vec![twin.actor.id], ..UpdateMembers::of(work.clone()) };
    assert_eq!(named(&run(Call::UpdateMembers(subscribe)).await).await, ["ada", "bot", "twin"]);
    let opened = run(Call::OpenDm(OpenDm { peer_handle: "twin".into() })).await;
    assert_eq!(named(&opened).await, ["ada", "bot", "twin"]);
    let nothing = run(Call::List(ListMessages { channel: work.clone(), ..list() })).await;
    assert_eq!(named(&nothing).await, [""; 0]);
    let post = PostMessage { blocks: vec![DraftBlock::Ask(ask_draft())], ..a_post(work.clone()) };
    let asked = call(&house.comms, &twin, Call::Post(post)).await.unwrap();
    assert_eq!(named(&asked).await, [""; 0], "the caller knows itself");
    let page = run(Call::List(ListMessages { channel: work.clone(), ..list() })).await;
    assert_eq!(named(&page).await, ["twin"]);
    let CallOutcome::Post(posted) = asked else { panic!("{asked:?}") };
    let ask = posted.message.asks().next().map(compass_domain::Ask::id);
    respond_to_ask(&house.comms, &ada, RespondToAsk { ask, answers: answer("yes") }).await.unwrap();
    let page = run(Call::List(ListMessages { channel: work, limit: 1, ..list() })).await;
    assert_eq!(named(&page).await, ["ada", "twin"], "who answered and who asked");
}

#[tokio::test]
async fn nobody_but_an_agent_may_call() {
    let house = House::new().await;
    let plans = ChannelRef::Id(house.channel(&house.admin, "plans", &[]).await.id);
    let calls = [
        Call::Post(a_post(ChannelRef::Home)),
        Call::Post(a_post(plans)),
        Call::List(list()),
        Call::Roster(GetRoster::default()),
        Call::SetStatus(status()),
        Call::ListTopics(topics()),
        Call::CancelAsk(CancelAsk { ask: Some(AskId::from_bytes([1; 16])) }),
        Call::Pin(UpdateBoard { channel: ChannelId::from_bytes([1; 16]), change: BoardChange::Unpin(None) }),
        Call::CreateChannel(new_channel("x", &[])),
        Call::UpdateMembers(UpdateMembers::of(ChannelRef::Home)),
        Call::CreateGroup(a_group()),
        Call::OpenDm(OpenDm { peer_handle: "bot".into() }),
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
