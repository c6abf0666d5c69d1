//! `kill -9` at named points: what was answered is delivered once, and what was acknowledged never again.

use compass_client::{Client, ClientError};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Attach, Random, World, choose, on_both, trials, until, usual_time, write};

on_both!(
    a_server_killed_between_commit_and_delivery_delivers_once_after_its_restart,
    a_program_killed_before_its_receipt_is_given_the_message_once_more_and_told_so,
    both_killed_together_leave_one_delivery,
    a_server_killed_in_the_middle_of_an_answer_delivers_it_if_it_was_kept,
);

/// What one message's lines were, over all lives of the agent's program.
struct Tally(Vec<Value>);

impl Tally {
    /// The `delivered_before` of each line of a message.
    fn of(&self, id: &str) -> Vec<bool> {
        let lines = self.0.iter().filter(|line| line["message"]["id"] == id);
        lines.map(|line| line["delivered_before"].as_bool().unwrap()).collect()
    }
}

fn id(line: &Value) -> String {
    line["message"]["id"].as_str().unwrap().to_owned()
}

/// Acknowledges, kills and starts everything again, and proves with a later message that nothing comes twice.
async fn acked_and_never_again(
    world: &mut World,
    mut attach: Attach,
    answer: &str,
    tally: &mut Tally,
    trial: usize,
) {
    attach.ack(answer).await;
    world.nothing_owed("bot").await;
    tally.0.extend(attach.kill().await);
    if trial % 2 == 1 {
        world.restart_server().await;
    }
    let mut attach = Attach::start(world, "bot").await;
    let channel = world.home_channel("bot").await;
    let canary = world.person().await.post(write(&channel, &format!("canary {trial}"))).await.unwrap();
    let line = attach.message().await;
    assert_eq!(id(&line), canary.id, "trial {trial}: something came before the canary");
    attach.ack(&canary.id).await;
    world.nothing_owed("bot").await;
    let (status, lines) = attach.close().await;
    assert!(status.success(), "trial {trial}");
    tally.0.extend(lines);
}

async fn a_server_killed_between_commit_and_delivery_delivers_once_after_its_restart(world: &mut World) {
    for trial in 0..trials(50, 9) {
        let mut tally = Tally(Vec::new());
        // Three ways for an answer to be committed and not delivered.
        let away = trial % 3 == 0;
        let frozen = trial % 3 == 1;
        let mut attach = if away { None } else { Some(Attach::start(world, "bot").await) };
        let (_, ask) = world.ask("bot", &format!("commit {trial}")).await;
        if let Some(attach) = attach.as_ref().filter(|_| frozen) {
            attach.signal(Signal::STOP);
        }
        let person = world.person().await;
        person.answer(&ask.ask_id, choose("0")).await.unwrap();
        world.kill_server().await;
        world.serve().await;
        let mut attach = match attach.take() {
            None => Attach::start(world, "bot").await,
            Some(attach) => {
                if frozen {
                    attach.signal(Signal::CONT);
                }
                attach
            }
        };
        let answer = id(&attach.answer_to(&ask.ask_id).await);
        acked_and_never_again(world, attach, &answer, &mut tally, trial).await;
        assert_eq!(tally.of(&answer), [false], "trial {trial}");
    }
}

async fn a_program_killed_before_its_receipt_is_given_the_message_once_more_and_told_so(world: &mut World) {
    for trial in 0..trials(50, 8) {
        let mut tally = Tally(Vec::new());
        let mut attach = Attach::start(world, "bot").await;
        let (_, ask) = world.ask("bot", &format!("receipt {trial}")).await;
        world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
        let answer = id(&attach.answer_to(&ask.ask_id).await);
        tally.0.extend(attach.kill().await);
        let mut attach = Attach::start(world, "bot").await;
        assert_eq!(id(&attach.answer_to(&ask.ask_id).await), answer, "trial {trial}");
        acked_and_never_again(world, attach, &answer, &mut tally, trial).await;
        assert_eq!(tally.of(&answer), [false, true], "trial {trial}");
    }
}

async fn both_killed_together_leave_one_delivery(world: &mut World) {
    for trial in 0..trials(50, 8) {
        let mut tally = Tally(Vec::new());
        let mut attach = Attach::start(world, "bot").await;
        let (_, ask) = world.ask("bot", &format!("both {trial}")).await;
        let handed_over = trial % 2 == 0;
        if !handed_over {
            attach.signal(Signal::STOP);
        }
        world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
        if handed_over {
            attach.answer_to(&ask.ask_id).await;
        }
        world.kill_server().await;
        tally.0.extend(attach.kill().await);
        world.serve().await;
        let mut attach = Attach::start(world, "bot").await;
        let answer = id(&attach.answer_to(&ask.ask_id).await);
        acked_and_never_again(world, attach, &answer, &mut tally, trial).await;
        let expected: &[bool] = if handed_over { &[false, true] } else { &[false] };
        assert_eq!(tally.of(&answer), expected, "trial {trial}");
    }
}

async fn a_server_killed_in_the_middle_of_an_answer_delivers_it_if_it_was_kept(world: &mut World) {
    let mut random = Random::seeded("kills in the middle of an answer");
    let mut kept = 0;
    let count = trials(50, 8);
    let mut attach = Attach::start(world, "bot").await;
    let usual = usual_time(world, &mut attach).await;
    attach.close().await;
    for trial in 0..count {
        let mut tally = Tally(Vec::new());
        let mut attach = Attach::start(world, "bot").await;
        let (_, ask) = world.ask("bot", &format!("middle {trial}")).await;
        let person = world.person().await;
        let delay = std::time::Duration::from_micros(random.below(u64::try_from(usual.as_micros()).unwrap()));
        let (replied, ()) = tokio::join!(person.answer(&ask.ask_id, choose("0")), async {
            std::thread::sleep(delay);
            world.kill_server().await;
        });
        world.serve().await;
        let stored = answer_again(world, &ask.ask_id).await;
        assert!(replied.is_err() || stored, "trial {trial}: an acknowledged answer was lost");
        kept += usize::from(stored);
        let answer = id(&attach.answer_to(&ask.ask_id).await);
        acked_and_never_again(world, attach, &answer, &mut tally, trial).await;
        assert_eq!(tally.of(&answer), [false], "trial {trial}");
    }
    println!("{kept} of {count} answers were kept by a server that was killed; usual time {usual:?}");
}

/// Answers once more; true if the ask was answered before.
async fn answer_again(world: &World, ask_id: &str) -> bool {
    until("a server that takes an answer", async || {
        let person: Client = world.person().await;
        match person.answer(ask_id, choose("0")).await {
            Ok(()) => Some(false),
            Err(ClientError::Refused { code: "already_exists", .. }) => Some(true),
            Err(error) if error.is_transient() => None,
            Err(error) => panic!("{error}"),
        }
    })
    .await
}
