//! The port through which people sign in and out.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use compass_domain::ErrorKind;

/// Sessions of people in browsers; their tokens are what a cookie holds.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Trades a one-time sign-in secret for a session.
    async fn open_with_sign_in(&self, secret: &str) -> Result<Opened, Refusal>;

    /// Opens a session for the person a token stands for; the token stays as it is.
    async fn open_with_token(&self, token: &str) -> Result<Opened, Refusal>;

    /// True if a token works and is a person's.
    async fn is_open(&self, token: &str) -> Result<bool, Refusal>;

    /// Ends a session, at every door at once; one that has ended stays as it is.
    async fn close(&self, token: &str) -> Result<(), Refusal>;
}

/// A session that was just opened.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    /// The value of its token.
    pub token: String,
    /// How long it lasts.
    pub lasts: Duration,
}

// The value stays out of logs.
impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("lasts", &self.lasts).finish_non_exhaustive()
    }
}

/// Why something is refused, in words that may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What can be done about it.
    pub kind: ErrorKind,
    /// For a person.
    pub text: String,
}
