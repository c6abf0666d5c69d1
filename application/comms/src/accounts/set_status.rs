//! Stores what an agent says it is doing, and tells others.

use compass_domain::{Classified, ErrorKind, Event, account::cut_activity, limits::LimitError};
use compass_ports::StorageError;

use crate::{Caller, Comms};

/// What the agent is doing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetStatus {
    /// Cut at [`compass_domain::limits::ACTIVITY_CODE_POINTS`].
    pub activity: String,
}

/// Why a status is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is no agent.
    #[error("only an agent has a status")]
    NotAnAgent,
    /// The text holds a NUL.
    #[error(transparent)]
    Activity(#[from] LimitError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAnAgent => ErrorKind::PermissionDenied,
            Self::Activity(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Stores the calling agent's activity in place of the one before.
///
/// # Errors
///
/// [`Error`] if the caller is no agent, the text cannot be stored, or storage fails.
pub async fn set_status(comms: &Comms, caller: &Caller, status: SetStatus) -> Result<(), Error> {
    if !caller.actor.is_agent() {
        return Err(Error::NotAnAgent);
    }
    let activity = cut_activity(&status.activity)?;
    let agent = caller.actor.id;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    unit.accounts().put_activity(agent, &activity, comms.clock.now()).await?;
    let events = vec![Event::ActivityChanged { agent, activity }];
    Ok(comms.finish(&caller.tenant, unit, events).await?)
}

#[cfg(test)]
mod tests {
    use compass_ports::Next;

    use super::*;
    use crate::testing::{agent, caller, ports_over, unreachable_storage};

    #[tokio::test]
    async fn a_status_that_is_not_stored_is_not_told() {
        let comms = ports_over(unreachable_storage()).await;
        let caller = caller(agent(2));
        let mut events = comms.bus.tap();
        let error = set_status(&comms, &caller, SetStatus { activity: "busy".into() }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let canary = Event::ActivityChanged { agent: caller.actor.id, activity: "canary".into() };
        comms.bus.publish(&caller.tenant, vec![canary.clone()]);
        let Next::Event(told) = events.next().await else { panic!("an event") };
        assert_eq!(told.event, canary);
    }
}
