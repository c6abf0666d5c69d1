//! What an agent may call through a relay, as one union; it cannot express answering.

use std::sync::Arc;

use compass_domain::{Classified, ErrorKind, Message};

use crate::{
    Caller, Comms,
    accounts::set_status::{self, SetStatus},
    asks::cancel_ask::{self, CancelAsk, Withdrawn},
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
    /// Says what the agent is doing.
    SetStatus(SetStatus),
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
    /// Stored.
    SetStatus,
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
    /// The status.
    #[error(transparent)]
    SetStatus(#[from] set_status::Error),
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
            Self::SetStatus(error) => error.kind(),
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
        Call::SetStatus(status) => {
            set_status::set_status(comms, caller, status).await?;
            CallOutcome::SetStatus
        }
        Call::ListTopics(list) => {
            CallOutcome::ListTopics(list_topics::list_topics(comms, caller, list).await?)
        }
        Call::CancelAsk(cancel) => {
            CallOutcome::CancelAsk(cancel_ask::cancel_ask(comms, caller, cancel).await?)
        }
    })
}
