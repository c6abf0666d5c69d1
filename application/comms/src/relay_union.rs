//! What an agent may call through a relay, as one union; it cannot express answering.

use std::sync::Arc;

use compass_domain::{Channel, ChannelGroup, Classified, ErrorKind, Message};

use crate::{
    Caller, Comms,
    accounts::{
        get_roster::{self, GetRoster, RosterEntry},
        set_status::{self, SetStatus},
    },
    asks::cancel_ask::{self, CancelAsk, Withdrawn},
    channels::{
        create_channel::{self, CreateChannel},
        open_dm::{self, OpenDm, Opened},
        update_board::{self, UpdateBoard},
        update_members::{self, UpdateMembers},
    },
    groups::create_group::{self, CreateGroup},
    messages::{
        list_messages::{self, ListMessages},
        post_message::{self, PostMessage, Posted},
    },
    topics::list_topics::{self, ListTopics, ListedTopics},
};

/// One call of an agent. A post or a list without a channel names [`Home`](crate::channels::resolve::ChannelRef::Home).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Posts a message.
    Post(PostMessage),
    /// Lists messages.
    List(ListMessages),
    /// Reads the agents around the agent.
    Roster(GetRoster),
    /// Says what the agent is doing.
    SetStatus(SetStatus),
    /// Changes a pinned board.
    Pin(UpdateBoard),
    /// Creates a channel.
    CreateChannel(CreateChannel),
    /// Changes members.
    UpdateMembers(UpdateMembers),
    /// Creates a group of channels.
    CreateGroup(CreateGroup),
    /// Opens a direct conversation.
    OpenDm(OpenDm),
    /// Lists topics.
    ListTopics(ListTopics),
    /// Withdraws an ask of the agent's own.
    CancelAsk(CancelAsk),
}

/// What a call came to; the arm is that of its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// The stored message.
    Post(Posted),
    /// The page.
    List(Vec<Arc<Message>>),
    /// The agents.
    Roster(Vec<RosterEntry>),
    /// Stored.
    SetStatus,
    /// The channel with its board.
    Pin(Channel),
    /// The new channel.
    CreateChannel(Channel),
    /// The channel with its members.
    UpdateMembers(Channel),
    /// The new group.
    CreateGroup(ChannelGroup),
    /// The channel of two.
    OpenDm(Opened),
    /// The topics.
    ListTopics(ListedTopics),
    /// Withdrawn.
    CancelAsk(Withdrawn),
}

/// Why a call is refused.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Only agents call through a relay.
    #[error("only an agent may call through a relay")]
    NotAnAgent,
    /// The post.
    #[error(transparent)]
    Post(#[from] post_message::Error),
    /// The list.
    #[error(transparent)]
    List(#[from] list_messages::Error),
    /// The roster.
    #[error(transparent)]
    Roster(#[from] get_roster::Error),
    /// The status.
    #[error(transparent)]
    SetStatus(#[from] set_status::Error),
    /// The board.
    #[error(transparent)]
    Pin(#[from] update_board::Error),
    /// The channel.
    #[error(transparent)]
    CreateChannel(#[from] create_channel::Error),
    /// The members.
    #[error(transparent)]
    UpdateMembers(#[from] update_members::Error),
    /// The group.
    #[error(transparent)]
    CreateGroup(#[from] create_group::Error),
    /// The direct conversation.
    #[error(transparent)]
    OpenDm(#[from] open_dm::Error),
    /// The list of topics.
    #[error(transparent)]
    ListTopics(#[from] list_topics::Error),
    /// The cancel.
    #[error(transparent)]
    CancelAsk(#[from] cancel_ask::Error),
}

impl Classified for CallError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAnAgent => ErrorKind::FailedPrecondition,
            Self::Post(error) => error.kind(),
            Self::List(error) => error.kind(),
            Self::Roster(error) => error.kind(),
            Self::SetStatus(error) => error.kind(),
            Self::Pin(error) => error.kind(),
            Self::CreateChannel(error) => error.kind(),
            Self::UpdateMembers(error) => error.kind(),
            Self::CreateGroup(error) => error.kind(),
            Self::OpenDm(error) => error.kind(),
            Self::ListTopics(error) => error.kind(),
            Self::CancelAsk(error) => error.kind(),
        }
    }
}

/// Runs a call as the agent that `caller` is.
///
/// # Errors
///
/// [`CallError`] if the caller is no agent, or as its use case says.
pub async fn call(comms: &Comms, caller: &Caller, call: Call) -> Result<CallOutcome, CallError> {
    if !caller.actor.is_agent() {
        return Err(CallError::NotAnAgent);
    }
    Ok(match call {
        Call::Post(post) => CallOutcome::Post(post_message::post_message(comms, caller, post).await?),
        Call::List(list) => CallOutcome::List(list_messages::list_messages(comms, caller, list).await?),
        Call::Roster(get) => CallOutcome::Roster(get_roster::get_roster(comms, caller, get).await?),
        Call::SetStatus(status) => {
            set_status::set_status(comms, caller, status).await?;
            CallOutcome::SetStatus
        }
        Call::Pin(update) => CallOutcome::Pin(update_board::update_board(comms, caller, update).await?),
        Call::CreateChannel(create) => {
            CallOutcome::CreateChannel(create_channel::create_channel(comms, caller, create).await?)
        }
        Call::UpdateMembers(update) => {
            CallOutcome::UpdateMembers(update_members::update_members(comms, caller, update).await?)
        }
        Call::CreateGroup(create) => {
            CallOutcome::CreateGroup(create_group::create_group(comms, caller, create).await?)
        }
        Call::OpenDm(open) => CallOutcome::OpenDm(open_dm::open_dm(comms, caller, open).await?),
        Call::ListTopics(list) => {
            CallOutcome::ListTopics(list_topics::list_topics(comms, caller, list).await?)
        }
        Call::CancelAsk(cancel) => {
            CallOutcome::CancelAsk(cancel_ask::cancel_ask(comms, caller, cancel).await?)
        }
    })
}
