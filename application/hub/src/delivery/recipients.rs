//! Members and labels as the consumer last read them, kept true by the events it reads itself.

use std::{collections::HashMap, sync::Arc};

use compass_domain::{AccountId, ChannelId, Event, Message, TenantId, TopicId, delivery::AgentMember};
use compass_ports::StorageError;

use super::routing::asker;
use crate::ports::{Audience, Labels};

/// Entries of one map at the most; then it is emptied.
const KEPT_MAX: usize = 4096;

/// What one reader of the bus remembers between events.
#[derive(Debug, Default)]
pub(crate) struct Recipients {
    members: HashMap<ChannelId, Arc<[AgentMember]>>,
    channels: HashMap<ChannelId, String>,
    topics: HashMap<TopicId, String>,
    handles: HashMap<AccountId, String>,
}

impl Recipients {
    /// The agents of a channel.
    pub(crate) async fn members(
        &mut self,
        audience: &dyn Audience,
        tenant: &TenantId,
        channel: ChannelId,
    ) -> Result<Arc<[AgentMember]>, StorageError> {
        if let Some(known) = self.members.get(&channel) {
            return Ok(Arc::clone(known));
        }
        let members = audience.members(tenant, channel).await?;
        put(&mut self.members, channel, Arc::clone(&members));
        Ok(members)
    }

    /// A message's labels.
    pub(crate) async fn labels(
        &mut self,
        audience: &dyn Audience,
        tenant: &TenantId,
        message: &Message,
    ) -> Result<Labels, StorageError> {
        let asker = asker(message);
        let known = (
            self.topics.get(&message.topic()),
            self.channels.get(&message.channel()),
            self.handles.get(&message.author()),
            asker.map_or(Some(String::new()), |asker| self.handles.get(&asker).cloned()),
        );
        if let (Some(topic), Some(channel), Some(handle), Some(asker_handle)) = known {
            let (topic_name, channel_name) = (topic.clone(), channel.clone());
            return Ok(Labels { topic_name, channel_name, from_handle: handle.clone(), asker_handle });
        }
        let labels = audience.labels(tenant, message).await?;
        put(&mut self.topics, message.topic(), labels.topic_name.clone());
        put(&mut self.channels, message.channel(), labels.channel_name.clone());
        put(&mut self.handles, message.author(), labels.from_handle.clone());
        if let Some(asker) = asker {
            put(&mut self.handles, asker, labels.asker_handle.clone());
        }
        Ok(labels)
    }

    /// Forgets or renews what an event makes stale; comes before any use of the event.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::TopicUpserted(topic) => {
                put(&mut self.topics, topic.id, topic.name.as_str().to_owned());
            }
            Event::TopicMerged { from, into } => {
                self.topics.remove(from);
                put(&mut self.topics, into.id, into.name.as_str().to_owned());
            }
            Event::ChannelChanged { channel, .. } => {
                self.members.remove(&channel.id);
                put(&mut self.channels, channel.id, channel.name.as_str().to_owned());
            }
            Event::AccountChanged(account) => {
                // The tree may have changed, and with it who takes part where.
                self.members.clear();
                put(&mut self.handles, account.id, account.handle.as_str().to_owned());
            }
            Event::MessagePosted(_)
            | Event::MessageUpdated(_)
            | Event::MessageSettled { .. }
            | Event::ChannelGroupChanged(_)
            | Event::ReadPositionChanged { .. }
            | Event::ActivityChanged { .. }
            | Event::AgentSessionChanged { .. }
            | Event::AgentPresenceChanged { .. } => {}
        }
    }
}

fn put<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= KEPT_MAX && !map.contains_key(&key) {
        map.clear();
    }
    map.insert(key, value);
}
