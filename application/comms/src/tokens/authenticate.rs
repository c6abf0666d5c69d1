//! Finds out who calls from the token that came with the call.

use compass_domain::{AccountId, Actor, ActorKind, Classified, ErrorKind, TenantId};
use compass_ports::StorageError;

use super::value;
use crate::{Caller, Comms, ports::Subject};

/// Who a token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// A person or an agent.
    Account(Caller),
    /// A runner.
    Runner {
        /// Whose rows.
        tenant: TenantId,
        /// The runner's id.
        runner: String,
    },
}

/// Why a token is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown, revoked, expired, malformed or of the wrong kind: one answer for all.
    #[error("the token is missing or does not work")]
    Unauthenticated,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unauthenticated => ErrorKind::Unauthenticated,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// The account or runner that a token's value stands for.
///
/// # Errors
///
/// [`Error`] if the token does not work, or storage fails.
pub async fn authenticate(comms: &Comms, token_value: &str) -> Result<Principal, Error> {
    let hash = value::parse(token_value).ok_or(Error::Unauthenticated)?;
    let found = comms.storage.find_token(&hash).await?;
    let found = found.filter(|(_, row)| value::is_kept_by(&hash, row) && row.works_at(comms.clock.now()));
    let Some((tenant, row)) = found else { return Err(Error::Unauthenticated) };
    match row.subject {
        Subject::Runner(runner) => Ok(Principal::Runner { tenant, runner }),
        Subject::SignIn(_) => Err(Error::Unauthenticated),
        Subject::Account(account) => {
            let actor = actor(comms, &tenant, account).await?;
            Ok(Principal::Account(Caller { tenant, actor }))
        }
    }
}

async fn actor(comms: &Comms, tenant: &TenantId, account: AccountId) -> Result<Actor, Error> {
    let found = comms.storage.read(tenant).await?.find_account(account).await?;
    let actor = found.map(|account| account.actor()).ok_or(Error::Unauthenticated)?;
    match actor.kind {
        ActorKind::User { .. } | ActorKind::Agent { .. } => Ok(actor),
        ActorKind::System => Err(Error::Unauthenticated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ports::MockStorage,
        testing::{ports_over, unreachable_storage},
    };

    #[tokio::test]
    async fn storage_that_cannot_be_reached_is_no_bad_token() {
        let comms = ports_over(unreachable_storage()).await;
        let error = authenticate(&comms, &"A".repeat(43)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }

    #[tokio::test]
    async fn what_has_not_the_form_of_a_token_is_refused_without_a_read() {
        let comms = ports_over(MockStorage::new()).await;
        for token in ["", "short", &"A".repeat(44), &"=".repeat(43)] {
            let error = authenticate(&comms, token).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        }
    }
}
