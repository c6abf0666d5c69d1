//! What a named runner runs when its stream opens: its sessions are bound again, or ended.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use compass_domain::{AccountId, LifecycleState, SessionId};
use compass_ports::StorageError;

use super::{OpenRequest, RunnerKey, Source, Ticket};
use crate::{
    Hub,
    ports::{Address, AttachMode, Command, LaunchError, Outcome, Reported},
    timing::spread,
};

/// Between two questions that were not answered.
const RETRY: Duration = Duration::from_secs(1);
/// For how long a call or frame waits until it is known what its runner runs.
const SETTLING: Duration = Duration::from_secs(10);

/// Why a runner's sessions are not bound again yet.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Runner(#[from] LaunchError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What becomes of what a runner runs.
#[derive(Debug, Default)]
struct Verdict {
    bind: Vec<(SessionId, AccountId, LifecycleState)>,
    stop: Vec<SessionId>,
}

impl Hub {
    /// Asks a named runner whose stream has opened what it runs, until it answers: what is its own is bound again
    /// and swept, what is not is stopped, and what it does not run any more is closed.
    ///
    /// The caller drops this when the stream ends.
    pub async fn rebind(&self, runner: &RunnerKey, instance: &str, ticket: Ticket) {
        while let Err(error) = self.try_rebind(runner).await {
            tracing::warn!(runner = runner.name(), %error, "a runner's sessions are not bound again yet");
            tokio::time::sleep(spread(RETRY, &*self.ports.ids)).await;
        }
        self.enrollments.rebound(runner, instance, ticket);
        self.wakes.suggest(runner.tenant());
    }

    /// Waits, within a bound, until it is known what a runner runs whose stream is open.
    pub async fn settled(&self, runner: &RunnerKey) {
        if let Some(mut rebinding) = self.enrollments.rebinding(runner) {
            // It ends with the sender; what is not known by then is answered as unknown.
            drop(tokio::time::timeout(SETTLING, rebinding.changed()).await);
        }
    }

    async fn try_rebind(&self, runner: &RunnerKey) -> Result<(), Error> {
        let before = self.registry.of_runner(runner);
        let address = Address::Runner(runner.clone());
        let status = Command::Status { session: None };
        let Outcome::Status(reported) = self.command(&address, &self.request_id(), status).await? else {
            return Err(LaunchError::Mismatch.into());
        };
        let verdict = self.judge(runner, &reported).await?;
        for (session, account, state) in &verdict.bind {
            self.bind_again(runner, *session, *account, *state, before.get(session).copied()).await?;
        }
        for session in verdict.stop {
            tracing::warn!(session.id = %session, runner = runner.name(), "a runner runs a session that is not its own");
            self.stop_unwanted_later(address.clone(), session);
        }
        let runs: HashSet<SessionId> = verdict.bind.iter().map(|(session, ..)| *session).collect();
        for session in before.into_keys().filter(|session| !runs.contains(session)) {
            self.close(session).await?;
        }
        Ok(())
    }

    /// A listed session is the runner's if its row and its account's placement name the runner, and no other live
    /// session has taken its place.
    async fn judge(&self, runner: &RunnerKey, reported: &[Reported]) -> Result<Verdict, StorageError> {
        let (tenant, name) = (runner.tenant(), runner.name());
        let is_over =
            |state: LifecycleState| matches!(state, LifecycleState::Stopped | LifecycleState::Errored);
        let listed: Vec<(SessionId, LifecycleState)> = reported
            .iter()
            .filter(|reported| !is_over(reported.state))
            .filter_map(|reported| Some((reported.session?, reported.state)))
            .collect();
        if listed.is_empty() {
            return Ok(Verdict::default());
        }
        let ids: Vec<SessionId> = listed.iter().map(|(session, _)| *session).collect();
        let rows = self.ports.ledger.find_sessions(tenant, &ids).await?;
        let owners: HashMap<SessionId, AccountId> = rows
            .into_iter()
            .filter(|row| row.runner == name && row.mode == AttachMode::Deliveries)
            .map(|row| (row.session, row.account))
            .collect();
        let placed = self.ports.placements.of_runner(tenant, &name).await?;
        let placed: HashSet<AccountId> = placed.into_iter().map(|placement| placement.account).collect();
        let accounts: Vec<AccountId> = owners.values().copied().collect();
        let live = self.ports.ledger.live_sessions(tenant, Some(&accounts)).await?;
        let mut taken: HashMap<AccountId, SessionId> = HashMap::new();
        for row in live.iter().filter(|row| row.mode == AttachMode::Deliveries && row.state.is_live()) {
            taken.insert(row.account, row.session);
        }
        let mut verdict = Verdict::default();
        for (session, state) in listed {
            let owner = owners.get(&session).filter(|account| placed.contains(account));
            match owner {
                Some(account) if *taken.entry(*account).or_insert(session) == session => {
                    verdict.bind.push((session, *account, state));
                }
                // Its start is not answered yet.
                None if self.enrollments.minted(runner, session).is_some() => {}
                _ => verdict.stop.push(session),
            }
        }
        Ok(verdict)
    }

    async fn bind_again(
        &self,
        runner: &RunnerKey,
        session: SessionId,
        account: AccountId,
        state: LifecycleState,
        asked_at: Option<u64>,
    ) -> Result<(), StorageError> {
        if let Some(asked_at) = asked_at
            && self.registry.get(session).is_some()
        {
            self.ports.launcher.lead(runner, session);
            self.registry.confirm(session, true);
            self.report_bound(session, state, Source::Answer(asked_at)).await?;
            self.attached(session);
            return Ok(());
        }
        let mode = AttachMode::Deliveries;
        let starts = state == LifecycleState::Starting;
        self.open_as(OpenRequest { runner: runner.clone(), account, mode, session }, starts).await?;
        self.report_bound(session, state, Source::Early).await
    }
}
