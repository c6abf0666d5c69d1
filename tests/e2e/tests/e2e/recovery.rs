//! The ways an answer can miss its agent, each over real server, runner and agent processes: it comes all the same.

use compass_client::{ChannelName, ClientError, MemberChanges, model::Ask};
use rustix::process::Signal;

use crate::support::{
    Given, Profile, RunnerProcess, World, choose, given, given_answer, is_gone, notes, on_both, program_of,
    question, trials, until, write,
};

on_both!(
    an_answer_given_while_no_session_lives_is_delivered_at_the_next_start_and_once,
    an_answer_whose_receipt_was_lost_is_delivered_again_and_says_so,
    a_second_answer_is_refused_and_one_message_is_delivered,
    an_asker_outside_the_sweep_set_that_was_away_is_steered_at_its_start,
    an_asker_outside_the_sweep_set_that_lives_is_steered_without_a_restart,
    an_answer_that_is_owed_interrupts_a_turn_and_is_rendered_the_same,
    a_server_that_died_before_it_routed_an_answer_owes_it_after_its_restart,
    a_runner_takes_its_agents_with_it_however_it_ends,
);

/// A runner with the agent `bot` on it, which is started if wanted.
async fn runner(world: &World, starts: bool) -> RunnerProcess {
    let runner = RunnerProcess::attached(world, "box", &[Profile::quiet("bot")]).await;
    if starts {
        start(world, 1).await;
    }
    runner
}

/// Starts the agent and waits until its program has had so many sessions.
async fn start(world: &World, lives: usize) {
    world.ok(&["agents", "start", "bot"]).await;
    lived(world, lives).await;
}

async fn lived(world: &World, lives: usize) {
    until("a session in the program's log", async || {
        let attached = |note: &serde_json::Value| note["value"]["type"] == "attached";
        (notes(world, "bot").iter().filter(|note| attached(note)).count() >= lives).then_some(())
    })
    .await;
}

async fn stop(world: &World) {
    world.ok(&["agents", "stop", "bot"]).await;
}

/// Stops the agent, starts it again and shows with a later message that nothing came before that.
async fn never_again(world: &World, channel: &str, lives: usize) {
    stop(world).await;
    start(world, lives).await;
    let before = given(world, "bot").len();
    let canary = world.person().await.post(write(channel, &format!("canary {lives}"))).await.unwrap();
    let found = until("the canary", async || given(world, "bot").get(before..)?.first().cloned()).await;
    assert_eq!(found.id, canary.id, "something came before the canary: {found:?}");
    world.nothing_owed("bot").await;
}

/// A channel in which the agent takes part and is not subscribed.
async fn outside(world: &World) -> String {
    let person = world.person().await;
    let channel = person.create_channel("reviews", Vec::new()).await.unwrap().id;
    let changes = MemberChanges { add: vec!["bot".into()], ..MemberChanges::default() };
    person.update_members(&ChannelName::Id(channel.clone()), changes).await.unwrap();
    channel
}

async fn ask_in(world: &World, channel: &str, key: &str) -> Ask {
    let mut post = question(key);
    post.channel = Some(ChannelName::Id(channel.to_owned()));
    let message = world.agent("bot").await.agent_post(post).await.unwrap();
    message.asks().next().unwrap().clone()
}

async fn answer(world: &World, ask: &Ask) {
    world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
}

#[track_caller]
fn once(found: &[Given], steer: bool) {
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].delivered_before, found[0].steer), (false, steer), "{found:?}");
}

async fn an_answer_given_while_no_session_lives_is_delivered_at_the_next_start_and_once(world: &mut World) {
    let _runner = runner(world, true).await;
    stop(world).await;
    let (_, ask) = world.ask("bot", "4.2").await;
    answer(world, &ask).await;
    start(world, 2).await;
    once(&given_answer(world, "bot", &ask.ask_id).await, false);
    world.nothing_owed("bot").await;
    let channel = world.home_channel("bot").await;
    never_again(world, &channel, 3).await;
    once(&given_answer(world, "bot", &ask.ask_id).await, false);
}

async fn an_answer_whose_receipt_was_lost_is_delivered_again_and_says_so(world: &mut World) {
    let mut runner = runner(world, true).await;
    let channel = world.home_channel("bot").await;
    let person = world.person().await;
    person.post(write(&channel, "do:hold")).await.unwrap();
    let (_, ask) = world.ask("bot", "4.2").await;
    answer(world, &ask).await;
    once(&given_answer(world, "bot", &ask.ask_id).await, false);
    runner.kill().await;
    runner.start(world);
    // The runner starts again what it ran; the program's new life holds nothing.
    lived(world, 2).await;
    let found = until("the answer once more", async || {
        let found = given_answer(world, "bot", &ask.ask_id).await;
        (found.len() > 1).then_some(found)
    })
    .await;
    let told: Vec<bool> = found.iter().map(|given| given.delivered_before).collect();
    assert_eq!(told, [false, true]);
    world.nothing_owed("bot").await;
    never_again(world, &channel, 3).await;
    assert_eq!(given_answer(world, "bot", &ask.ask_id).await.len(), 2);
}

