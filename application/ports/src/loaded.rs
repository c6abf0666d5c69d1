//! The locked rows of a batch, as its jobs see them. A decided job's writes are applied before the next decides.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use compass_domain::{
    AccountId, AskId, ChannelId, Corrupt, LockedAsk, Message, MessageId, Seq, Topic, TopicId,
    ask::ContentDigest,
    channel::ChannelHead,
    delivery::{AgentMember, Cursor},
    message::{IdempotencyKey, RequestDigest},
};

use crate::{OwedRow, Writes};

/// What a batch locked and loaded.
#[derive(Debug, Default)]
pub struct Loaded {
    channels: HashMap<ChannelId, ChannelHead>,
    participants: HashSet<(ChannelId, AccountId)>,
    topics: HashMap<TopicId, Arc<Topic>>,
    topic_keys: HashMap<(ChannelId, String), TopicId>,
    posted: HashMap<(AccountId, IdempotencyKey), Posted>,
    asks: HashMap<AskId, Result<LoadedAsk, Corrupt>>,
    messages: HashMap<MessageId, Arc<Message>>,
    places: HashMap<MessageId, (ChannelId, Seq)>,
    cursors: HashMap<(AccountId, ChannelId), CursorState>,
    owed: HashSet<(AccountId, MessageId)>,
    unrouted: HashMap<MessageId, Result<Arc<Message>, Corrupt>>,
    audiences: HashMap<ChannelId, Arc<[AgentMember]>>,
}

/// What was posted under a key.
#[derive(Debug, Clone)]
pub struct Posted {
    /// The message, as it is now.
    pub message: Arc<Message>,
    /// The digest of the request that posted it.
    pub digest: RequestDigest,
}

/// An ask's entry, which never changes but for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedAsk {
    /// Its channel.
    pub channel: ChannelId,
    /// The message that holds it.
    pub message: MessageId,
    /// Who posted it.
    pub author: AccountId,
    /// Digest of its questions as posted.
    pub digest: ContentDigest,
}

/// A cursor, and the agent's own messages above what it acknowledged.
#[derive(Debug, Clone, Default)]
pub struct CursorState {
    /// What is acknowledged.
    pub cursor: Cursor,
    /// Seqs the agent wrote itself, above the acknowledged one.
    pub own: BTreeSet<Seq>,
}

/// What an acknowledgement can change.
#[derive(Debug, Clone, Copy)]
pub struct Receipt<'a> {
    /// The message's channel.
    pub channel: ChannelId,
    /// Its place there.
    pub seq: Seq,
    /// True if an owed row waits for it.
    pub is_owed: bool,
    /// The agent's cursor in that channel; none means it is owed nothing there.
    pub cursor: Option<&'a CursorState>,
}

/// A message that is not routed yet, and the agents that take part in its channel.
#[derive(Debug, Clone)]
pub struct Routing {
    /// The message.
    pub message: Arc<Message>,
    /// The agents.
    pub members: Arc<[AgentMember]>,
}

impl Loaded {
    /// Nothing loaded.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a locked channel.
    pub fn put_channel(&mut self, head: ChannelHead) {
        self.channels.insert(head.id, head);
    }

    /// Adds the fact that an account takes part in a channel.
    pub fn put_participant(&mut self, channel: ChannelId, account: AccountId) {
        self.participants.insert((channel, account));
    }

    /// Adds a locked topic.
    pub fn put_topic(&mut self, topic: Arc<Topic>) {
        self.topic_keys.insert((topic.channel, topic.name.key().to_owned()), topic.id);
        self.topics.insert(topic.id, topic);
    }

    /// Adds what was posted under a key.
    pub fn put_posted(&mut self, author: AccountId, key: IdempotencyKey, posted: Posted) {
        self.posted.insert((author, key), posted);
    }

    /// Adds an ask with its locked message; one whose rows disagree is added as corrupt.
    pub fn put_ask(&mut self, id: AskId, found: Result<(LoadedAsk, Arc<Message>), Corrupt>) {
        let found = found.map(|(ask, message)| {
            self.messages.insert(message.id(), message);
            ask
        });
        self.asks.insert(id, found);
    }

    /// Adds where a message stands, for acknowledgements.
    pub fn put_place(&mut self, message: MessageId, channel: ChannelId, seq: Seq) {
        self.places.insert(message, (channel, seq));
    }

    /// Adds a locked cursor.
    pub fn put_cursor(&mut self, agent: AccountId, channel: ChannelId, state: CursorState) {
        self.cursors.insert((agent, channel), state);
    }

    /// Adds a locked owed row.
    pub fn put_owed(&mut self, agent: AccountId, message: MessageId) {
        self.owed.insert((agent, message));
    }

    /// Adds a message whose unrouted row is locked.
    pub fn put_unrouted(&mut self, id: MessageId, message: Result<Arc<Message>, Corrupt>) {
        self.unrouted.insert(id, message);
    }

    /// Adds the agents of a channel.
    pub fn put_audience(&mut self, channel: ChannelId, members: Arc<[AgentMember]>) {
        self.audiences.insert(channel, members);
    }

    /// A channel, if `account` takes part in it; absent and invisible look the same.
    pub fn channel_for(&self, channel: ChannelId, account: AccountId) -> Option<&ChannelHead> {
        let head = self.channels.get(&channel)?;
        self.participants.contains(&(channel, account)).then_some(head)
    }

