//! Channels: names, kinds, post policy and its coherence, and what the server makes channels for.

use crate::{
    account::Handle,
    id::{AccountId, ChannelId, GroupId, MessageId, Seq, UnixMillis},
    limits::{self, LimitError},
    text::fold,
};

/// A channel's or group's name: not empty after trimming, at most 120 code points.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ChannelName {
    text: String,
    key: String,
}

/// Why a text is not a channel or group name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelNameError {
    /// Nothing but white space.
    #[error("{0} is empty")]
    Empty(&'static str),
    /// Too long, or a NUL.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl ChannelName {
    /// Parses a name as a client typed it.
    ///
    /// # Errors
    ///
    /// [`ChannelNameError`] with the limit and the actual length.
    pub fn parse(text: &str) -> Result<Self, ChannelNameError> {
        Self::named("channel name", text)
    }

    /// Parses the name of a group as a client typed it.
    ///
    /// # Errors
    ///
    /// [`ChannelNameError`] with the limit and the actual length.
    pub fn parse_group(text: &str) -> Result<Self, ChannelNameError> {
        Self::named("group name", text)
    }

    /// The ways in which a text reads as the names of groups, from the outside in, and then the name of a channel in the
    /// innermost: the key of what stands before a slash, and the name behind it.
    pub fn behind_groups(text: &str) -> Vec<(String, Self)> {
        let text = text.trim();
        let split = |(at, _)| Some((fold(text[..at].trim()), Self::parse(&text[at + 1..]).ok()?));
        text.match_indices('/').filter_map(split).collect()
    }

    fn named(field: &'static str, text: &str) -> Result<Self, ChannelNameError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(ChannelNameError::Empty(field));
        }
        limits::check_code_points(field, trimmed, limits::CHANNEL_NAME_CODE_POINTS)?;
        Ok(Self { text: trimmed.to_owned(), key: fold(trimmed) })
    }

    /// The name of the direct conversation of two, the same whoever asks.
    ///
    /// # Errors
    ///
    /// [`ChannelNameError`] never, as long as handles and ids are shorter than names may be.
    pub fn direct(one: (AccountId, &Handle), other: (AccountId, &Handle)) -> Result<Self, ChannelNameError> {
        let mut handles = [one.1.as_str(), other.1.as_str()];
        handles.sort_unstable();
        Self::parse(&format!("dm:{}:{}", handles[0], handles[1])).or_else(|_| {
            let pair = DirectPair::of(one.0, other.0);
            Self::parse(&format!("dm:{}:{}", pair.low, pair.high))
        })
    }

    /// The name that is tried `attempt`th, from 1, for the channel of a manager and its reports.
    ///
    /// # Errors
    ///
    /// [`ChannelNameError`] never, as long as handles are shorter than names may be.
    pub fn coordination(manager: &Handle, attempt: u32) -> Result<Self, ChannelNameError> {
        match attempt {
            0 | 1 => Self::parse(&format!("{manager}-coordination")),
            more => Self::parse(&format!("{manager}-coordination-{more}")),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key by which names are compared.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// What kind of channel it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelKind {
    /// An ordinary channel; the only kind that can be seen through a shared group.
    Channel,
    /// Between two.
    Dm,
    /// Kept on the wire, never produced.
    GroupDm,
}

/// Who may post.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostPolicy {
    /// Every participant.
    Open,
    /// Only this account, which is a member.
    OwnerOnly {
        /// The owner.
        owner: AccountId,
    },
}

/// Why a policy does not hold together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// OWNER_ONLY without an owner.
    #[error("post_policy OWNER_ONLY needs owner_account_id")]
    OwnerMissing,
    /// OPEN with an owner.
    #[error("post_policy OPEN must not name an owner_account_id")]
    OwnerWithoutPolicy,
    /// The owner is not a member.
    #[error("owner_account_id is not a member of the channel")]
    OwnerNotMember,
}

impl PostPolicy {
    /// Builds a policy from its two wire fields and the members.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if the fields contradict each other.
    pub fn coherent(
        owner_only: bool,
        owner: Option<AccountId>,
        is_member: impl Fn(AccountId) -> bool,
    ) -> Result<Self, PolicyError> {
        match (owner_only, owner) {
            (false, None) => Ok(Self::Open),
            (false, Some(_)) => Err(PolicyError::OwnerWithoutPolicy),
            (true, None) => Err(PolicyError::OwnerMissing),
            (true, Some(owner)) if is_member(owner) => Ok(Self::OwnerOnly { owner }),
            (true, Some(_)) => Err(PolicyError::OwnerNotMember),
        }
    }