async fn a_second_answer_is_refused_and_one_message_is_delivered(world: &mut World) {
    let _runner = runner(world, true).await;
    let (_, ask) = world.ask("bot", "4.2").await;
    answer(world, &ask).await;
    let again = world.person().await.answer(&ask.ask_id, choose("1")).await;
    assert!(matches!(again, Err(ClientError::Refused { code: "already_exists", .. })), "{again:?}");
    let found = given_answer(world, "bot", &ask.ask_id).await;
    once(&found, false);
    let chosen = &found[0].line["message"]["blocks"][0]["ask"]["questions"][0]["chosen_option_ids"];
    assert_eq!(*chosen, serde_json::json!(["0"]));
    let channel = world.home_channel("bot").await;
    never_again(world, &channel, 2).await;
    once(&given_answer(world, "bot", &ask.ask_id).await, false);
}

async fn an_asker_outside_the_sweep_set_that_was_away_is_steered_at_its_start(world: &mut World) {
    let _runner = runner(world, true).await;
    let channel = outside(world).await;
    stop(world).await;
    let ask = ask_in(world, &channel, "4.2").await;
    answer(world, &ask).await;
    start(world, 2).await;
    once(&given_answer(world, "bot", &ask.ask_id).await, true);
    world.nothing_owed("bot").await;
    let home = world.home_channel("bot").await;
    never_again(world, &home, 3).await;
    once(&given_answer(world, "bot", &ask.ask_id).await, true);
}

async fn an_asker_outside_the_sweep_set_that_lives_is_steered_without_a_restart(world: &mut World) {
    let _runner = runner(world, true).await;
    let channel = outside(world).await;
    let home = world.home_channel("bot").await;
    world.person().await.post(write(&home, "do:hold")).await.unwrap();
    let ask = ask_in(world, &channel, "4.2").await;
    answer(world, &ask).await;
    let found = given_answer(world, "bot", &ask.ask_id).await;
    once(&found, true);
    let owed = world.agent("bot").await.fetch(0, None).await.unwrap().deliveries;
    assert!(owed.iter().any(|delivery| delivery.message.id == found[0].id), "not owed before its receipt");
}

async fn an_answer_that_is_owed_interrupts_a_turn_and_is_rendered_the_same(world: &mut World) {
    let _runner = runner(world, true).await;
    let channel = outside(world).await;
    let home = world.home_channel("bot").await;
    let (_, swept) = world.ask("bot", "in the sweep set").await;
    let owed = ask_in(world, &channel, "outside").await;
    let person = world.person().await;
    person.post(write(&home, "do:working")).await.unwrap();
    until("a turn", async || (given(world, "bot").len() == 1).then_some(())).await;
    world.state("bot", "working").await;
    answer(world, &swept).await;
    answer(world, &owed).await;
    // The steer comes in the middle of the turn, the deliver at its end.
    let steered = given_answer(world, "bot", &owed.ask_id).await;
    once(&steered, true);
    let early = given(world, "bot").iter().any(|given| given.answers.as_deref() == Some(&*swept.ask_id));
    assert!(!early, "a deliver came in the middle of a turn");
    person.post(write(&home, "@bot do:ready")).await.unwrap();
    let delivered = given_answer(world, "bot", &swept.ask_id).await;
    once(&delivered, false);
    let shape = |given: &Given| {
        let block = given.line["message"]["blocks"][0].as_object().unwrap().clone();
        block.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(shape(&steered[0]), shape(&delivered[0]));
}

async fn a_server_that_died_before_it_routed_an_answer_owes_it_after_its_restart(world: &mut World) {
    let _runner = runner(world, true).await;
    let channel = outside(world).await;
    for trial in 0..trials(30, 4) {
        let ask = ask_in(world, &channel, &format!("route {trial}")).await;
        // While the program stands still nothing can be acknowledged before the kill.
        let program = program_of(world, "bot").unwrap();
        rustix::process::kill_process(program, Signal::STOP).unwrap();
        answer(world, &ask).await;
        world.restart_server().await;
        rustix::process::kill_process(program, Signal::CONT).unwrap();
        once(&given_answer(world, "bot", &ask.ask_id).await, true);
        world.nothing_owed("bot").await;
    }
}

async fn a_runner_takes_its_agents_with_it_however_it_ends(world: &mut World) {
    let mut runner = runner(world, true).await;
    let first = program_of(world, "bot").unwrap();
    runner.kill().await;
    until("the end of the program", async || is_gone(first).then_some(())).await;
    runner.start(world);
    lived(world, 2).await;
    let second = program_of(world, "bot").unwrap();
    runner.end().await;
    assert!(is_gone(second), "a runner that ended left a program behind");
}
