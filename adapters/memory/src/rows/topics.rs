//! Topic rows: by id, by the key of their name, by channel.

use std::sync::Arc;

use compass_comms::ports::MovedTopic;
use compass_domain::{ChannelId, Topic, TopicId};
use compass_ports::{StorageError, TopicWrite};

use super::{HIGHEST, Index, LOWEST, Map, Tree, pairs};

/// The topics of a tenant.
#[derive(Clone, Default)]
pub(crate) struct Topics {
    by_id: Map<TopicId, Arc<Topic>>,
    by_name: Map<(ChannelId, String), TopicId>,
    of_channel: Index<(ChannelId, TopicId)>,
    /// Where topics went that were joined to others.
    moved: Tree<(ChannelId, TopicId), TopicId>,
}

impl Topics {
    pub(crate) fn put(&mut self, write: &TopicWrite) -> Result<(), StorageError> {
        let topic = &write.topic;
        let key = (topic.channel, topic.name.key().to_owned());
        if self.by_name.get(&key).is_some_and(|id| *id != topic.id) {
            return Err(StorageError::Conflict(format!("topic name {:?} is taken", topic.name.as_str())));
        }
        match (self.by_id.get(&topic.id), write.created) {
            (Some(_), true) => return Err(StorageError::Conflict(format!("topic {} exists", topic.id))),
            (None, false) => return Err(StorageError::Conflict(format!("topic {} is gone", topic.id))),
            (Some(old), false) => {
                let old_key = (old.channel, old.name.key().to_owned());
                if old_key != key {
                    self.by_name.remove_mut(&old_key);
                    self.by_name.insert_mut(key, topic.id);
                }
            }
            (None, true) => {
                self.by_name.insert_mut(key, topic.id);
                self.of_channel.insert_mut((topic.channel, topic.id));
            }
        }
        self.by_id.insert_mut(topic.id, Arc::clone(topic));
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: TopicId) {
        let Some(topic) = self.by_id.get(&id).cloned() else { return };
        self.by_id.remove_mut(&id);
        self.by_name.remove_mut(&(topic.channel, topic.name.key().to_owned()));
        self.of_channel.remove_mut(&(topic.channel, id));
    }

    /// Keeps where a topic goes; what went there before goes on with it.
    pub(crate) fn keep_moved(&mut self, channel: ChannelId, from: TopicId, into: TopicId) {
        let before: Vec<TopicId> =
            self.moved_in(channel).filter(|moved| moved.into == from).map(|moved| moved.topic).collect();
        for topic in before.into_iter().chain([from]) {
            self.moved.insert_mut((channel, topic), into);
        }
    }

    /// The topics of a channel that were joined to others, by id.
    pub(crate) fn moved_in(&self, channel: ChannelId) -> impl Iterator<Item = MovedTopic> + '_ {
        let (lowest, highest) = (TopicId::from_bytes(LOWEST), TopicId::from_bytes(HIGHEST));
        let moved = self.moved.range(pairs(channel, lowest, highest));
        moved.map(|((_, topic), into)| MovedTopic { topic: *topic, into: *into })
    }

    pub(crate) fn find(&self, id: TopicId) -> Option<&Arc<Topic>> {
        self.by_id.get(&id)
    }

    pub(crate) fn named(&self, channel: ChannelId, key: &str) -> Option<&Arc<Topic>> {
        self.by_name.get(&(channel, key.to_owned())).and_then(|id| self.by_id.get(id))
    }

    pub(crate) fn of(&self, channel: ChannelId) -> impl Iterator<Item = &Arc<Topic>> {
        let (lowest, highest) = (TopicId::from_bytes(LOWEST), TopicId::from_bytes(HIGHEST));
        let ids = self.of_channel.range(pairs(channel, lowest, highest));
        ids.filter_map(|(_, id)| self.by_id.get(id))
    }
}
