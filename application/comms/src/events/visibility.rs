//! Which events a viewer may see: the rule of the read that shows the same thing.

use compass_domain::{AccountId, ChannelId, Event, GroupId};
use compass_ports::StorageError;

/// What a viewer has access to, as the reads tell it.
pub(super) trait Access {
    /// True if the viewer takes part in the channel.
    async fn participates(&self, channel: ChannelId) -> Result<bool, StorageError>;

    /// True if the viewer may see the channel, taking part or not.
    async fn sees_channel(&self, channel: ChannelId) -> Result<bool, StorageError>;

    /// True if the viewer may see the group.
    async fn sees_group(&self, group: GroupId) -> Result<bool, StorageError>;

    /// True if the viewer shares a channel with the account.
    async fn shares_channel(&self, account: AccountId) -> Result<bool, StorageError>;

    /// True if the viewer may see the account.
    async fn sees_account(&self, account: AccountId) -> Result<bool, StorageError>;
}

/// Which events a stream is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Feed {
    /// The conversation, and the presence of those who take part.
    #[default]
    Conversation,
    /// Sessions of agents.
    Sessions,
}

impl Feed {
    /// True if the stream is about events of this kind.
    pub(super) fn carries(self, event: &Event) -> bool {
        let of = match event {
            Event::AgentSessionChanged { .. } => Self::Sessions,
            _ => Self::Conversation,
        };
        self == of
    }
}

/// True for events that only the server itself listens to.
pub(super) fn is_internal(event: &Event) -> bool {
    matches!(event, Event::MessageSettled { .. } | Event::ActivityChanged { .. })
}

/// True if `viewer`, whose access it is, may see `event`.
///
/// # Errors
///
/// [`StorageError`] if that cannot be read; the event must not be shown then.
pub(super) async fn is_visible(
    access: &impl Access,
    viewer: AccountId,
    event: &Event,
) -> Result<bool, StorageError> {
    match event {
        Event::MessagePosted(message) | Event::MessageUpdated(message) => {
            access.participates(message.channel()).await
        }
        Event::TopicUpserted(topic) | Event::TopicMerged { into: topic, .. } => {
            access.participates(topic.channel).await
        }
        Event::ReadPositionChanged { account, .. } if *account != viewer => Ok(false),
        Event::ReadPositionChanged { channel, .. } => access.participates(*channel).await,
        Event::ChannelChanged { removed, .. } if removed.contains(&viewer) => Ok(true),
        Event::ChannelChanged { channel, .. } => access.sees_channel(channel.id).await,
        Event::ChannelGroupChanged(group) => access.sees_group(group.id).await,
        Event::AccountChanged(account) if account.is_visible_to(viewer, || false) => Ok(true),
        Event::AccountChanged(account) => {
            let shares = access.shares_channel(account.id).await?;
            Ok(account.is_visible_to(viewer, || shares))
        }
        Event::AgentPresenceChanged { agent, .. } if *agent == viewer => Ok(true),
        Event::AgentPresenceChanged { agent, .. } => access.shares_channel(*agent).await,
        Event::AgentSessionChanged { agent, .. } => access.sees_account(*agent).await,
        Event::MessageSettled { .. } | Event::ActivityChanged { .. } => Ok(false),
    }
}
