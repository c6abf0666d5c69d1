//! One start of one agent: claimed, bounded in time, and judged by whether its session lasts.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use compass_domain::{SessionId, UnixMillis};
use compass_ports::StorageError;

use crate::{
    Hub,
    notes::NoteKind,
    sessions::{RunnerKey, StartError, Who},
    timing::lock,
};

/// For how long a start is waited for.
const DEADLINE: Duration = Duration::from_mins(1);
/// A session that ends sooner than this after its start counts as a failed one.
const PROVEN: Duration = Duration::from_mins(1);
/// For how long others leave the agent alone: the start, the proof, and some room.
const CLAIM_MS: u32 = 150_000;

/// Agents that are being started here, so that a second wish joins the first.
#[derive(Debug, Default)]
pub(crate) struct Underway {
    agents: Mutex<HashSet<Who>>,
}

impl Underway {
    fn begin(&self, who: &Who) -> bool {
        lock(&self.agents).insert(who.clone())
    }

    fn end(&self, who: &Who) {
        lock(&self.agents).remove(who);
    }
}

/// Why a wake failed, in the words that an operator reads.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("the agent was not started within {} s", DEADLINE.as_secs())]
    Late,
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("its session ended {after} s after its start{}", .why.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
    Ended { after: u64, why: Option<String> },
}

/// Starts an agent on a task of its own, unless it is being started already.
pub(super) fn spawn(hub: &Arc<Hub>, who: Who) {
    if !hub.wakes.underway.begin(&who) {
        return;
    }
    let hub = Arc::clone(hub);
    let tasks = hub.ports.tasks.clone();
    tasks.spawn(async move {
        let stop = hub.ports.stop.clone();
        if let Some(Err(error)) = stop.run_until_cancelled(wake(&hub, &who)).await {
            tracing::warn!(account.id = %who.1, %error, "a wake was not recorded");
        }
        hub.wakes.underway.end(&who);
    });
}

async fn wake(hub: &Hub, who: &Who) -> Result<(), StorageError> {
    let (tenant, account) = who;
    let placements = &hub.ports.placements;
    let Some(placement) = placements.find(tenant, *account).await? else { return Ok(()) };
    // A runner that just came back may run the agent still.
    hub.settled(&RunnerKey::Named { tenant: tenant.clone(), name: placement.runner.clone() }).await;
    if !placements.claim_wake(tenant, *account, CLAIM_MS).await? {
        return Ok(());
    }
    tracing::info!(account.id = %account, runner = placement.runner, "a sleeping agent is started");
    let since = hub.ports.clock.now();
    let outcome = match tokio::time::timeout(DEADLINE, hub.start_placed(tenant, *account)).await {
        Err(_) => Err(Failed::Late),
        Ok(Ok(session)) => prove(hub, who, session, since).await,
        // Someone else was faster.
        Ok(Err(StartError::AlreadyLive { .. })) => Ok(()),
        Ok(Err(error)) => Err(Failed::Start(error)),
    };
    match outcome {
        Ok(()) => placements.wake_done(tenant, *account, Ok(())).await,
        Err(error) => {
            let text = error.to_string();
            tracing::warn!(account.id = %account, %error, "a sleeping agent was not started");
            hub.note(tenant, *account, NoteKind::Failed, &format!("wake: {text}"));
            placements.wake_done(tenant, *account, Err(&text)).await
        }
    }
}

/// Waits until a session has lasted long enough to call its start a success, or until somebody ends it.
async fn prove(hub: &Hub, who: &Who, session: SessionId, since: UnixMillis) -> Result<(), Failed> {
    let began = tokio::time::Instant::now();
    if let Some(entry) = hub.registry.get(session) {
        let lasted = tokio::time::timeout(PROVEN, entry.closed.cancelled()).await.is_err();
        if lasted || entry.is_unwanted.load(Ordering::Relaxed) {
            return Ok(());
        }
    }
    Err(Failed::Ended { after: began.elapsed().as_secs(), why: hub.notes.failure_since(who, since) })
}
