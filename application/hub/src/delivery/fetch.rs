//! What an agent is owed, for commands that never attach.

use compass_domain::{AccountId, AskId, TenantId, limits};
use compass_ports::StorageError;

use crate::{
    Hub,
    ports::{Pending, PendingQuery},
};

/// What to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FetchQuery {
    /// Items at the most; 0 is [`limits::PAGE_DEFAULT`], more than [`limits::PAGE_MAX`] is that.
    pub limit: u32,
    /// Only the answer to this ask.
    pub answers_ask: Option<AskId>,
}

impl Hub {
    /// Reads what an agent is owed, also what is not routed yet. Consumes nothing.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if it cannot be read.
    pub async fn fetch(
        &self,
        tenant: &TenantId,
        agent: AccountId,
        query: FetchQuery,
    ) -> Result<Pending, StorageError> {
        let query = PendingQuery {
            agent,
            include_unrouted: true,
            include_braked: false,
            answers_ask: query.answers_ask,
            skip: Vec::new(),
            limit: limits::page_limit(query.limit),
        };
        let page = self.ports.audience.pending(tenant, &query).await?;
        for message in &page.corrupt {
            tracing::error!(message.id = %message, "an owed message cannot be read and is skipped");
        }
        Ok(page)
    }
}
