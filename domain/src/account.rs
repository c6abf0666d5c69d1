//! Accounts: handles, kinds, who acts, and the only kind that may answer.

use std::fmt;

use crate::{
    id::AccountId,
    limits::{self, LimitError},
};

/// Handles that no person and no agent may take.
pub const RESERVED_HANDLES: [&str; 4] = ["compass", "everyone", "agents", "users"];
/// The handle of the system sender.
pub const SYSTEM_HANDLE: &str = "compass";

/// A name that can be mentioned: a lower-case letter or digit, then letters, digits, `.`, `_` or `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handle(String);

/// Why a text is not a handle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandleError {
    /// Nothing was given.
    #[error("handle is empty")]
    Empty,
    /// A character outside the grammar, upper case included.
    #[error(
        "handle {0:?} is not valid: it starts with a lower-case letter or digit, then letters, digits, '.', '_' or '-'"
    )]
    Grammar(String),
    /// One of [`RESERVED_HANDLES`].
    #[error("handle {0:?} is reserved")]
    Reserved(String),
    /// Too long.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl Handle {
    /// Parses a handle by the grammar; reserved words pass, for lookups and the system account.
    ///
    /// # Errors
    ///
    /// [`HandleError`] that shows the text.
    pub fn parse(text: &str) -> Result<Self, HandleError> {
        let Some(first) = text.bytes().next() else { return Err(HandleError::Empty) };
        limits::check_bytes("handle", text, limits::HANDLE_BYTES)?;
        if !is_alphanumeric(first) || !text.bytes().all(is_handle_byte) {
            return Err(HandleError::Grammar(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Parses the handle of a new person or agent: reserved words are refused.
    ///
    /// # Errors
    ///
    /// [`HandleError`] that shows the text.
    pub fn parse_new(text: &str) -> Result<Self, HandleError> {
        let handle = Self::parse(text)?;
        if RESERVED_HANDLES.contains(&text) {
            return Err(HandleError::Reserved(text.to_owned()));
        }
        Ok(handle)
    }

    /// The handle of the system sender.
    pub fn system() -> Self {
        Self(SYSTEM_HANDLE.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks a display name; an empty one is allowed and means the handle.
///
/// # Errors
///
/// [`LimitError`] that names the field.
pub fn check_display_name(text: &str) -> Result<(), LimitError> {
    limits::check_code_points("display_name", text, limits::DISPLAY_NAME_CODE_POINTS)
}

/// Cuts an activity at [`limits::ACTIVITY_CODE_POINTS`].
///
/// # Errors
///
/// [`LimitError::Nul`]: that cannot be stored and is not cut away.
pub fn cut_activity(text: &str) -> Result<String, LimitError> {
    limits::check_nul("activity", text)?;
    Ok(text.chars().take(limits::ACTIVITY_CODE_POINTS).collect())
}

/// What a person may do beyond taking part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserRole {
    /// Takes part.
    Member,
    /// Also runs the installation.
    Admin,
}

/// A row of the account directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Who.
    pub id: AccountId,
    /// Unique over all kinds of a tenant.
    pub handle: Handle,
    /// Shown beside the handle; may be empty.
    pub display_name: String,
    /// What it is.
    pub kind: AccountKind,
}

/// What an account is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccountKind {
    /// A person.
    User {
        /// Member or admin.
        role: UserRole,
    },
    /// A bot, owned by exactly one person.
    Agent {
        /// The owner; never an agent.
        owner: AccountId,
        /// Where its owner talks to it.
        home_channel: crate::id::ChannelId,
        /// The agent above it in the tree; a root has none.
        parent: Option<AccountId>,
    },
    /// The built-in sender: cannot sign in, is never delivered to.
    System,
}

impl Account {
    /// The actor this account is when its credential was checked.
    pub fn actor(&self) -> Actor {
        let kind = match self.kind {
            AccountKind::User { role } => ActorKind::User { role },
            AccountKind::Agent { owner, .. } => ActorKind::Agent { owner },
            AccountKind::System => ActorKind::System,
        };
        Actor { id: self.id, kind }
    }

    /// True for an agent.
    pub fn is_agent(&self) -> bool {
        matches!(self.kind, AccountKind::Agent { .. })
    }

    /// True if `viewer` may see the account: it is the viewer, a person, an agent of the viewer's, or shares a
    /// channel with it.
    pub fn is_visible_to(&self, viewer: AccountId, shares_a_channel: impl FnOnce() -> bool) -> bool {
        self.id == viewer
            || match self.kind {
                AccountKind::User { .. } => true,
                AccountKind::Agent { owner, .. } => owner == viewer || shares_a_channel(),
                AccountKind::System => shares_a_channel(),
            }
    }
}

/// Who calls, as the door found out; never a field of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Actor {
    /// The account.
    pub id: AccountId,
    /// What it is.
    pub kind: ActorKind,
}

/// The part of an account's kind that decides what a caller may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActorKind {
    /// A person.
    User {
        /// Member or admin.
        role: UserRole,
    },
    /// An agent.
    Agent {
        /// Its owner.
        owner: AccountId,
    },
    /// The system sender.
    System,
}

impl Actor {
    /// The person behind this actor, if it is one.
    pub fn human(&self) -> Option<Human> {
        matches!(self.kind, ActorKind::User { .. }).then_some(Human(self.id))
    }

    /// The owner an agent resolves to; anyone else is its own.
    pub fn owner(&self) -> AccountId {
        match self.kind {
            ActorKind::Agent { owner } => owner,
            ActorKind::User { .. } | ActorKind::System => self.id,
        }
    }

    /// True for an agent.
    pub fn is_agent(&self) -> bool {
        matches!(self.kind, ActorKind::Agent { .. })
    }

    /// True for a person with the admin role.
    pub fn is_admin(&self) -> bool {
        matches!(self.kind, ActorKind::User { role: UserRole::Admin })
    }
}

/// A person: the only kind of account that may answer an ask. Only [`Actor::human`] makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Human(AccountId);

impl Human {
    /// The person's account.
    pub fn id(self) -> AccountId {
        self.0
    }
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

pub(crate) fn is_handle_byte(byte: u8) -> bool {
    is_alphanumeric(byte) || matches!(byte, b'.' | b'_' | b'-')
}
