//! Who a runner is, as its credential says.

use compass_domain::{AccountId, TenantId};

/// A runner's identity. Sessions are bound to it, and a call or frame from any other is not served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunnerKey {
    /// The process of one agent, by that agent's token.
    Agent {
        /// Whose rows.
        tenant: TenantId,
        /// The only account it can run.
        account: AccountId,
    },
    /// A runner with a token of its own.
    Named {
        /// Whose rows.
        tenant: TenantId,
        /// The token's subject.
        name: String,
    },
}

impl RunnerKey {
    /// Whose rows.
    pub fn tenant(&self) -> &TenantId {
        match self {
            Self::Agent { tenant, .. } | Self::Named { tenant, .. } => tenant,
        }
    }

    /// The name under which session rows keep it.
    pub fn name(&self) -> String {
        match self {
            Self::Agent { account, .. } => account.to_string(),
            Self::Named { name, .. } => name.clone(),
        }
    }
}
