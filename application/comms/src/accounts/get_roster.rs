//! The agents around an account, with their presence and what they say they do.

use std::collections::HashMap;

use compass_domain::{Account, AccountId, Classified, ErrorKind, Presence, UnixMillis, roster::RosterScope};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// Whose surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GetRoster {
    /// How far it reaches.
    pub scope: RosterScope,
    /// From where it is seen; the caller if absent.
    pub vantage: Option<AccountId>,
}

/// One agent of a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterEntry {
    /// The agent.
    pub agent: Account,
    /// What it is doing by its sessions; offline if none was ever seen.
    pub presence: Presence,
    /// What it last said it does, and when; absent if it never did.
    pub activity: Option<(String, UnixMillis)>,
}

/// Why there is no roster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The vantage does not exist, or the caller may not see it.
    #[error("agent not found")]
    VantageNotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::VantageNotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// The agents of the scope that the caller may see, by id.
///
/// # Errors
///
/// [`Error`] if the vantage is none the caller may see, or storage fails.
pub async fn get_roster(comms: &Comms, caller: &Caller, get: GetRoster) -> Result<Vec<RosterEntry>, Error> {
    let vantage = get.vantage.unwrap_or(caller.actor.id);
    let mut unit = comms.storage.read(&caller.tenant).await?;
    if !unit.sees_account(caller.actor, vantage).await? {
        return Err(Error::VantageNotFound);
    }
    let agents = unit.list_roster(caller.actor, vantage, get.scope).await?;
    let ids: Vec<AccountId> = agents.iter().map(|agent| agent.id).collect();
    let said = unit.list_activities(&ids).await?;
    // Presence has a snapshot of its own, and a database may have few connections.
    drop(unit);
    let presence = comms.presence.presence_of(&caller.tenant, &ids).await?;
    let mut said: HashMap<AccountId, (String, UnixMillis)> =
        said.into_iter().map(|(agent, activity, at)| (agent, (activity, at))).collect();
    let entry = |agent: Account| RosterEntry {
        presence: presence.get(&agent.id).copied().unwrap_or(Presence::Offline),
        activity: said.remove(&agent.id),
        agent,
    };
    Ok(agents.into_iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{caller, person, ports_over, unreachable_storage};

    #[tokio::test]
    async fn a_roster_that_cannot_be_read_is_no_empty_one() {
        let comms = ports_over(unreachable_storage()).await;
        let error = get_roster(&comms, &caller(person(1)), GetRoster::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
}
