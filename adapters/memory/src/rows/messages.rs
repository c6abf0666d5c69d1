//! Message rows and the entries of their asks, with the indexes that reads walk.

use std::sync::Arc;

use compass_domain::{
    AccountId, AskId, BlockView, ChannelId, ClosedAsk, Message, MessageBlock, MessageId, NewMessage,
    Position, Seq, TopicId,
    ask::ContentDigest,
    message::{IdempotencyKey, RequestDigest},
};
use compass_ports::StorageError;

use super::{Index, Map, Tree, pairs};

/// A message's row.
#[derive(Clone)]
pub(crate) struct MessageRow {
    pub(crate) message: Arc<Message>,
    pub(crate) position: Position,
    /// Size of its blocks, for the byte bound of pages.
    pub(crate) bytes: usize,
    pub(crate) digest: Option<RequestDigest>,
}

/// An ask's entry.
#[derive(Clone, Copy)]
pub(crate) struct AskRow {
    pub(crate) channel: ChannelId,
    pub(crate) message: MessageId,
    pub(crate) author: AccountId,
    pub(crate) digest: ContentDigest,
    position: Position,
    is_open: bool,
}

/// The messages of a tenant.
#[derive(Clone, Default)]
pub(crate) struct Messages {
    by_id: Map<MessageId, Arc<MessageRow>>,
    of_channel: Tree<(ChannelId, Seq), MessageId>,
    of_topic: Tree<(TopicId, Seq), MessageId>,
    of_author: Index<(ChannelId, AccountId, Seq)>,
    keys: Map<(AccountId, IdempotencyKey), MessageId>,
    answers: Map<AskId, MessageId>,
    asks: Map<AskId, AskRow>,
    open: Index<(ChannelId, Position, AskId)>,
    open_of_author: Index<(AccountId, AskId)>,
    last_position: Position,
}

impl Messages {
    /// Adds a message's row and its asks' entries.
    pub(crate) fn append(&mut self, new: &NewMessage, position: Position) -> Result<(), StorageError> {
        let message = new.message();
        self.check_unique(new)?;
        for ask in message.asks() {
            let row = AskRow {
                channel: message.channel(),
                message: message.id(),
                author: message.author(),
                digest: ask.digest(),
                position,
                is_open: true,
            };
            self.asks.insert_mut(ask.id(), row);
            self.open.insert_mut((row.channel, position, ask.id()));
            self.open_of_author.insert_mut((row.author, ask.id()));
        }
        if let Some((key, _)) = new.key() {
            self.keys.insert_mut((message.author(), key.clone()), message.id());
        }
        if let Some((ask, _)) = new.answers() {
            self.answers.insert_mut(ask, message.id());
        }
        self.of_channel.insert_mut((message.channel(), message.seq()), message.id());
        self.of_topic.insert_mut((message.topic(), message.seq()), message.id());
        self.of_author.insert_mut((message.channel(), message.author(), message.seq()));
        self.last_position = position;
        let digest = new.key().map(|(_, digest)| *digest);
        let row = MessageRow { message: Arc::clone(message), position, bytes: bytes(message), digest };
        self.by_id.insert_mut(message.id(), Arc::new(row));
        Ok(())
    }

    fn check_unique(&self, new: &NewMessage) -> Result<(), StorageError> {
        let message = new.message();
        let conflict = |what: String| Err(StorageError::Conflict(what));
        if self.by_id.contains_key(&message.id()) {
            return conflict(format!("message {} exists", message.id()));
        }
        if self.of_channel.contains_key(&(message.channel(), message.seq())) {
            return conflict(format!("seq {} of channel {} is taken", message.seq().0, message.channel()));
        }
        if let Some((key, _)) = new.key()
            && self.keys.contains_key(&(message.author(), key.clone()))
        {
            return conflict(format!("account {} used its key before", message.author()));
        }
        if let Some((ask, _)) = new.answers()
            && self.answers.contains_key(&ask)
        {
            return conflict(format!("ask {ask} has an answer"));
        }
        match message.asks().find(|ask| self.asks.contains_key(&ask.id())) {
            Some(ask) => conflict(format!("ask {} exists", ask.id())),
            None => Ok(()),
        }
    }

    /// Ends an ask in its entry and its message, if the entry is still open.
    pub(crate) fn close(&mut self, closed: &ClosedAsk) -> Result<(), StorageError> {
        let id = closed.ask();
        let Some(entry) = self.asks.get(&id).filter(|entry| entry.is_open).copied() else {
            return Err(StorageError::Conflict(format!("ask {id} is not open")));
        };
        let row = self.by_id.get_mut(&entry.message);
        let row = row.ok_or_else(|| StorageError::Internal(format!("ask {id} has no message")))?;
        if !differs_in_one_ask(&row.message, closed.message(), id) {
            return Err(StorageError::Conflict(format!("message {} changed meanwhile", entry.message)));
        }
        let row = Arc::make_mut(row);
        row.message = Arc::clone(closed.message());
        row.bytes = bytes(closed.message());
        self.asks.insert_mut(id, AskRow { is_open: false, ..entry });
        self.open.remove_mut(&(entry.channel, entry.position, id));
        self.open_of_author.remove_mut(&(entry.author, id));
        Ok(())
    }

