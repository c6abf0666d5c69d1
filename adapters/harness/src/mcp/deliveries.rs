//! What an agent is owed, on its way to the model in the results of tools: one result at a time carries something.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use compass_agent::{
    guard::Randomness,
    pickup::{self, Limits, Picked},
    ports::{Journal, Mailbox},
};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::task::TaskTracker;

/// How long reading what is owed may hold up a tool's own result.
const READING: Duration = Duration::from_secs(5);

/// Gives the deliveries of the agent once they can be read at all.
#[async_trait]
pub trait Source: Send + Sync {
    /// The deliveries; none while the server cannot be reached, or if nothing is owed this way.
    async fn deliveries(&self) -> Option<Deliveries>;
}

/// What one agent is owed. Clones are the same.
#[derive(Clone)]
pub struct Deliveries(Arc<Parts>);

struct Parts {
    mailbox: Arc<dyn Mailbox>,
    journal: Mutex<Box<dyn Journal>>,
    /// Held from the reading until it is known what became of the result.
    turn: Arc<Mutex<()>>,
    reader: String,
    random: &'static Randomness,
    tasks: TaskTracker,
}

impl Deliveries {
    /// What the account `reader` finds in its mailbox, marked in its journal; receipts leave on tasks of `tasks`.
    pub fn new(
        mailbox: Arc<dyn Mailbox>,
        journal: Box<dyn Journal>,
        reader: String,
        random: &'static Randomness,
        tasks: TaskTracker,
    ) -> Self {
        let (journal, turn) = (Mutex::new(journal), Arc::default());
        Self(Arc::new(Parts { mailbox, journal, turn, reader, random, tasks }))
    }

    /// Takes up what fits one result, or nothing: if nothing is owed, if it cannot be read now, or if another result
    /// is on its way for longer than `patience`.
    pub(super) async fn take_up(&self, patience: Duration) -> Option<Carried> {
        let parts = &*self.0;
        let turn = tokio::time::timeout(patience, Arc::clone(&parts.turn).lock_owned()).await.ok()?;
        let mut journal = parts.journal.lock().await;
        let picking = pickup::pick_up(
            &*parts.mailbox,
            &mut **journal,
            Limits::TOOL_RESULT,
            &parts.reader,
            parts.random,
        );
        match tokio::time::timeout(READING, picking).await {
            Ok(Ok(picked)) if picked.text.is_empty() => None,
            Ok(Ok(picked)) => Some(Carried { deliveries: self.clone(), picked, turn }),
            Ok(Err(error)) => {
                tracing::warn!(%error, "what the agent is owed cannot be read now");
                None
            }
            Err(_) => {
                tracing::warn!(seconds = READING.as_secs(), "what the agent is owed was not read in time");
                None
            }
        }
    }
}

#[async_trait]
impl Source for Deliveries {
    async fn deliveries(&self) -> Option<Deliveries> {
        Some(self.clone())
    }
}

/// Messages that stand in a result. Dropped, they come again and say that they may have been read.
pub(super) struct Carried {
    deliveries: Deliveries,
    picked: Picked,
    turn: OwnedMutexGuard<()>,
}

impl Carried {
    /// What the model reads.
    pub(super) fn text(&self) -> &str {
        &self.picked.text
    }

    /// The result got there: acknowledges its messages on a task of its own, which the caller may wait for.
    pub(super) fn got_there(self) -> tokio::task::JoinHandle<()> {
        let Self { deliveries, picked, turn } = self;
        let tasks = deliveries.0.tasks.clone();
        tasks.spawn(async move {
            let parts = &*deliveries.0;
            let mut journal = parts.journal.lock().await;
            if let Err(error) = pickup::took(&*parts.mailbox, &mut **journal, picked).await {
                // It is marked as taken, and acknowledged before anything else is read.
                tracing::warn!(%error, "a receipt did not leave");
            }
            drop(turn);
        })
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").field("messages", &self.picked.message_ids).finish_non_exhaustive()
    }
}
