//! Credentials as rows: what they stand for, and nothing of their value but its hash.

use async_trait::async_trait;
use compass_domain::{AccountId, TokenId, UnixMillis};
use compass_ports::StorageError;

/// SHA-256 of a token's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// What a token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// An account: a person's token or an agent's.
    Account(AccountId),
    /// A runner, by its id.
    Runner(String),
    /// A one-time sign-in for a person.
    SignIn(AccountId),
}

/// A token's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Its public id.
    pub id: TokenId,
    /// Hash of its value; unique.
    pub hash: TokenHash,
    /// What it stands for.
    pub subject: Subject,
    /// When it was issued.
    pub created_at: UnixMillis,
    /// When it stops working; never if absent.
    pub expires_at: Option<UnixMillis>,
    /// When it was revoked or, for a sign-in, used.
    pub revoked_at: Option<UnixMillis>,
}

impl TokenRow {
    /// True if it works at `now`.
    pub fn works_at(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// Reads of token rows.
#[async_trait]
pub trait TokenReads {
    /// The tokens of an account, newest first; revoked and expired ones are left out.
    async fn list_tokens(
        &mut self,
        account: AccountId,
        now: UnixMillis,
    ) -> Result<Vec<TokenRow>, StorageError>;
}

/// Writes of token rows.
#[async_trait]
pub trait TokenRepository: Send {
    /// Stores a token; a taken hash is [`StorageError::Conflict`].
    async fn insert(&mut self, token: &TokenRow) -> Result<(), StorageError>;

    /// A token by its public id.
    async fn find(&mut self, id: TokenId) -> Result<Option<TokenRow>, StorageError>;

    /// A token by its hash.
    async fn find_by_hash(&mut self, hash: &TokenHash) -> Result<Option<TokenRow>, StorageError>;

    /// Revokes a token; false if it was revoked before, which makes a sign-in usable once.
    async fn revoke(&mut self, id: TokenId, at: UnixMillis) -> Result<bool, StorageError>;
}