    /// Moves every message of a topic to another one.
    pub(crate) fn move_all(&mut self, from: TopicId, into: TopicId) {
        let moved: Vec<(Seq, MessageId)> = self
            .of_topic
            .range(pairs(from, Seq(0), Seq(u64::MAX)))
            .map(|((_, seq), id)| (*seq, *id))
            .collect();
        for (seq, id) in moved {
            self.of_topic.remove_mut(&(from, seq));
            self.of_topic.insert_mut((into, seq), id);
            if let Some(row) = self.by_id.get_mut(&id) {
                let row = Arc::make_mut(row);
                row.message = Arc::new(row.message.moved_to(into));
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.by_id.size()
    }

    pub(crate) fn find(&self, id: MessageId) -> Option<&Arc<MessageRow>> {
        self.by_id.get(&id)
    }

    pub(crate) fn posted(&self, author: AccountId, key: &IdempotencyKey) -> Option<&Arc<MessageRow>> {
        self.keys.get(&(author, key.clone())).and_then(|id| self.by_id.get(id))
    }

    pub(crate) fn ask(&self, id: AskId) -> Option<&AskRow> {
        self.asks.get(&id)
    }

    /// The message that answers an ask.
    pub(crate) fn answer_to(&self, ask: AskId) -> Option<MessageId> {
        self.answers.get(&ask).copied()
    }

    pub(crate) fn last_position(&self) -> Position {
        self.last_position
    }

    /// A channel's messages with seqs above `after`, oldest first.
    pub(crate) fn above(&self, channel: ChannelId, after: Seq) -> impl Iterator<Item = &Arc<MessageRow>> {
        let ids = self.of_channel.range(pairs(channel, after.next(), Seq(u64::MAX)));
        ids.filter_map(|(_, id)| self.by_id.get(id))
    }

    /// A channel's messages with seqs below `before`, newest first.
    pub(crate) fn below(&self, channel: ChannelId, before: Seq) -> impl Iterator<Item = &Arc<MessageRow>> {
        let ids = self.of_channel.range((channel, Seq(0))..(channel, before)).rev();
        ids.filter_map(|(_, id)| self.by_id.get(id))
    }

    /// A topic's messages with seqs below `before`, newest first.
    pub(crate) fn below_in_topic(
        &self,
        topic: TopicId,
        before: Seq,
    ) -> impl Iterator<Item = &Arc<MessageRow>> {
        let ids = self.of_topic.range((topic, Seq(0))..(topic, before)).rev();
        ids.filter_map(|(_, id)| self.by_id.get(id))
    }

    /// A topic's messages with seqs above `after`, oldest first.
    pub(crate) fn above_in_topic(
        &self,
        topic: TopicId,
        after: Seq,
    ) -> impl Iterator<Item = &Arc<MessageRow>> {
        let ids = self.of_topic.range(pairs(topic, after.next(), Seq(u64::MAX)));
        ids.filter_map(|(_, id)| self.by_id.get(id))
    }

    /// Seqs an account wrote in a channel, above `after`.
    pub(crate) fn own_above(
        &self,
        channel: ChannelId,
        author: AccountId,
        after: Seq,
    ) -> impl Iterator<Item = Seq> + '_ {
        let keys = (channel, author, after.next())..=(channel, author, Seq(u64::MAX));
        self.of_author.range(keys).map(|(_, _, seq)| *seq)
    }

    /// The messages of a channel's open asks, one entry per ask, by position.
    pub(crate) fn open_in(&self, channel: ChannelId) -> impl Iterator<Item = &Arc<MessageRow>> {
        let edge = |position, byte| (channel, Position(position), AskId::from_bytes([byte; 16]));
        let entries = self.open.range(edge(0, 0)..=edge(u64::MAX, 0xff));
        entries.filter_map(|(_, _, ask)| self.asks.get(ask).and_then(|row| self.by_id.get(&row.message)))
    }

    /// True if the account has an open ask anywhere.
    pub(crate) fn has_open_ask(&self, author: AccountId) -> bool {
        let edge = |byte| AskId::from_bytes([byte; 16]);
        self.open_of_author.range(pairs(author, edge(0), edge(0xff))).next().is_some()
    }
}

/// A lock keeps the other asks of a message as they were; a row that changed anyhow must not be overwritten.
fn differs_in_one_ask(stored: &Message, closed: &Message, ask: AskId) -> bool {
    let is_ask = |block: &MessageBlock| matches!(block.view(), BlockView::Ask(found) if found.id() == ask);
    let (old, new) = (stored.blocks(), closed.blocks());
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old == new || (is_ask(old) && is_ask(new)))
}

/// About the bytes a message's blocks take when encoded.
fn bytes(message: &Message) -> usize {
    let sizes = message.blocks().iter().map(|block| match block.view() {
        BlockView::Text(text) => text.len(),
        BlockView::Ask(ask) => ask_bytes(ask),
        BlockView::Answer(answer) => ask_bytes(answer.ask()),
    });
    sizes.map(|size| size + PER_ENTRY).sum()
}

/// What names and punctuation of an encoded entry take, roughly.
const PER_ENTRY: usize = 32;

fn ask_bytes(ask: &compass_domain::Ask) -> usize {
    let questions = ask.questions().iter().enumerate().map(|(index, question)| {
        let options = question.options().iter().map(|option| {
            let texts = [option.id(), option.label(), option.description(), option.preview()];
            texts.iter().map(|text| text.len()).sum::<usize>() + PER_ENTRY
        });
        let answer = ask.answer(index).map_or(0, |answer| {
            answer.custom_text().len() + answer.chosen().iter().map(|id| id.len() + PER_ENTRY).sum::<usize>()
        });
        let texts = [question.id(), question.text(), question.header()];
        texts.iter().map(|text| text.len()).sum::<usize>() + options.sum::<usize>() + answer + PER_ENTRY
    });
    questions.sum()
}
