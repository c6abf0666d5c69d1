//! Token rows of a tenant.

use compass_comms::ports::{Subject, TokenRow};
use compass_domain::{AccountId, TokenId, UnixMillis};

use super::Map;

/// The tokens of a tenant. Which tenant a hash belongs to is kept across tenants.
#[derive(Clone, Default)]
pub(crate) struct Tokens {
    by_id: Map<TokenId, TokenRow>,
}

impl Tokens {
    pub(crate) fn put(&mut self, row: TokenRow) {
        self.by_id.insert_mut(row.id, row);
    }

    pub(crate) fn find(&self, id: TokenId) -> Option<&TokenRow> {
        self.by_id.get(&id)
    }

    /// What still works at `now` for an account, newest first.
    pub(crate) fn working(&self, account: AccountId, now: UnixMillis) -> Vec<TokenRow> {
        let is_its = |row: &&TokenRow| match row.subject {
            Subject::Account(subject) | Subject::SignIn(subject) => subject == account,
            Subject::Runner(_) => false,
        };
        let mut rows: Vec<TokenRow> =
            self.by_id.values().filter(is_its).filter(|row| row.works_at(now)).cloned().collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.created_at, row.id)));
        rows
    }
}
