//! Who may handle whose tokens.

use compass_domain::{Account, AccountId, AccountKind, Actor};
use compass_ports::StorageError;

use crate::ports::ReadUnit;

/// What `actor` may do with an account's tokens.
#[derive(Debug)]
pub(super) enum Access {
    /// It is the actor's own account.
    Own(Account),
    /// An admin's right, or the owner's over its agent.
    Granted(Account),
    /// The actor sees the account and may not touch its tokens.
    Denied,
    /// There is none, or the actor does not see it.
    Unknown,
}

/// Looks an account up and says what `actor`, who is no agent, may do with its tokens.
pub(super) async fn access(
    unit: &mut dyn ReadUnit,
    actor: Actor,
    account: AccountId,
) -> Result<Access, StorageError> {
    let Some(found) = unit.find_account(account).await? else { return Ok(Access::Unknown) };
    if found.id == actor.id {
        return Ok(Access::Own(found));
    }
    if actor.is_admin() || is_owned_by(&found, actor) {
        return Ok(Access::Granted(found));
    }
    Ok(if unit.sees_account(actor, account).await? { Access::Denied } else { Access::Unknown })
}

pub(super) fn is_owned_by(account: &Account, actor: Actor) -> bool {
    matches!(account.kind, AccountKind::Agent { owner, .. } if owner == actor.id)
}
