//! Who is owed what: the reads behind fan-out, sweep and fetch.

use std::sync::Arc;

use async_trait::async_trait;
use compass_domain::{
    AccountId, AskId, ChannelId, Message, MessageId, TenantId,
    delivery::{AgentMember, Lane},
};
use compass_ports::StorageError;

/// Names that travel with a delivered message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// The topic's name.
    pub topic_name: String,
    /// The channel's name.
    pub channel_name: String,
    /// The author's handle.
    pub from_handle: String,
    /// If it answers an ask, the handle of who asked; else empty.
    pub asker_handle: String,
}

/// A message with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The message.
    pub message: Arc<Message>,
    /// Its labels.
    pub labels: Labels,
}

/// Which of an agent's owed messages to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingQuery {
    /// Whose.
    pub agent: AccountId,
    /// Also messages that are not routed yet; only the start sweep and an explicit fetch take those.
    pub include_unrouted: bool,
    /// Also messages that a brake holds until a person posts; only the start sweep takes those.
    pub include_braked: bool,
    /// Only the answer to this ask.
    pub answers_ask: Option<AskId>,
    /// Leave these out; they are in flight.
    pub skip: Vec<MessageId>,
    /// Items at the most.
    pub limit: u32,
}

/// One owed message.
#[derive(Debug, Clone)]
pub struct PendingItem {
    /// Steer for an owed row, deliver for the cursor.
    pub lane: Lane,
    /// The message.
    pub message: Arc<Labelled>,
}

/// A page of what is owed.
#[derive(Debug, Clone, Default)]
pub struct Pending {
    /// Owed rows first, then by channel, ascending `channel_seq`; at most `limit`, and ends early at
    /// [`compass_domain::limits::PAGE_BYTES`] but holds at least one.
    pub items: Vec<PendingItem>,
    /// How many more are owed beyond this page, `skip` not counted.
    pub waiting: u32,
    /// Messages that are owed and cannot be read; they stay owed and are listed to an operator.
    pub corrupt: Vec<MessageId>,
}

/// A place on the boards of an agent's channels: the channel, and the place on its board.
pub type PinPlace = (ChannelId, u32);

/// Which pins to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinQuery {
    /// Of whose sweep channels.
    pub agent: AccountId,
    /// After this place; none begins.
    pub after: Option<PinPlace>,
    /// Messages at the most.
    pub limit: u32,
}

/// A page of pins.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    /// By channel, in board order; ends early at [`compass_domain::limits::PAGE_BYTES`] but holds at least one.
    pub messages: Vec<Arc<Labelled>>,
    /// Pins that cannot be read and were left out.
    pub corrupt: Vec<MessageId>,
    /// Where the next page begins; none after the last one.
    pub next: Option<PinPlace>,
}

/// Reads of recipients and of what they are owed. Every read applies the participation predicate.
#[async_trait]
pub trait Audience: Send + Sync {
    /// The agents that take part in a channel, by id.
    async fn members(
        &self,
        tenant: &TenantId,
        channel: ChannelId,
    ) -> Result<Arc<[AgentMember]>, StorageError>;

    /// A message with its labels, as stored now; none if it does not exist.
    async fn labelled(
        &self,
        tenant: &TenantId,
        message: MessageId,
    ) -> Result<Option<Arc<Labelled>>, StorageError>;

    /// The labels of a message that is already in hand.
    async fn labels(&self, tenant: &TenantId, message: &Message) -> Result<Labels, StorageError>;

    /// What an agent is owed: owed rows, and what its cursors do not cover in its sweep channels.
    ///
    /// An agent without a cursor in a channel is owed nothing there; its own messages are never owed. Rows of
    /// channels it no longer takes part in are skipped and stay.
    async fn pending(&self, tenant: &TenantId, query: &PendingQuery) -> Result<Pending, StorageError>;

    /// The agents among `accounts` to which `pending` would show anything that is routed and not held by a brake.
    async fn owed(&self, tenant: &TenantId, accounts: &[AccountId]) -> Result<Vec<AccountId>, StorageError>;

    /// The pins of the channels in an agent's sweep set, whatever its cursors cover and whoever wrote them.
    async fn pins(&self, tenant: &TenantId, query: &PinQuery) -> Result<Pins, StorageError>;

    /// The agents among `accounts` that have an open ask.
    async fn with_open_asks(
        &self,
        tenant: &TenantId,
        accounts: &[AccountId],
    ) -> Result<Vec<AccountId>, StorageError>;
}
