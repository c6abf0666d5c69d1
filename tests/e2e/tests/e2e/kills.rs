//! Server, runner and agents killed again and again while agents ask and a person answers: every answer arrives, and
//! what arrives twice says so.

#![expect(clippy::disallowed_methods, reason = "the person answers beside the kills and is waited for")]

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use compass_client::{Client, ClientError, Page};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Acks, Given, PATIENCE, Profile, Random, RunnerProcess, World, choose, given, now_us, on_both, program_of,
    trials, until,
};

on_both!(every_answer_arrives_whatever_is_killed_and_what_arrives_twice_says_so);

const AGENTS: usize = 20;
/// A kill this soon after an agent acknowledged is the worst one: the mark on disk, the frame to the server, its cursor
/// and its commit are all under way.
const CLOSE: Duration = Duration::from_millis(5);
/// An acknowledgement older than this leaves no time to find the process and kill it.
const FRESH: Duration = Duration::from_millis(4);
/// From the handing over of a message to its mark on disk, on a machine that is busy with this very test.
const WINDOW_US: u64 = 5_000_000;

/// What is killed, in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Server,
    Runner,
    /// An agent's program, or the core that drives it.
    Agent {
        core: bool,
    },
}

#[derive(Clone, Debug)]
struct Kill {
    victim: Victim,
    /// Whose program, if an agent was meant.
    handle: Option<String>,
    at_us: u64,
    /// It fell within [`CLOSE`] of an acknowledgement of that agent's, or of any agent's where all are cut off.
    is_close: bool,
}

fn handle(number: usize) -> String {
    format!("agent-{number}")
}

async fn every_answer_arrives_whatever_is_killed_and_what_arrives_twice_says_so(world: &mut World) {
    let mut random = Random::seeded("kills");
    let (asks, kills) = (trials(500, 60), trials(60, 9));
    for number in 0..AGENTS {
        world.ok(&["agent", "create", &handle(number)]).await;
    }
    let profiles: Vec<Profile> = (0..AGENTS)
        .map(|number| Profile {
            asks: u32::try_from(asks / AGENTS).unwrap(),
            // Long enough that asks are open over most of the kills.
            pause_ms: u32::try_from(kills * 600 / (asks / AGENTS)).unwrap(),
            ..Profile::quiet(&handle(number))
        })
        .collect();
    let mut runner = RunnerProcess::attached(world, "box", &profiles).await;
    for number in 0..AGENTS {
        world.ok(&["agents", "start", &handle(number)]).await;
    }

    let answered = Arc::new(Mutex::new(HashSet::new()));
    let stop = Arc::new(AtomicBool::new(false));
    let person = Person { url: world.url(), token: world.person_token() };
    let answering = tokio::spawn(person.answer_all(Arc::clone(&answered), Arc::clone(&stop)));
    let mut done = Vec::new();
    let mut acks = Acks::of(world, (0..AGENTS).map(handle));
    for number in 0..kills {
        let victim = match number % 4 {
            0 => Victim::Server,
            1 => Victim::Runner,
            turn => Victim::Agent { core: turn == 3 },
        };
        tokio::time::sleep(Duration::from_millis(100 + random.below(400))).await;
        // Half of each kind are aimed; the others fall when they fall.
        let aim = if number / 4 % 2 == 0 { Some(&mut acks) } else { None };
        done.push(kill(world, &mut runner, victim, aim, &mut random).await);
    }
    let deadline = tokio::time::Instant::now() + PATIENCE * u32::try_from(trials(6, 2)).unwrap();
    while answered.lock().unwrap().len() < asks / AGENTS * AGENTS {
        let (found, wanted) = (answered.lock().unwrap().len(), asks / AGENTS * AGENTS);
        assert!(tokio::time::Instant::now() < deadline, "{found} of {wanted} asks were answered");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop.store(true, Ordering::Relaxed);
    answering.await.unwrap();
    for number in 0..AGENTS {
        world.nothing_owed(&handle(number)).await;
    }
    let answered = answered.lock().unwrap().clone();
    judge(world, &answered, &done);
    let close = done.iter().filter(|kill| kill.is_close).count();
    let of = |wanted: fn(&Victim) -> bool| done.iter().filter(|kill| wanted(&kill.victim)).count();
    println!(
        "{} answers; {} kills: {} of the server, {} of the runner, {} of agents, {close} within {CLOSE:?} of an \
         acknowledgement",
        answered.len(),
        done.len(),
        of(|victim| *victim == Victim::Server),
        of(|victim| *victim == Victim::Runner),
        of(|victim| matches!(victim, Victim::Agent { .. })),
    );
    assert!(close >= trials(10, 1), "only {close} kills fell close to an acknowledgement");
}

/// Kills one thing and brings it back; the runner brings back agents.
async fn kill(
    world: &mut World,
    runner: &mut RunnerProcess,
    victim: Victim,
    aim: Option<&mut Acks>,
    random: &mut Random,
) -> Kill {
    let ack = match aim {
        Some(acks) => acks.fresh(FRESH).await,
        None => None,
    };
    let is_close = || ack.as_ref().is_some_and(|ack| ack.age() <= CLOSE);
    match victim {
        Victim::Server => {
            let (at_us, is_close) = (now_us(), is_close());
            world.kill_server().await;
            world.serve().await;
            Kill { victim, handle: None, at_us, is_close }
        }
        Victim::Runner => {
            let (at_us, is_close) = (now_us(), is_close());
            runner.kill().await;
            runner.start(world);
            Kill { victim, handle: None, at_us, is_close }
        }
        Victim::Agent { core } => {
            let (handle, program) = match &ack {
                Some(ack) => (ack.handle.clone(), ack.program),
                None => any_program(world, random).await,
            };
            let pid = if core { parent(program).unwrap_or(program) } else { program };
            let at_us = now_us();
            // It may have died on its own account, with the runner that was killed before.
            let _ = kill_process(pid, Signal::KILL);
            Kill { victim, handle: Some(handle), at_us, is_close: is_close() }
        }
    }
}

/// The living program of an agent that chance names.
async fn any_program(world: &World, random: &mut Random) -> (String, Pid) {
    let handle = handle(usize::try_from(random.below(AGENTS as u64)).unwrap());
    let program = until("a living program", async || alive(program_of(world, &handle)?)).await;
    (handle, program)
}

fn alive(pid: Pid) -> Option<Pid> {
    rustix::process::test_kill_process(pid).is_ok().then_some(pid)
}

/// The process that started one, unless that is nobody's any more.
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 1).then(|| Pid::from_raw(parent)).flatten()
}

