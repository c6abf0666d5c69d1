//! One start of one agent: claimed, bounded in time, and judged by whether its session lasts.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use compass_domain::{ErrorKind, SessionId, UnixMillis};
use compass_ports::StorageError;
use tokio::sync::watch;

use crate::{
    Hub,
    notes::NoteKind,
    ports::LaunchError,
    sessions::{RunnerKey, StartError, Who},
    timing::lock,
};

/// For how long a start is waited for.
const DEADLINE: Duration = Duration::from_mins(1);
/// A session that ends sooner than this after its start counts as a failed one.
const PROVEN: Duration = Duration::from_mins(1);
/// How long a runner that stops may take until its stream ends: its programs end first, side by side.
const LEAVING: Duration = Duration::from_secs(20);
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
    Ended { after: u64, why: Option<String>, on_request: bool },
}

impl Failed {
    /// True if this is also what is seen of an agent whose runner stops.
    fn fits_a_stop(&self) -> bool {
        match self {
            Self::Ended { on_request, .. } => *on_request,
            Self::Start(StartError::Runner { error, .. }) => matches!(
                error,
                LaunchError::NotAttached
                    | LaunchError::Detached
                    | LaunchError::Refused { kind: ErrorKind::FailedPrecondition, .. }
            ),
            Self::Late | Self::Start(_) => false,
        }
    }
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
    let runner = RunnerKey::Named { tenant: tenant.clone(), name: placement.runner.clone() };
    hub.settled(&runner).await;
    if !placements.claim_wake(tenant, *account, CLAIM_MS).await? {
        return Ok(());
    }
    tracing::info!(account.id = %account, runner = placement.runner, "a sleeping agent is started");
    let since = hub.ports.clock.now();
    let end = hub.enrollments.end_of_stream(&runner);
    let outcome = match tokio::time::timeout(DEADLINE, hub.start_placed(tenant, *account)).await {
        Err(_) => Err(Failed::Late),
        Ok(Ok(session)) => prove(hub, who, session, since).await,
        // Someone else was faster.
        Ok(Err(StartError::AlreadyLive { .. })) => Ok(()),
        Ok(Err(error)) => Err(Failed::Start(error)),
    };
    let outcome = match outcome {
        // Nobody failed: what is owed starts the agent when its runner is back.
        Err(failed) if failed.fits_a_stop() && leaves(end).await => Ok(()),
        outcome => outcome,
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
    let mut on_request = false;
    if let Some(entry) = hub.registry.get(session) {
        let lasted = tokio::time::timeout(PROVEN, entry.closed.cancelled()).await.is_err();
        if lasted {
            hub.notes.works(who, hub.ports.clock.now());
        }
        if lasted || entry.is_unwanted.load(Ordering::Relaxed) {
            return Ok(());
        }
        on_request = entry.has_stopped.load(Ordering::Relaxed);
    }
    let (after, why) = (began.elapsed().as_secs(), hub.notes.failure_since(who, since));
    Err(Failed::Ended { after, why, on_request })
}

/// Waits, within a bound, until the stream that a runner had is gone; false if it stays.
async fn leaves(end: Option<watch::Receiver<()>>) -> bool {
    let Some(mut end) = end else { return true };
    // It ends with the sender.
    tokio::time::timeout(LEAVING, end.changed()).await.is_ok()
}
