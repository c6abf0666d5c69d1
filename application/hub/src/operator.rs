//! An operator's view: agents with all that keeps them from being reached, and what is wrong.

use std::collections::{BTreeSet, HashMap};

use compass_domain::{AccountId, Actor, MessageId, Presence, TenantId};
use compass_ports::{PresenceSource as _, StorageError};

use crate::{
    Hub,
    notes::Note,
    ports::{Backlog, LiveSession, Placement},
};

/// Messages that a diagnosis reads of each kind.
const EXAMINED: u32 = 10_000;
/// Longer than any message may be held.
const OVERDUE_MS: u32 = 11 * 60 * 1000;
/// Findings of one kind at the most.
const FINDINGS_MAX: u32 = 100;

/// One agent, and what stands between it and its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentView {
    /// Who it is and what it is owed.
    pub backlog: Backlog,
    /// What others see of it.
    pub presence: Presence,
    /// Its live sessions on every node.
    pub sessions: Vec<LiveSession>,
    /// Where it is started.
    pub placement: Option<Placement>,
    /// Messages it wrote that wait here for the end of its turn.
    pub held: u32,
    /// What went wrong for it lately on this node, oldest first.
    pub notes: Vec<Note>,
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// A message, or an ask in it, cannot be read.
    Corrupt,
    /// Starts of an agent fail.
    FailingWake,
    /// An agent sleeps and is owed something, and its runner is not attached here.
    NoRunner,
    /// A message waits for longer than it may to be routed.
    Overdue,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// What is wrong, in words.
    pub text: String,
    /// The agent it is about.
    pub account: Option<AccountId>,
    /// The message it is about.
    pub message: Option<MessageId>,
}

/// What a look around found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnosis {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many messages were read.
    pub examined: u32,
}

impl Hub {
    /// The agents of the viewer, or everyone's for an admin, by handle.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if one of the reads failed.
    pub async fn agents(&self, tenant: &TenantId, viewer: Actor) -> Result<Vec<AgentView>, StorageError> {
        let owner = (!viewer.is_admin()).then_some(viewer.id);
        let backlogs = self.ports.overview.backlogs(tenant, owner).await?;
        let accounts: Vec<AccountId> = backlogs.iter().map(|backlog| backlog.account).collect();
        let presence = self.presence_of(tenant, &accounts).await?;
        let mut sessions: HashMap<AccountId, Vec<LiveSession>> = HashMap::new();
        for session in self.ports.ledger.live_sessions(tenant, Some(&accounts)).await? {
            sessions.entry(session.account).or_default().push(session);
        }
        let placed = self.ports.placements.list(tenant).await?.into_iter();
        let mut placed: HashMap<AccountId, Placement> = placed.map(|row| (row.account, row)).collect();
        let view = |backlog: Backlog| {
            let account = backlog.account;
            let who = (tenant.clone(), account);
            AgentView {
                presence: presence.get(&account).copied().unwrap_or(Presence::Offline),
                sessions: sessions.remove(&account).unwrap_or_default(),
                placement: placed.remove(&account),
                held: self.registry.held_by(&who),
                notes: self.notes.of(&who),
                backlog,
            }
        };
        Ok(backlogs.into_iter().map(view).collect())
    }

    /// Looks for what is wrong in a tenant.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if one of the reads failed.
    pub async fn diagnose(&self, tenant: &TenantId) -> Result<Diagnosis, StorageError> {
        let examined = self.ports.overview.examine(tenant, EXAMINED).await?;
        let corrupt = examined.corrupt.into_iter().map(|(message, reason)| Finding {
            kind: FindingKind::Corrupt,
            text: format!("message {message} cannot be read: {reason}"),
            account: None,
            message: Some(message),
        });
        let mut findings: Vec<Finding> = corrupt.take(FINDINGS_MAX as usize).collect();
        findings.extend(self.wake_findings(tenant).await?);
        let left = self.ports.ledger.unrouted(self.ports.node, OVERDUE_MS, FINDINGS_MAX).await?;
        let left = left.into_iter().filter(|(of, ..)| of == tenant);
        findings.extend(left.map(|(_, message, author)| Finding {
            kind: FindingKind::Overdue,
            text: format!("message {message} has waited for more than {} min", OVERDUE_MS / 60_000),
            account: Some(author),
            message: Some(message),
        }));
        Ok(Diagnosis { findings, examined: examined.messages })
    }

    /// Agents that cannot be started, and agents that nobody here can start.
    async fn wake_findings(&self, tenant: &TenantId) -> Result<Vec<Finding>, StorageError> {
        let placed = self.ports.placements.list(tenant).await?;
        let live = self.ports.ledger.live_sessions(tenant, None).await?;
        let live: BTreeSet<AccountId> = live.into_iter().map(|session| session.account).collect();
        let attached: BTreeSet<String> = self.ports.launcher.attached(tenant).into_iter().collect();
        let stranded = placed.iter().filter(|row| !attached.contains(&row.runner));
        let runners: BTreeSet<String> = stranded.map(|row| row.runner.clone()).collect();
        let runners: Vec<String> = runners.into_iter().collect();
        let due: BTreeSet<AccountId> = if runners.is_empty() {
            BTreeSet::new()
        } else {
            self.ports.placements.due_wakes(tenant, &runners).await?.into_iter().collect()
        };
        let mut findings = Vec::new();
        for row in placed {
            if row.wake_failures > 0 && !live.contains(&row.account) {
                let error = row.wake_error.as_deref().unwrap_or("no reason was kept");
                let starts = if row.wake_failures == 1 { "start" } else { "starts" };
                findings.push(Finding {
                    kind: FindingKind::FailingWake,
                    text: format!("{} {starts} on runner {} failed: {error}", row.wake_failures, row.runner),
                    account: Some(row.account),
                    message: None,
                });
            }
            if due.contains(&row.account) {
                findings.push(Finding {
                    kind: FindingKind::NoRunner,
                    text: format!("it is owed messages, and runner {} is not attached", row.runner),
                    account: Some(row.account),
                    message: None,
                });
            }
        }
        Ok(findings)
    }
}
