//! Which runner a credential stands for.

use compass_hub::sessions::RunnerKey;
use tonic::{Request, Status};

use crate::{
    auth::{self, Identity, Principal},
    error::DoorError,
    status::status,
};

/// The caller and the runner it is.
///
/// # Errors
///
/// Unauthenticated for a person's token, or if no guard stood before the door.
pub(super) fn runner<T>(request: &Request<T>) -> Result<(Identity, RunnerKey), Status> {
    let identity = auth::identity(request)?.clone();
    let key = of(identity.principal()).map_err(|error| status(&error))?;
    Ok((identity, key))
}

fn of(principal: &Principal) -> Result<RunnerKey, DoorError> {
    match principal {
        Principal::Account(caller) if caller.actor.is_agent() => {
            Ok(RunnerKey::Agent { tenant: caller.tenant.clone(), account: caller.actor.id })
        }
        Principal::Account(_) => Err(DoorError::Unauthenticated),
        Principal::Runner { tenant, runner } => {
            Ok(RunnerKey::Named { tenant: tenant.clone(), name: runner.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use compass_comms::Caller;
    use compass_domain::{AccountId, Actor, ActorKind, TenantId, UserRole};

    use super::*;

    fn account(kind: ActorKind) -> Principal {
        let actor = Actor { id: AccountId::from_bytes([7; 16]), kind };
        Principal::Account(Caller { tenant: TenantId::default_tenant(), actor })
    }

    #[test]
    fn an_agent_is_the_runner_of_itself_and_a_person_is_none() {
        let owner = AccountId::from_bytes([1; 16]);
        let agent = of(&account(ActorKind::Agent { owner })).unwrap();
        assert_eq!(agent.name(), AccountId::from_bytes([7; 16]).to_string());
        for kind in [ActorKind::User { role: UserRole::Admin }, ActorKind::System] {
            assert_eq!(of(&account(kind)), Err(DoorError::Unauthenticated));
        }
    }

    #[test]
    fn a_runner_named_like_an_account_is_not_that_agent() {
        let owner = AccountId::from_bytes([1; 16]);
        let agent = of(&account(ActorKind::Agent { owner })).unwrap();
        let tenant = TenantId::default_tenant();
        let named = of(&Principal::Runner { tenant, runner: agent.name() }).unwrap();
        assert_ne!(named, agent);
    }
}
