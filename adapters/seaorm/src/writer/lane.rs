//! One tenant's lane: takes the waiting jobs, runs them as a batch, tells their events, completes their callers.

use std::{sync::Arc, time::Duration};

use compass_domain::{Event, TenantId};
use compass_ports::{ErasedJob, EventBus, StorageError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    attempt::{self, Verdict},
    fault::{Cure, Fault},
    known::Known,
    session::Session,
};

/// Jobs of one batch at the most.
const BATCH: usize = 64;
/// How often a job is tried alone before its caller is told.
const TRIES: u32 = 5;
/// The same where each try is on a new connection.
const CONNECTS: u32 = 3;
/// Before the second try on a new connection; doubles with each further one.
const RECONNECT_DELAY: Duration = Duration::from_millis(20);

pub(super) struct Lane {
    pub(super) tenant: TenantId,
    pub(super) session: Session,
    pub(super) known: Known,
    pub(super) bus: Arc<dyn EventBus>,
    pub(super) jobs: mpsc::Receiver<Box<dyn ErasedJob>>,
    pub(super) stop: CancellationToken,
}

impl Lane {
    /// Runs until stopped; what was queued by then is still done.
    pub(super) async fn run(mut self) {
        let mut waiting = Vec::with_capacity(BATCH);
        loop {
            let stopping = self.jobs.is_closed();
            let taken = tokio::select! {
                biased;
                taken = self.jobs.recv_many(&mut waiting, BATCH) => taken,
                () = self.stop.cancelled(), if !stopping => {
                    self.jobs.close();
                    continue;
                }
            };
            if taken == 0 {
                break;
            }
            self.batch(std::mem::take(&mut waiting)).await;
            // Callers that were just completed may queue their next job before the next batch is taken.
            tokio::task::yield_now().await;
        }
        self.session.close().await;
    }

    async fn batch(&mut self, mut jobs: Vec<Box<dyn ErasedJob>>) {
        if jobs.len() > 1 {
            match attempt::run(&mut self.session, &mut self.known, &mut jobs).await {
                Ok(verdicts) => return self.finish(jobs, verdicts),
                Err(Fault { error: error @ StorageError::OutcomeUnknown(_), .. }) => {
                    return fail(jobs, &error);
                }
                Err(fault) => {
                    tracing::debug!(jobs = jobs.len(), error = %fault.error, "batch re-runs one job at a time");
                }
            }
        }
        if let [job] = jobs.as_mut_slice() {
            match attempt::guess(&mut self.session, &mut self.known, &mut **job).await {
                Ok(Some(verdict)) => return self.finish(jobs, vec![verdict]),
                Ok(None) => {}
                Err(fault) => return fail(jobs, &fault.error),
            }
        }
        let mut waiting = jobs.into_iter();
        while let Some(job) = waiting.next() {
            if let Err(unreachable) = self.alone(vec![job]).await {
                // The others would only wait as long for the same answer.
                return fail(waiting.collect(), &unreachable);
            }
        }
    }

    /// Runs one job, again where that may help, and completes it; an error says that the database cannot be
    /// reached.
    async fn alone(&mut self, mut job: Vec<Box<dyn ErasedJob>>) -> Result<(), StorageError> {
        let mut delay = RECONNECT_DELAY;
        let mut tries = 1;
        loop {
            let fault = match attempt::run(&mut self.session, &mut self.known, &mut job).await {
                Ok(verdicts) => {
                    self.finish(job, verdicts);
                    return Ok(());
                }
                Err(fault) => fault,
            };
            let most = match fault.cure {
                Cure::Again => TRIES,
                Cure::Reconnect => CONNECTS,
                Cure::None => tries,
            };
            if tries >= most {
                tracing::warn!(tries, error = %fault.error, "a write failed");
                fail(job, &fault.error);
                return if fault.cure == Cure::Reconnect { Err(fault.error) } else { Ok(()) };
            }
            if fault.cure == Cure::Reconnect {
                tokio::time::sleep(delay).await;
                delay *= 2;
            }
            tries += 1;
        }
    }

    /// Publishes in commit order, each job's events as one list, then completes the callers.
    fn finish(&self, jobs: Vec<Box<dyn ErasedJob>>, mut verdicts: Vec<Verdict>) {
        for verdict in &mut verdicts {
            let events = verdict.take_events();
            if !events.is_empty() {
                self.tell(events);
            }
        }
        for (job, verdict) in jobs.into_iter().zip(verdicts) {
            job.complete(verdict.stored());
        }
    }

    fn tell(&self, events: Vec<Event>) {
        self.bus.publish(&self.tenant, events);
    }
}

fn fail(jobs: Vec<Box<dyn ErasedJob>>, error: &StorageError) {
    for job in jobs {
        job.complete(Err(error.clone()));
    }
}
