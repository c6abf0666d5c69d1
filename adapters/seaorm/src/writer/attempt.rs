//! One attempt at a batch: lock, load, decide, store, commit.

use compass_domain::Event;
use compass_ports::{ErasedJob, StorageError, Writes};

use super::{changes, fault::Fault, needs::Needs, rows, session::Session};

/// What became of one job of a committed batch.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Decided: stored with these events, or refused without any.
    Decided(Vec<Event>),
    /// Not decided: a row it needs cannot be read.
    Unreadable(StorageError),
}

impl Verdict {
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        match self {
            Self::Decided(events) => std::mem::take(events),
            Self::Unreadable(_) => Vec::new(),
        }
    }

    pub(super) fn stored(self) -> Result<(), StorageError> {
        match self {
            Self::Decided(_) => Ok(()),
            Self::Unreadable(error) => Err(error),
        }
    }
}

/// Runs the jobs as one transaction; each job gets its verdict, in order.
///
/// # Errors
///
/// [`Fault`] if nothing was kept, or if what became of the commit is unknown.
pub(super) async fn run(
    session: &mut Session,
    jobs: &mut [Box<dyn ErasedJob>],
) -> Result<Vec<Verdict>, Fault> {
    let locks: Vec<_> = jobs.iter().map(|job| job.locks()).collect();
    let calls = Needs::of(&locks).calls()?;
    let answers = session.read(&calls).await?;
    let mut found = match rows::read(&calls, answers) {
        Ok(found) => found,
        Err(error) => {
            session.abandon().await;
            return Err(Fault::hopeless(error));
        }
    };

    let mut decided: Vec<Writes> = Vec::with_capacity(jobs.len());
    let mut verdicts = Vec::with_capacity(jobs.len());
    for (job, locks) in jobs.iter_mut().zip(&locks) {
        if let Some(corrupt) = found.unreadable(locks) {
            verdicts.push(Verdict::Unreadable(corrupt.into()));
            continue;
        }
        let mut writes = job.decide(&found.loaded).unwrap_or_default();
        found.loaded.apply(&writes);
        verdicts.push(Verdict::Decided(writes.take_events()));
        decided.push(writes);
    }

    let changes = match changes::of(session.dialect(), &decided) {
        Ok(changes) => changes,
        Err(error) => {
            session.abandon().await;
            return Err(Fault::hopeless(error));
        }
    };
    if changes.is_empty() {
        session.abandon().await;
    } else {
        session.write(&changes).await?;
    }
    Ok(verdicts)
}
