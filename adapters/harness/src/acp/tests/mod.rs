//! The harness against the official library's agent, over pipes in memory and while time stands still.

mod faults;
mod peer;
mod requests;
mod setup;
mod turns;

use std::time::Duration;

use compass_agent::{
    lanes::Handed,
    ports::{Activity, Harness as _, HarnessError, HarnessEvent},
    seen::{Delivery, SeenBlock, SeenMessage},
};
use tempfile::TempDir;
use tokio::{
    io::{BufReader, DuplexStream},
    sync::oneshot,
};

use self::peer::{Abilities, Got, Peer};
use super::{Settings, ToolServer, run::Agent};

/// Longer than anything here waits for; time stands still, so nobody waits that long.
const PATIENCE: Duration = Duration::from_hours(1);

struct World {
    agent: Agent,
    peer: Peer,
    stop: Option<oneshot::Sender<()>>,
}

fn settings(folder: &TempDir) -> Settings {
    Settings {
        account_id: "me".into(),
        directory: "/srv/work".into(),
        tools: ToolServer {
            program: "/bin/compass".into(),
            args: vec!["agent".into(), "mcp".into()],
            env: vec![("NAME".into(), "value".into())],
        },
        session_file: folder.path().join("acp-session"),
        life: "life".into(),
        random: Box::new(|| [0xab; 8]),
        now_unix_ms: Box::new(|| 7),
    }
}

/// A harness over two pipes, and their other ends.
fn harness(folder: &TempDir) -> (Agent, DuplexStream, DuplexStream, oneshot::Sender<()>) {
    let (theirs_in, output) = tokio::io::duplex(1 << 16);
    let (input, theirs_out) = tokio::io::duplex(1 << 16);
    let (stop, stopped) = oneshot::channel();
    let stopped = Box::pin(async move {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    (Agent::new(settings(folder), BufReader::new(input), output, stopped), theirs_in, theirs_out, stop)
}

impl World {
    /// An agent that is not ready yet.
    fn open(folder: &TempDir, abilities: Abilities) -> Self {
        let (agent, input, output, stop) = harness(folder);
        Self { agent, peer: Peer::start(abilities, input, output), stop: Some(stop) }
    }

    /// An agent that can be prompted.
    async fn ready() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self::open(&folder, Abilities::default());
        world.until_ready().await;
        world
    }

    async fn until_ready(&mut self) {
        loop {
            if matches!(self.event().await, HarnessEvent::Streaming(false)) {
                return;
            }
        }
    }

    async fn event(&mut self) -> HarnessEvent {
        self.try_event().await.unwrap()
    }

    async fn try_event(&mut self) -> Result<HarnessEvent, HarnessError> {
        tokio::time::timeout(PATIENCE, self.agent.next()).await.expect("an event")
    }

    /// The next event that is nothing to be shown.
    async fn word(&mut self) -> HarnessEvent {
        loop {
            match self.event().await {
                HarnessEvent::Activity(_) => {}
                event => return event,
            }
        }
    }

    /// Expects these events, without those that are only shown.
    async fn expect(&mut self, labels: &[&str]) {
        for expected in labels {
            assert_eq!(label(&self.word().await), *expected);
        }
    }

    /// Waits for what the agent gets, while the harness moves and says nothing but what is shown.
    async fn got(&mut self) -> Got {
        loop {
            tokio::select! {
                got = self.peer.got.recv() => return got.expect("the agent runs"),
                event = self.agent.next() => {
                    let event = event.unwrap();
                    assert!(matches!(event, HarnessEvent::Activity(_)), "{event:?}");
                }
            }
        }
    }

    /// Waits for something of the agent's, while the harness moves; gives what it said meanwhile.
    async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> (T, Vec<String>) {
        let mut said = Vec::new();
        tokio::pin!(future);
        loop {
            tokio::select! {
                done = &mut future => return (done, said),
                event = self.agent.next() => {
                    let event = event.unwrap();
                    if !matches!(event, HarnessEvent::Activity(_)) {
                        said.push(label(&event));
                    }
                }
            }
        }
    }

    async fn inject(&mut self, ids: &[&str]) {
        self.agent.inject(ids.iter().map(|id| handed(id)).collect(), 0).await.unwrap();
    }

    async fn interrupt(&mut self, id: &str) {
        self.agent.interrupt(handed(id)).await.unwrap();
    }

    /// The prompt the agent gets, and where its turn's end goes.
    async fn prompted(&mut self) -> (String, peer::Ends) {
        match self.got().await {
            Got::Prompt(text, ends) => (text, ends),
            other => panic!("no prompt: {other:?}"),
        }
    }
}

fn handed(id: &str) -> Handed {
    let blocks = vec![SeenBlock::Text { text: format!("text of {id}") }];
    let message = SeenMessage { id: id.into(), topic_id: "t".into(), blocks, ..SeenMessage::default() };
    Handed { delivery: Delivery { message, ..Delivery::default() }, delivered_before: false }
}

/// An event in words.
fn label(event: &HarnessEvent) -> String {
    match event {
        HarnessEvent::TurnStarted => "started".into(),
        HarnessEvent::TurnEnded => "ended".into(),
        HarnessEvent::Streaming(streaming) => format!("streaming {streaming}"),
        HarnessEvent::Accepted(ids) => format!("accepted {}", ids.join(",")),
        HarnessEvent::Refused { message_ids, reason } => {
            format!("refused {}: {reason}", message_ids.join(","))
        }
        HarnessEvent::Ask { key, .. } => format!("ask {key}"),
        HarnessEvent::Took { key } => format!("took {key}"),
        HarnessEvent::GaveUp { key } => format!("gave up {key}"),
        HarnessEvent::Withdrew { ask_id } => format!("withdrew {ask_id}"),
        HarnessEvent::Activity(event) => format!("shows {}", shown(&event.activity)),
        HarnessEvent::Ended => "over".into(),
    }
}

fn shown(activity: &Activity) -> String {
    match activity {
        Activity::Text { text } => format!("text {text}"),
        Activity::Thinking { text } => format!("thinking {text}"),
        Activity::ToolCall { id, title, status } => format!("call {id} {title} {status:?}"),
        Activity::ToolCallUpdate { id, status, output, diffs } => {
            format!("update {id} {status:?} {output} {}", diffs.len())
        }
        Activity::Plan { steps } => format!("plan {}", steps.len()),
        Activity::Notice { text } => format!("notice {text}"),
    }
}
