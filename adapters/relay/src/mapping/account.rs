//! Accounts as readers see them.

use compass_domain::{Account, AccountKind, UserRole};
use compass_proto::v1::{self, account::Kind};

/// An account on the wire.
pub fn account(account: &Account) -> v1::Account {
    v1::Account {
        id: account.id.to_string(),
        handle: account.handle.to_string(),
        display_name: account.display_name.clone(),
        kind: Some(kind(account.kind)),
    }
}

fn kind(kind: AccountKind) -> Kind {
    match kind {
        AccountKind::User { role } => Kind::User(v1::UserAccount { role: user_role(role).into() }),
        AccountKind::Agent { owner, home_channel, parent } => Kind::Agent(v1::AgentAccount {
            owner_user_id: owner.to_string(),
            home_channel_id: home_channel.to_string(),
            parent_agent_id: parent.map(|parent| parent.to_string()).unwrap_or_default(),
        }),
        AccountKind::System => Kind::System(v1::SystemAccount {}),
    }
}

fn user_role(role: UserRole) -> v1::UserRole {
    match role {
        UserRole::Member => v1::UserRole::Member,
        UserRole::Admin => v1::UserRole::Admin,
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{AccountId, ChannelId, Handle};

    use super::*;

    fn with_kind(kind: AccountKind) -> v1::Account {
        let id = AccountId::from_bytes([1; 16]);
        account(&Account { id, handle: Handle::parse("ann").unwrap(), display_name: "Ann".into(), kind })
    }

    #[test]
    fn every_kind_of_account_is_shown_with_what_it_has() {
        let user = with_kind(AccountKind::User { role: UserRole::Admin });
        assert_eq!((user.handle.as_str(), user.display_name.as_str()), ("ann", "Ann"));
        assert_eq!(user.id, "01".repeat(16));
        assert_eq!(user.kind, Some(Kind::User(v1::UserAccount { role: v1::UserRole::Admin.into() })));
        let agent = with_kind(AccountKind::Agent {
            owner: AccountId::from_bytes([2; 16]),
            home_channel: ChannelId::from_bytes([3; 16]),
            parent: Some(AccountId::from_bytes([4; 16])),
        });
        let expected = v1::AgentAccount {
            owner_user_id: "02".repeat(16),
            home_channel_id: "03".repeat(16),
            parent_agent_id: "04".repeat(16),
        };
        assert_eq!(agent.kind, Some(Kind::Agent(expected)));
        assert_eq!(with_kind(AccountKind::System).kind, Some(Kind::System(v1::SystemAccount {})));
    }
}
