//! Open streams ask again whether their tokens work: all at the same moments, and many with one read.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use compass_comms::{
    Comms,
    tokens::authenticate::{self, Principal, authenticate_all},
};
use compass_ports::StorageError;
use tokio::{sync::oneshot, time::Instant};
use tonic::Status;

use crate::{error::DoorError, status::status};

/// How often an open stream asks again whether its token still works.
pub const RECHECKED: Duration = Duration::from_secs(15);
/// Tokens of one read at the most.
const PART: usize = 256;

/// Who a token stands for, or why it stands for nobody.
type Told = Result<Principal, Status>;

/// What open streams ask.
pub(crate) struct Rechecks {
    comms: Comms,
    /// Every moment at which streams ask is a whole number of [`RECHECKED`] after this one.
    began: Instant,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<(Arc<str>, oneshot::Sender<Told>)>,
    /// True while a task answers what waits.
    is_answered: bool,
}

impl Rechecks {
    /// Checks tokens against the storage of `comms`.
    pub(crate) fn new(comms: Comms) -> Self {
        Self { comms, began: Instant::now(), queue: Mutex::default() }
    }

    /// Waits for the next moment at which streams ask, [`RECHECKED`] at the most.
    pub(crate) async fn due(&self) {
        let rounds = self.began.elapsed().as_millis() / RECHECKED.as_millis() + 1;
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        tokio::time::sleep_until(self.began + RECHECKED * rounds).await;
    }

    /// Asks who a token stands for now, together with the other streams that ask.
    pub(crate) async fn ask(self: &Arc<Self>, token: &Arc<str>) -> Told {
        let (tell, told) = oneshot::channel();
        let is_answered = {
            let mut queue = self.queue();
            queue.waiting.push((Arc::clone(token), tell));
            mem::replace(&mut queue.is_answered, true)
        };
        if !is_answered {
            self.comms.tasks.spawn(Arc::clone(self).answer());
        }
        let lost = |_| Err(refusal(StorageError::Internal("a check of a token was lost".into())));
        told.await.unwrap_or_else(lost)
    }

    /// Answers until nothing waits.
    async fn answer(self: Arc<Self>) {
        loop {
            // Streams that were due at the same moment come first, and so does everyone else's work between two reads.
            tokio::task::yield_now().await;
            let part: Vec<_> = {
                let mut queue = self.queue();
                let taken = queue.waiting.len().min(PART);
                queue.is_answered = taken > 0;
                queue.waiting.drain(..taken).collect()
            };
            if part.is_empty() {
                return;
            }
            let values: Vec<&str> = part.iter().map(|(token, _)| &**token).collect();
            let found = match authenticate_all(&self.comms, &values).await {
                Ok(found) => {
                    found.into_iter().map(|principal| principal.ok_or_else(unauthenticated)).collect()
                }
                Err(failed) => vec![Err(refusal(failed)); part.len()],
            };
            for ((_, tell), told) in part.into_iter().zip(found) {
                // A stream that ended meanwhile hears nothing.
                drop(tell.send(told));
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unauthenticated() -> Status {
    status(&DoorError::Unauthenticated)
}

fn refusal(failed: StorageError) -> Status {
    status(&authenticate::Error::Storage(failed))
}