    /// A topic of a channel by id.
    pub fn topic(&self, channel: ChannelId, id: TopicId) -> Option<&Arc<Topic>> {
        self.topics.get(&id).filter(|topic| topic.channel == channel)
    }

    /// A topic of a channel by the key of its name.
    pub fn topic_named(&self, channel: ChannelId, key: &str) -> Option<&Arc<Topic>> {
        let id = self.topic_keys.get(&(channel, key.to_owned()))?;
        self.topics.get(id)
    }

    /// What was posted under a key.
    pub fn posted(&self, author: AccountId, key: &IdempotencyKey) -> Option<&Posted> {
        self.posted.get(&(author, key.clone()))
    }

    /// An ask that `account` may see; absent and invisible look the same.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if its rows disagree.
    pub fn ask_for(&self, ask: AskId, account: AccountId) -> Result<Option<LoadedAsk>, Corrupt> {
        let Some(found) = self.asks.get(&ask) else { return Ok(None) };
        let found = found.clone()?;
        Ok(self.participants.contains(&(found.channel, account)).then_some(found))
    }

    /// The ask inside its locked message.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the message does not hold it.
    pub fn lock_ask(&self, id: AskId, found: &LoadedAsk) -> Result<LockedAsk, Corrupt> {
        let message = self.messages.get(&found.message);
        let message = message.ok_or_else(|| Corrupt::new(format!("ask {id} has no message")))?;
        LockedAsk::restore(message, id)
    }

    /// A channel without a check of who asks; for writers that checked before.
    pub fn channel(&self, channel: ChannelId) -> Option<&ChannelHead> {
        self.channels.get(&channel)
    }

    /// The topic a locked message stands in.
    pub fn topic_of(&self, message: MessageId) -> Option<&Arc<Topic>> {
        self.topics.get(&self.messages.get(&message)?.topic())
    }

    /// What an acknowledgement of `message` by `agent` can change; none if the message does not exist.
    pub fn receipt(&self, agent: AccountId, message: MessageId) -> Option<Receipt<'_>> {
        let &(channel, seq) = self.places.get(&message)?;
        let is_owed = self.owed.contains(&(agent, message));
        Some(Receipt { channel, seq, is_owed, cursor: self.cursors.get(&(agent, channel)) })
    }

    /// A message to route; none if it was routed before or is being routed elsewhere.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if its row cannot be read.
    pub fn routing(&self, message: MessageId) -> Result<Option<Routing>, Corrupt> {
        let Some(found) = self.unrouted.get(&message) else { return Ok(None) };
        let message = found.clone()?;
        let members = self.audiences.get(&message.channel()).cloned().unwrap_or_else(|| Arc::from([]));
        Ok(Some(Routing { message, members }))
    }

    /// An ask with its message, without a check of who asks; none if its rows disagree.
    pub fn ask(&self, id: AskId) -> Option<(LoadedAsk, &Arc<Message>)> {
        let found = self.asks.get(&id)?.as_ref().ok()?;
        Some((*found, self.messages.get(&found.message)?))
    }

    /// Where a message stands.
    pub fn place(&self, message: MessageId) -> Option<(ChannelId, Seq)> {
        self.places.get(&message).copied()
    }

    /// An agent's cursor in a channel.
    pub fn cursor(&self, agent: AccountId, channel: ChannelId) -> Option<&CursorState> {
        self.cursors.get(&(agent, channel))
    }

    /// Takes over the rows of a newer batch that a later job may be decided from before it locks them: heads, topics,
    /// asks, places and cursors.
    pub fn absorb(&mut self, newer: Self) {
        self.channels.extend(newer.channels);
        self.topics.extend(newer.topics);
        self.topic_keys.extend(newer.topic_keys);
        self.asks.extend(newer.asks);
        self.messages.extend(newer.messages);
        self.places.extend(newer.places);
        self.cursors.extend(newer.cursors);
    }

    /// How many rows it holds of those that [`Loaded::absorb`] takes over.
    pub fn len(&self) -> usize {
        self.channels.len()
            + self.topics.len()
            + self.asks.len()
            + self.messages.len()
            + self.places.len()
            + self.cursors.len()
    }

    /// True if it holds none of them.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes a decided job's writes visible to the jobs after it.
    pub fn apply(&mut self, writes: &Writes) {
        for new in &writes.appended {
            let message = new.message();
            if let Some(head) = self.channels.get_mut(&message.channel()) {
                head.last_seq = message.seq();
                head.last_at = message.at();
            }
            if let Some((key, digest)) = new.key() {
                let posted = Posted { message: Arc::clone(message), digest: *digest };
                self.posted.insert((message.author(), key.clone()), posted);
            }
        }
        for closed in &writes.closed {
            let message = closed.message();
            self.messages.insert(message.id(), Arc::clone(message));
            for posted in self.posted.values_mut().filter(|posted| posted.message.id() == message.id()) {
                posted.message = Arc::clone(message);
            }
        }
        for write in &writes.topics {
            self.put_topic(Arc::clone(&write.topic));
        }
        for write in &writes.cursors {
            let state = self.cursors.entry((write.agent, write.channel)).or_default();
            state.cursor = write.cursor.clone();
        }
        for owed in &writes.cleared_owed {
            self.owed.remove(owed);
        }
        for &OwedRow { agent, message, .. } in &writes.owed {
            self.owed.insert((agent, message));
        }
        for message in &writes.routed {
            self.unrouted.remove(message);
        }
    }
}
