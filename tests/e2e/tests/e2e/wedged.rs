//! Who stands still delays nobody else.

use std::time::{Duration, Instant};

use compass_client::{ChannelName, MemberChanges};
use rustix::process::{Signal, kill_process};
use tokio::task::JoinSet;

use crate::support::{
    Profile, RunnerProcess, World, choose, given, given_answer, on_both, program_of, trials, until, write,
};

on_both!(
    a_program_that_stands_still_delays_nobody_and_gets_its_steers_when_it_goes_on,
    a_runner_that_stands_still_delays_no_agent_of_another_runner,
    a_long_sweep_behind_a_busy_agent_delays_no_other_session,
);

/// What an answer may take on a machine that runs other tests beside this one.
const SOON: Duration = Duration::from_secs(2);

async fn two(world: &World) {
    world.ok(&["agent", "create", "other"]).await;
}

/// Asks as an agent, answers, and waits until its program has it; how long that took.
async fn round_trip(world: &World, handle: &str, key: &str) -> Duration {
    let (_, ask) = world.ask(handle, key).await;
    let start = Instant::now();
    world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
    given_answer(world, handle, &ask.ask_id).await;
    start.elapsed()
}

#[track_caller]
fn soon(took: Duration, what: &str) {
    assert!(took < SOON, "{what}: an answer took {took:?}");
}

async fn a_program_that_stands_still_delays_nobody_and_gets_its_steers_when_it_goes_on(world: &mut World) {
    two(world).await;
    let _runner =
        RunnerProcess::attached(world, "box", &[Profile::quiet("bot"), Profile::quiet("other")]).await;
    for handle in ["bot", "other"] {
        world.ok(&["agents", "start", handle]).await;
        round_trip(world, handle, "warm").await;
    }
    let wedged = program_of(world, "bot").unwrap();
    kill_process(wedged, Signal::STOP).unwrap();
    let person = world.person().await;
    let home = world.home_channel("bot").await;
    // More than a window, so that the server has something to hold back too.
    for number in 0..300 {
        person.post(write(&home, &format!("waits {number}"))).await.unwrap();
    }
    let steer = person.post(write(&home, "@bot look here")).await.unwrap();
    for number in 0..10 {
        soon(round_trip(world, "other", &format!("beside {number}")).await, "beside a wedged program");
    }
    let before = given(world, "bot").len();
    kill_process(wedged, Signal::CONT).unwrap();
    let found = until("the steer", async || given(world, "bot").into_iter().find(|g| g.id == steer.id)).await;
    assert!(found.steer);
    until("all that waited", async || (given(world, "bot").len() >= before + 301).then_some(())).await;
    world.nothing_owed("bot").await;
}

async fn a_runner_that_stands_still_delays_no_agent_of_another_runner(world: &mut World) {
    two(world).await;
    let wedged = RunnerProcess::attached(world, "box", &[Profile::quiet("bot")]).await;
    let _well = RunnerProcess::attached(world, "yard", &[Profile::quiet("other")]).await;
    world.ok(&["agents", "start", "bot", "--runner", "box"]).await;
    world.ok(&["agents", "start", "other", "--runner", "yard"]).await;
    for handle in ["bot", "other"] {
        round_trip(world, handle, "warm").await;
    }
    wedged.signal(Signal::STOP);
    let (_, waiting) = world.ask("bot", "waits").await;
    world.person().await.answer(&waiting.ask_id, choose("0")).await.unwrap();
    for number in 0..10 {
        soon(round_trip(world, "other", &format!("beside {number}")).await, "beside a wedged runner");
    }
    wedged.signal(Signal::CONT);
    assert_eq!(given_answer(world, "bot", &waiting.ask_id).await.len(), 1);
}

async fn a_long_sweep_behind_a_busy_agent_delays_no_other_session(world: &mut World) {
    two(world).await;
    let _runner =
        RunnerProcess::attached(world, "box", &[Profile::quiet("bot"), Profile::quiet("other")]).await;
    world.ok(&["agents", "start", "other"]).await;
    round_trip(world, "other", "warm").await;
    let messages = trials(10_000, 1_000);
    let person = world.person().await;
    let channel = person.create_channel("busy", Vec::new()).await.unwrap().id;
    let changes = MemberChanges { subscribe: vec!["bot".into()], ..MemberChanges::default() };
    person.update_members(&ChannelName::Id(channel.clone()), changes).await.unwrap();
    let mut posts = JoinSet::new();
    for number in 0..messages {
        if posts.len() >= 32 {
            posts.join_next().await.unwrap().unwrap();
        }
        let (person, channel) = (person.clone(), channel.clone());
        posts.spawn(async move { drop(person.post(write(&channel, &format!("{number}"))).await.unwrap()) });
    }
    posts.join_all().await;
    world.ok(&["agents", "start", "bot"]).await;
    for number in 0..10 {
        soon(round_trip(world, "other", &format!("beside {number}")).await, "beside a sweep");
    }
    let deadline = Instant::now() + Duration::from_mins(2);
    while given(world, "bot").len() < messages {
        assert!(Instant::now() < deadline, "{} of {messages} were swept", given(world, "bot").len());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let seqs: Vec<u64> =
        given(world, "bot").iter().map(|g| g.line["message"]["channel_seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted(), "a sweep does not go in order");
}
