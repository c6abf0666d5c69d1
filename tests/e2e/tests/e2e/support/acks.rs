//! What agents' programs acknowledge, seen within moments.

#![expect(
    clippy::disallowed_methods,
    reason = "the time of a kill is compared with what a program wrote down"
)]

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rustix::process::Pid;
use serde_json::Value;

use super::{World, runner_process::log};

/// How long one is waited for: far longer than the pause between two of all agents together.
const A_MOMENT: Duration = Duration::from_millis(1_500);

/// The time as the agents' programs write it down.
pub(crate) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_micros()).unwrap()
}

/// An agent's program has just acknowledged a message.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub(crate) handle: String,
    pub(crate) program: Pid,
    pub(crate) at_us: u64,
}

impl Ack {
    /// How long ago that was.
    pub(crate) fn age(&self) -> Duration {
        Duration::from_micros(now_us().saturating_sub(self.at_us))
    }
}

/// Follows the logs of agents' programs.
pub(crate) struct Acks {
    logs: Vec<Log>,
}

struct Log {
    handle: String,
    path: PathBuf,
    /// Bytes that were looked at.
    read: u64,
}

impl Acks {
    pub(crate) fn of(world: &World, handles: impl IntoIterator<Item = String>) -> Self {
        let log = |handle: String| Log { path: log(world, &handle), handle, read: 0 };
        Self { logs: handles.into_iter().map(log).collect() }
    }

    /// The first acknowledgement that is not older than `fresh`; none within a moment if nobody is told anything.
    pub(crate) async fn fresh(&mut self, fresh: Duration) -> Option<Ack> {
        let deadline = tokio::time::Instant::now() + A_MOMENT;
        while tokio::time::Instant::now() < deadline {
            let acks = self.logs.iter_mut().filter_map(|log| log.newest().unwrap());
            let newest = acks.max_by_key(|ack| ack.at_us);
            if let Some(ack) = newest.filter(|ack| ack.age() < fresh) {
                return Some(ack);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        None
    }
}

impl Log {
    /// The newest acknowledgement since the last look.
    fn newest(&mut self) -> io::Result<Option<Ack>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            // No program of this agent has begun yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() == self.read {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let Some(end) = text.rfind('\n') else { return Ok(None) };
        self.read += u64::try_from(end + 1).unwrap();
        let mut notes = text[..end].lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let newest = notes.rfind(|note| note["what"] == "acked");
        Ok(newest.map(|note| Ack {
            handle: self.handle.clone(),
            program: Pid::from_raw(i32::try_from(note["pid"].as_i64().unwrap()).unwrap()).unwrap(),
            at_us: note["at_us"].as_u64().unwrap(),
        }))
    }
}
