//! Which events a viewer may see: the rule of the read that shows the same thing.

use compass_domain::{AccountId, Actor, ChannelId, Event};
use compass_ports::StorageError;

use crate::ports::ReadUnit;

/// True for events that only the server itself listens to.
pub fn is_internal(event: &Event) -> bool {
    matches!(event, Event::MessageSettled { .. } | Event::ActivityChanged { .. })
}

/// True if `viewer` may see `event` by the state of `unit`.
///
/// # Errors
///
/// [`StorageError`] if the state cannot be read; the event must not be shown then.
pub async fn is_visible(unit: &mut dyn ReadUnit, viewer: Actor, event: &Event) -> Result<bool, StorageError> {
    match event {
        Event::MessagePosted(message) | Event::MessageUpdated(message) => {
            participates(unit, viewer.id, message.channel()).await
        }
        Event::TopicUpserted(topic) | Event::TopicMerged { into: topic, .. } => {
            participates(unit, viewer.id, topic.channel).await
        }
        Event::ReadPositionChanged { account, .. } if *account != viewer.id => Ok(false),
        Event::ReadPositionChanged { channel, .. } => participates(unit, viewer.id, *channel).await,
        Event::ChannelChanged { removed, .. } if removed.contains(&viewer.id) => Ok(true),
        Event::ChannelChanged { channel, .. } => unit.sees_channel(viewer, channel.id).await,
        Event::AccountChanged(account) => unit.sees_account(viewer, account.id).await,
        Event::AgentPresenceChanged { agent, .. } if *agent == viewer.id => Ok(true),
        Event::AgentPresenceChanged { agent, .. } => unit.share_channel(viewer.id, *agent).await,
        Event::MessageSettled { .. } | Event::ActivityChanged { .. } => Ok(false),
    }
}

async fn participates(
    unit: &mut dyn ReadUnit,
    viewer: AccountId,
    channel: ChannelId,
) -> Result<bool, StorageError> {
    Ok(!unit.participating(viewer, &[channel]).await?.is_empty())
}