    /// True if `author`, a participant, may post.
    pub fn allows(self, author: AccountId) -> bool {
        match self {
            Self::Open => true,
            Self::OwnerOnly { owner } => owner == author,
        }
    }

    /// The owner, if the policy names one.
    pub fn owner(self) -> Option<AccountId> {
        match self {
            Self::Open => None,
            Self::OwnerOnly { owner } => Some(owner),
        }
    }
}

/// How participation comes about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MembershipMode {
    /// By member rows alone.
    Flat,
    /// By member rows, or by standing in the anchor's subtree or owning it.
    Tree {
        /// The agent at the top.
        anchor: AccountId,
    },
}

/// One member row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Who.
    pub account: AccountId,
    /// Whether messages are delivered without a mention.
    pub subscribed: bool,
}

/// An entry of the pinned board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pin {
    /// The pinned message.
    pub message: MessageId,
    /// Place on the board, from 0.
    pub position: u32,
    /// When it was pinned.
    pub pinned_at: UnixMillis,
    /// By whom.
    pub pinned_by: AccountId,
}

/// A channel as its readers see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// Which.
    pub id: ChannelId,
    /// Its name.
    pub name: ChannelName,
    /// Its group, if any.
    pub group: Option<GroupId>,
    /// Its kind.
    pub kind: ChannelKind,
    /// How participation comes about.
    pub mode: MembershipMode,
    /// Who may post.
    pub policy: PostPolicy,
    /// Every agent that takes part is delivered to, subscribed or not.
    pub mandatory: bool,
    /// Member rows, in the order they were added.
    pub members: Vec<Member>,
    /// Who is subscribed in a TREE without a member row, by id.
    pub tree_subscribers: Vec<AccountId>,
    /// The pinned board, in order.
    pub pins: Vec<Pin>,
}

impl Channel {
    /// True if the account has a member row.
    pub fn has_member(&self, account: AccountId) -> bool {
        self.members.iter().any(|member| member.account == account)
    }

    /// True if nobody but a change of members can take the account's participation away: it has a member row, or it
    /// is the anchor of the tree.
    pub fn has_standing(&self, account: AccountId) -> bool {
        self.has_member(account) || self.mode == MembershipMode::Tree { anchor: account }
    }
}

/// Two accounts in no order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DirectPair {
    low: AccountId,
    high: AccountId,
}

impl DirectPair {
    /// The pair of two accounts.
    pub fn of(one: AccountId, other: AccountId) -> Self {
        Self { low: one.min(other), high: one.max(other) }
    }
}

/// What the server made a channel for; there is at most one channel for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Purpose {
    /// Two talk to each other.
    Direct(DirectPair),
    /// A manager talks to its direct reports.
    Coordination {
        /// The agent that has reports.
        manager: AccountId,
    },
}

impl Purpose {
    /// The key by which the channel is found.
    pub fn key(&self) -> String {
        match self {
            Self::Direct(pair) => format!("direct:{}:{}", pair.low, pair.high),
            Self::Coordination { manager } => format!("coordination:{manager}"),
        }
    }
}

/// What a writer needs to know of a locked channel row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelHead {
    /// Which.
    pub id: ChannelId,
    /// Seq of the newest message; 0 when there is none.
    pub last_seq: Seq,
    /// Time of the newest message; a later one is never earlier.
    pub last_at: UnixMillis,
    /// Who may post.
    pub policy: PostPolicy,
}

impl ChannelHead {
    /// The place of the next message: its seq, and a time that never goes back.
    pub fn next(&self, now: UnixMillis) -> (Seq, UnixMillis) {
        (self.last_seq.next(), now.max(self.last_at))
    }
}

/// The members of a new channel: the creator, then the asked ones, then the owners of agents among them;
/// each once, none subscribed.
pub fn initial_members(
    creator: AccountId,
    asked: &[AccountId],
    owner_of: impl Fn(AccountId) -> Option<AccountId>,
) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    let named: Vec<AccountId> = std::iter::once(creator).chain(asked.iter().copied()).collect();
    let owners = named.iter().filter_map(|&account| owner_of(account));
    for account in named.iter().copied().chain(owners) {
        if members.iter().all(|member| member.account != account) {
            members.push(Member { account, subscribed: false });
        }
    }
    members
}
