//! One attempt at a batch: lock, load, decide, store, commit.

use compass_domain::Event;
use compass_ports::{ErasedJob, StorageError, Writes};

use super::{changes, fault::Fault, known::Known, needs::Needs, rows, session::Session};

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
    known: &mut Known,
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

    let changes = match changes::of(&decided) {
        Ok(changes) => changes,
        Err(error) => {
            session.abandon().await;
            return Err(Fault::hopeless(error));
        }
    };
    if changes.is_empty() {
        session.abandon().await;
    } else if let Err(fault) = session.write(&changes).await {
        known.forget();
        return Err(fault);
    }
    if session.can_guess() {
        known.learn(found.loaded, &decided);
    }
    Ok(verdicts)
}

/// Runs one job by one statement, if what it needs is known; none if it is not, or was not as known, or the job is
/// refused: then it must be decided under locks.
///
/// # Errors
///
/// [`Fault`] if what became of the commit is unknown.
pub(super) async fn guess(
    session: &mut Session,
    known: &mut Known,
    job: &mut dyn ErasedJob,
) -> Result<Option<Verdict>, Fault> {
    let Session::Postgres(postgres) = session else { return Ok(None) };
    let Some(mut guess) = known.guess(&job.locks()) else { return Ok(None) };
    let Some(mut writes) = job.decide(&guess.loaded) else { return Ok(None) };
    let changes = changes::of_guess(&writes, &guess).map_err(Fault::hopeless)?;
    if changes.is_empty() {
        return Ok(None);
    }
    match postgres.write_known(&changes).await {
        Ok(()) => {
            guess.loaded.apply(&writes);
            let verdict = Verdict::Decided(writes.take_events());
            known.learn(guess.loaded, std::slice::from_ref(&writes));
            Ok(Some(verdict))
        }
        Err(fault) => {
            known.forget();
            if matches!(fault.error, StorageError::OutcomeUnknown(_)) {
                return Err(fault);
            }
            tracing::debug!(error = %fault.error, "a job is decided under locks");
            Ok(None)
        }
    }
}
