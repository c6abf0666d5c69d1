//! Finds out who calls from the token that came with the call.

use std::collections::{BTreeMap, HashMap};

use compass_domain::{AccountId, Actor, ActorKind, Classified, ErrorKind, TenantId};
use compass_ports::StorageError;

use super::value;
use crate::{
    Caller, Comms,
    ports::{Subject, TokenHash, TokenRow},
};

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
    let mut found = authenticate_all(comms, &[token_value]).await?;
    found.pop().flatten().ok_or(Error::Unauthenticated)
}

/// The same for many values: what each stands for, in their order, and none for one that does not work. However many
/// they are, the tokens are one read and their accounts one for each tenant.
///
/// # Errors
///
/// [`StorageError`] if storage fails.
pub async fn authenticate_all(
    comms: &Comms,
    values: &[&str],
) -> Result<Vec<Option<Principal>>, StorageError> {
    let hashes: Vec<Option<TokenHash>> = values.iter().map(|value| value::parse(value)).collect();
    let wanted: Vec<TokenHash> = hashes.iter().flatten().copied().collect();
    if wanted.is_empty() {
        return Ok(vec![None; values.len()]);
    }
    let mut tokens = comms.storage.find_tokens(&wanted).await?;
    let now = comms.clock.now();
    tokens.retain(|(_, row)| row.works_at(now));
    let actors = actors(comms, &tokens).await?;
    let tokens: HashMap<TokenHash, &(TenantId, TokenRow)> =
        tokens.iter().map(|token| (token.1.hash, token)).collect();
    let found = hashes.iter().map(|hash| {
        let hash = hash.as_ref()?;
        let (tenant, row) = tokens.get(hash).filter(|token| value::is_kept_by(hash, &token.1))?;
        match &row.subject {
            Subject::Runner(runner) => {
                Some(Principal::Runner { tenant: tenant.clone(), runner: runner.clone() })
            }
            Subject::SignIn(_) => None,
            Subject::Account(account) => {
                let actor = *actors.get(&(tenant, *account))?;
                Some(Principal::Account(Caller { tenant: tenant.clone(), actor }))
            }
        }
    });
    Ok(found.collect())
}

/// Who the accounts of these tokens are; the system is nobody who calls.
async fn actors<'a>(
    comms: &Comms,
    tokens: &'a [(TenantId, TokenRow)],
) -> Result<HashMap<(&'a TenantId, AccountId), Actor>, StorageError> {
    let mut of_tenants: BTreeMap<&TenantId, Vec<AccountId>> = BTreeMap::new();
    for (tenant, row) in tokens {
        if let Subject::Account(account) = row.subject {
            of_tenants.entry(tenant).or_default().push(account);
        }
    }
    let mut actors = HashMap::new();
    for (tenant, accounts) in of_tenants {
        for account in comms.storage.read(tenant).await?.find_accounts(&accounts).await? {
            let actor = account.actor();
            match actor.kind {
                ActorKind::User { .. } | ActorKind::Agent { .. } => {
                    actors.insert((tenant, actor.id), actor);
                }
                ActorKind::System => {}
            }
        }
    }
    Ok(actors)
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
