//! A message's row with the entries of its asks, read as one JSON object, and how it becomes a [`Message`].

use std::sync::Arc;

use compass_domain::{
    AccountId, AskId, ChannelId, Corrupt, Message, MessageId, Seq, TopicId, UnixMillis,
    ask::{AskEntry, ContentDigest, End, Ended},
    message::StoredMessage,
};
use serde::Deserialize;
use uuid::Uuid;

use crate::{blocks, ids::TypedId};

/// Keys and values of a message `m`, for the JSON object of a statement on Postgres.
macro_rules! postgres_message {
    () => {
        "'id', m.id, 'channel', m.channel, 'topic', m.topic, 'author', m.author, 'at', m.at_ms, 'seq', m.seq,
    'run', m.agent_run, 'entries', (
        SELECT json_agg(json_build_object('ask', e.ask_id, 'message', e.message,
            'digest', encode(e.digest, 'hex'), 'at', e.closed_at_ms, 'by', e.closed_by, 'ended', e.ended))
        FROM asks e WHERE e.message = m.id OR e.ask_id = m.answers_ask_id)"
    };
}

/// The same on SQLite.
macro_rules! sqlite_message {
    () => {
        "'id', lower(hex(m.id)), 'channel', lower(hex(m.channel)), 'topic', lower(hex(m.topic)),
    'author', lower(hex(m.author)), 'at', m.at_ms, 'seq', m.seq,
    'run', m.agent_run, 'entries', json((
        SELECT json_group_array(json_object('ask', lower(hex(e.ask_id)), 'message', lower(hex(e.message)),
            'digest', lower(hex(e.digest)), 'at', e.closed_at_ms,
            'by', CASE WHEN e.closed_by IS NOT NULL THEN lower(hex(e.closed_by)) END, 'ended', e.ended))
        FROM asks e WHERE e.message = m.id OR e.ask_id = m.answers_ask_id))"
    };
}

pub(crate) use {postgres_message, sqlite_message};

/// An id as either database writes it in JSON.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Id(Uuid);

impl TryFrom<String> for Id {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Uuid::parse_str(&text).map(Self)
    }
}

impl Id {
    /// As the id of an entity.
    pub(crate) fn typed<T: TypedId>(self) -> T {
        T::from_uuid(self.0)
    }
}

/// Reads 32 bytes from 64 hexadecimal digits.
///
/// # Errors
///
/// [`Corrupt`] for any other text.
pub(crate) fn digest(text: &str) -> Result<[u8; 32], Corrupt> {
    let wrong = || Corrupt::new(format!("digest {text:?} is not 64 hexadecimal digits"));
    let (one, other) = text.split_at_checked(32).ok_or_else(wrong)?;
    let half = |digits: &str| Uuid::try_parse(digits).map(Uuid::into_bytes).map_err(|_| wrong());
    let mut bytes = [0; 32];
    let halves = half(one)?.into_iter().chain(half(other)?);
    bytes.iter_mut().zip(halves).for_each(|(byte, value)| *byte = value);
    Ok(bytes)
}

/// A message's columns, without its blocks.
#[derive(Debug, Deserialize)]
pub(crate) struct MessageJson {
    id: Id,
    channel: Id,
    topic: Id,
    author: Id,
    at: i64,
    seq: u64,
    run: u32,
    entries: Option<Vec<EntryJson>>,
}

#[derive(Debug, Deserialize)]
struct EntryJson {
    ask: Id,
    message: Id,
    digest: String,
    at: Option<i64>,
    by: Option<Id>,
    ended: Option<i16>,
}

impl MessageJson {
    /// Which message.
    pub(crate) fn id(&self) -> MessageId {
        self.id.typed()
    }

    /// Who posted it.
    pub(crate) fn author(&self) -> AccountId {
        self.author.typed()
    }

    /// Builds the message from its columns and its blocks.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if its blocks cannot be read or disagree with the entries of its asks.
    pub(crate) fn restore(self, stored_blocks: &str) -> Result<Arc<Message>, Corrupt> {
        let id: MessageId = self.id.typed();
        let name = |Corrupt(what): Corrupt| Corrupt::new(format!("message {id}: {what}"));
        let entries = self.entries.unwrap_or_default();
        let entries: Vec<AskEntry> =
            entries.into_iter().map(EntryJson::restore).collect::<Result<_, _>>().map_err(name)?;
        let stored = StoredMessage {
            id,
            channel: self.channel.typed::<ChannelId>(),
            topic: self.topic.typed::<TopicId>(),
            author: self.author.typed::<AccountId>(),
            at: UnixMillis(self.at),
            seq: Seq(self.seq),
            run: self.run,
            blocks: blocks::decode(stored_blocks).map_err(name)?,
        };
        let entry = |ask: AskId| entries.iter().find(|entry| entry.ask == ask);
        Message::restore(stored, entry).map(Arc::new)
    }
}

impl EntryJson {
    fn restore(self) -> Result<AskEntry, Corrupt> {
        let ask: AskId = self.ask.typed();
        let ended = match (self.ended, self.by, self.at) {
            (None, None, None) => None,
            (Some(ended), Some(by), Some(at)) => {
                let end = match ended {
                    1 => End::Answered,
                    2 => End::Cancelled,
                    _ => return Err(Corrupt::new(format!("ask {ask} ended in way {ended}"))),
                };
                Some(Ended { end, by: by.typed(), at: UnixMillis(at) })
            }
            _ => return Err(Corrupt::new(format!("ask {ask} ended halfway"))),
        };
        let digest = ContentDigest(digest(&self.digest)?);
        Ok(AskEntry { ask, message: self.message.typed(), digest, ended })
    }
}
