//! What an operator looks at: sets of agents with what they are owed, and rows that cannot be read.

use async_trait::async_trait;
use compass_domain::{AccountId, MessageId, TenantId};
use compass_ports::StorageError;

/// Where a count of an agent's messages ends.
pub const BACKLOG_MAX: u32 = 1000;

/// An agent with what waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Which agent.
    pub account: AccountId,
    /// Its handle.
    pub handle: String,
    /// Whose it is.
    pub owner: AccountId,
    /// Ready messages that its cursors owe it; at most [`BACKLOG_MAX`], and so are the others.
    pub delivers: u32,
    /// Ready messages it has owed rows for.
    pub steers: u32,
    /// Messages that its cursors owe it and a brake holds.
    pub braked: u32,
}

/// What was found by reading messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examined {
    /// How many were read.
    pub messages: u32,
    /// Those that cannot be, each once, with the reason.
    pub corrupt: Vec<(MessageId, String)>,
}

/// Reads across agents and messages, for an operator.
#[async_trait]
pub trait Overview: Send + Sync {
    /// The agents of an owner, or all, by handle.
    async fn backlogs(
        &self,
        tenant: &TenantId,
        owner: Option<AccountId>,
    ) -> Result<Vec<Backlog>, StorageError>;

    /// Reads the newest `limit` messages, and as many at the most that hold open asks.
    async fn examine(&self, tenant: &TenantId, limit: u32) -> Result<Examined, StorageError>;
}