struct Person {
    url: String,
    token: String,
}

impl Person {
    /// Answers whatever is open, until told to stop; a server that is away is asked again.
    async fn answer_all(self, answered: Arc<Mutex<HashSet<String>>>, stop: Arc<AtomicBool>) {
        let mut in_doubt = HashSet::new();
        while !stop.load(Ordering::Relaxed) {
            if let Err(error) = self.answer_some(&answered, &mut in_doubt).await {
                assert!(error.is_transient(), "{error}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// An answer whose reply a kill cut off may be kept: that ask is open no more, and is asked for again by its id.
    async fn answer_some(
        &self,
        answered: &Mutex<HashSet<String>>,
        in_doubt: &mut HashSet<String>,
    ) -> Result<(), ClientError> {
        let client = Client::connect(&self.url, Some(&self.token)).await?;
        for open in client.open_asks(None, &Page::default()).await? {
            in_doubt.extend(open.message.asks().map(|ask| ask.ask_id.clone()));
        }
        for ask_id in in_doubt.clone() {
            match client.answer(&ask_id, choose("0")).await {
                Ok(()) | Err(ClientError::Refused { code: "already_exists", .. }) => {
                    in_doubt.remove(&ask_id);
                    answered.lock().unwrap().insert(ask_id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Every answer was given to the program that asked; a second time only after a kill, and marked; in order.
fn judge(world: &World, answered: &HashSet<String>, kills: &[Kill]) {
    let mut found = HashSet::new();
    let mut repeats = 0;
    for number in 0..AGENTS {
        let handle = handle(number);
        let mut by_message: HashMap<String, Vec<Given>> = HashMap::new();
        let mut last_first = 0;
        for given in given(world, &handle) {
            found.extend(given.answers.clone());
            let seq = given.line["message"]["channel_seq"].as_u64().unwrap();
            let times = by_message.entry(given.id.clone()).or_default();
            if times.is_empty() && !given.delivered_before {
                assert!(seq > last_first, "{handle}: {seq} came after {last_first}");
                last_first = seq;
            }
            times.push(given);
        }
        for (id, times) in by_message {
            for pair in times.windows(2) {
                let [first, second] = pair else { unreachable!("windows of two") };
                repeats += 1;
                assert!(second.delivered_before, "{handle}: {id} came again and did not say so");
                let killed = kills.iter().any(|kill| {
                    let mine = match kill.victim {
                        Victim::Server => false,
                        Victim::Runner => true,
                        Victim::Agent { .. } => kill.handle.as_ref() == Some(&handle),
                    };
                    mine && kill.at_us < second.at_us && kill.at_us.saturating_sub(first.at_us) < WINDOW_US
                });
                assert!(killed, "{handle}: {id} came again without a kill in between");
            }
        }
    }
    let missing: Vec<_> = answered.difference(&found).collect();
    assert!(missing.is_empty(), "answers that no program was given: {missing:?}");
    println!("{repeats} messages were handed over once more and said so");
}
