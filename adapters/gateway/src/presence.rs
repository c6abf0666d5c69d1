//! Being seen: a session of an agent that takes no messages, for as long as its process runs.

use std::time::Duration;

use compass_agent::ports::{Link as _, LinkEvent, TurnState};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    endpoint::Endpoint,
    link::{Attach, Mode, RunnerLink},
};

/// How long to wait before a server that ended the link is asked again.
const AGAIN: Duration = Duration::from_secs(30);

/// Keeps an agent present until `stop`, through every loss of the connection.
///
/// It counts as between turns, because nobody tells us of its turns: what it posts goes out at once. A session that a
/// person ends stays ended until the connection is made anew.
pub async fn stay_present(
    endpoint: &Endpoint,
    instance_id: &str,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    loop {
        let attach = Attach { instance_id: instance_id.to_owned(), mode: Mode::PresenceOnly };
        let (mut link, _) = RunnerLink::start(endpoint, attach, tasks);
        tokio::select! {
            () = stop.cancelled() => return,
            () = attached(&mut link) => {}
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}

/// Lasts until the link is over.
async fn attached(link: &mut RunnerLink) {
    while let Some(event) = link.next().await {
        match event {
            LinkEvent::Attached { .. } => link.report(TurnState::Ready).await,
            LinkEvent::Ended { code, reason } => {
                tracing::warn!(code, reason, "the agent is not shown as present");
                return;
            }
            LinkEvent::Detached { reason } => tracing::debug!(reason, "the link is being made again"),
            // Such a session is sent nothing; what came all the same is owed until somebody takes it.
            LinkEvent::Delivery(_) | LinkEvent::Prompt(_) | LinkEvent::Stopped => {}
        }
    }
}
