//! Agents with what waits for them. Rows in memory are values of the domain, so all of them can be read.

use async_trait::async_trait;
use compass_domain::{Account, AccountId, AccountKind, TenantId, delivery::Lane};
use compass_hub::ports::{BACKLOG_MAX, Backlog, Examined, Overview};
use compass_ports::StorageError;

use crate::{
    MemoryStorage,
    audience::{braked, owing},
    rows::TenantRows,
};

#[async_trait]
impl Overview for MemoryStorage {
    async fn backlogs(
        &self,
        tenant: &TenantId,
        owner: Option<AccountId>,
    ) -> Result<Vec<Backlog>, StorageError> {
        let rows = self.world().tenant(tenant);
        let mut found: Vec<Backlog> = rows
            .accounts
            .all()
            .filter_map(|account| backlog(&rows, account))
            .filter(|backlog| owner.is_none_or(|owner| backlog.owner == owner))
            .collect();
        found.sort_by(|one, other| one.handle.cmp(&other.handle));
        Ok(found)
    }

    async fn examine(&self, tenant: &TenantId, limit: u32) -> Result<Examined, StorageError> {
        let all = self.world().tenant(tenant).messages.count();
        Ok(Examined { messages: u32::try_from(all).unwrap_or(limit).min(limit), corrupt: Vec::new() })
    }
}

fn backlog(rows: &TenantRows, agent: &Account) -> Option<Backlog> {
    let AccountKind::Agent { owner, .. } = agent.kind else { return None };
    let owed = owing(rows, agent);
    let of = |wanted| owed.iter().filter(|(lane, _)| *lane == wanted).count();
    let bounded = |count: usize| u32::try_from(count).unwrap_or(BACKLOG_MAX).min(BACKLOG_MAX);
    Some(Backlog {
        account: agent.id,
        handle: agent.handle.as_str().to_owned(),
        owner,
        delivers: bounded(of(Lane::Deliver)),
        steers: bounded(of(Lane::Steer)),
        braked: bounded(braked(rows, agent)),
    })
}
