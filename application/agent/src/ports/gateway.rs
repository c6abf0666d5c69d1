//! What an agent may ask of the server; who it is, the connection knows.

use async_trait::async_trait;
use compass_domain::{group::Visibility, message::DraftBlock, roster::RosterScope};

use crate::seen::{Handles, SeenChannel, SeenGroup, SeenMessage, SeenRosterEntry, SeenTopic};

/// How a call names its channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// The agent's home channel.
    Home,
    /// By name.
    Name(String),
    /// By id.
    Id(String),
}

/// Changes to who takes part in a channel, by handle. Per account, unsubscribing beats subscribing, and removing
/// beats everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberChanges {
    /// Members afterwards, not subscribed.
    pub add: Vec<String>,
    /// No members afterwards.
    pub remove: Vec<String>,
    /// Members afterwards, subscribed.
    pub subscribe: Vec<String>,
    /// Members afterwards, not subscribed.
    pub unsubscribe: Vec<String>,
    /// Another name for the channel; empty for the same.
    pub new_name: String,
}

/// One call of the relay's union, as far as the tools need it. No call answers an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Posts a message.
    Post {
        /// Where.
        channel: Channel,
        /// The topic's name.
        topic: String,
        /// An unknown topic is refused instead of created.
        existing_topic_only: bool,
        /// What it says.
        blocks: Vec<DraftBlock>,
        /// A repeat under the same key returns the first message.
        key: String,
    },
    /// Reads a page, newest first.
    List {
        /// Where.
        channel: Channel,
        /// Of one topic only, by name.
        topic: Option<String>,
        /// 0 is the server's default.
        limit: u32,
        /// Strictly older than this message.
        before_message_id: String,
    },
    /// Reads the topics of a channel, latest activity first.
    ListTopics {
        /// Where.
        channel: Channel,
        /// Archived ones as well.
        include_archived: bool,
    },
    /// Reads the agents around the agent.
    Roster {
        /// How far it reaches.
        scope: RosterScope,
    },
    /// Says what the agent is doing.
    SetStatus {
        /// Cut by the server.
        activity: String,
    },
    /// Finds or makes the direct conversation with another account.
    OpenDm {
        /// The handle of the other account.
        peer_handle: String,
    },
    /// Creates a channel.
    CreateChannel {
        /// Its name.
        name: String,
        /// Its group's name; empty for none.
        group: String,
        /// Handles of members beside the agent.
        members: Vec<String>,
    },
    /// Changes who takes part in a channel.
    UpdateMembers {
        /// The channel's name.
        channel: String,
        /// What changes.
        changes: MemberChanges,
    },
    /// Creates a group of channels.
    CreateChannelGroup {
        /// Its name.
        name: String,
        /// The name of the group it stands in; empty for the top level.
        parent_group: String,
        /// Who sees it.
        visibility: Visibility,
    },
    /// Withdraws the agent's own open ask.
    CancelAsk {
        /// Which.
        ask_id: String,
    },
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// The stored message; none if the server sent none.
    Post(Option<SeenMessage>),
    /// A page, newest first.
    List(Vec<SeenMessage>),
    /// The topics, latest activity first.
    ListTopics(Vec<SeenTopic>),
    /// The agents, by account id.
    Roster(Vec<SeenRosterEntry>),
    /// Recorded.
    SetStatus,
    /// The conversation; no channel if the server sent none.
    OpenDm {
        /// The channel.
        channel: Option<SeenChannel>,
        /// This call made it.
        created: bool,
    },
    /// The new channel; none if the server sent none.
    CreateChannel(Option<SeenChannel>),
    /// The channel as it is now; none if the server sent none.
    UpdateMembers(Option<SeenChannel>),
    /// The new group; none if the server sent none.
    CreateChannelGroup(Option<SeenGroup>),
    /// Withdrawn, now or before.
    CancelAsk,
    /// Another arm, or none: its name for the error text.
    Unexpected(String),
}

impl CallResult {
    /// With the handles of the accounts that its messages and channels name.
    #[must_use]
    pub fn with_handles(mut self, handles: &Handles) -> Self {
        match &mut self {
            Self::List(messages) => {
                for message in messages {
                    message.take_handles(handles);
                }
            }
            Self::Post(Some(message)) => message.take_handles(handles),
            Self::OpenDm { channel: Some(channel), .. }
            | Self::CreateChannel(Some(channel))
            | Self::UpdateMembers(Some(channel)) => channel.take_handles(handles),
            _ => {}
        }
        self
    }

    /// The name of the arm on the wire.
    pub fn arm(&self) -> &str {
        match self {
            Self::Post(_) => "post",
            Self::List(_) => "list",
            Self::ListTopics(_) => "list_topics",
            Self::Roster(_) => "roster",
            Self::SetStatus => "set_status",
            Self::OpenDm { .. } => "open_dm",
            Self::CreateChannel(_) => "create_channel",
            Self::UpdateMembers(_) => "update_members",
            Self::CreateChannelGroup(_) => "create_channel_group",
            Self::CancelAsk => "cancel_ask",
            Self::Unexpected(arm) => arm,
        }
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server refused it.
    #[error("{code}: {message}")]
    Refused {
        /// The lower-case status token.
        code: String,
        /// The server's text.
        message: String,
    },
    /// The server could not be reached; nothing was done.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke or time ran out: it may or may not have been done.
    #[error("the outcome is unknown: {0}")]
    OutcomeUnknown(String),
}

/// Runs one call as the agent this connection belongs to.
#[async_trait]
pub trait Gateway: Send + Sync {
    /// Runs a call; `call_id` only correlates.
    ///
    /// # Errors
    ///
    /// [`CallError`] that tells a refusal from a broken connection.
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError>;
}
