//! Turns the rows a batch read into what its jobs see.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use compass_domain::{
    AccountId, AskId, ChannelId, Corrupt, MessageId, Seq, Topic, TopicName, UnixMillis,
    ask::ContentDigest,
    brake::AgentRun,
    channel::{ChannelHead, PostPolicy},
    delivery::{AgentMember, Cursor},
    message::{IdempotencyKey, RequestDigest},
};
use compass_ports::{CursorState, Loaded, LoadedAsk, Locks, Posted, StorageError};
use serde::{Deserialize, de::DeserializeOwned};

use super::{needs::Call, session::Row, sql::Read};
use crate::message_json::{Id, MessageJson, digest};

/// What a batch found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) loaded: Loaded,
    /// Keys whose message cannot be read; a job with one is not decided.
    unreadable: HashMap<(AccountId, IdempotencyKey), Corrupt>,
}

impl Found {
    /// The row that keeps a job from being decided, if there is one.
    pub(super) fn unreadable(&self, locks: &Locks) -> Option<Corrupt> {
        match locks {
            Locks::Post { author, key: Some(key), .. } => {
                self.unreadable.get(&(*author, key.clone())).cloned()
            }
            _ => None,
        }
    }
}

/// Reads the rows of every call.
///
/// # Errors
///
/// [`StorageError::Internal`] if a row does not have the shape its statement gives it, [`StorageError::Corrupt`]
/// if a channel, topic or cursor cannot be read.
pub(super) fn read(calls: &[Call], results: Vec<Vec<Row>>) -> Result<Found, StorageError> {
    let mut reader = Reader::default();
    for (call, rows) in calls.iter().zip(results) {
        for row in rows {
            reader.take(call.read, &row)?;
        }
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct Reader {
    found: Found,
    cursors: BTreeMap<(AccountId, ChannelId), CursorState>,
    locked: HashSet<MessageId>,
    audiences: BTreeMap<ChannelId, Vec<AgentMember>>,
}

impl Reader {
    fn take(&mut self, read: Read, row: &Row) -> Result<(), StorageError> {
        match read {
            Read::LockChannels => self.channel(&parse(row)?),
            Read::LockMessages => {}
            Read::LockTopics => self.topic(parse(row)?)?,
            Read::LockUnrouted => {
                let UnroutedRow { message } = parse(row)?;
                self.locked.insert(message.typed());
            }
            Read::LockOwed => {
                let OwedRow { agent, message } = parse(row)?;
                self.found.loaded.put_owed(agent.typed(), message.typed());
            }
            Read::LockCursors => {
                let CursorRow { agent, channel, acked, above } = parse(row)?;
                let cursor = Cursor::restore(Seq(acked), above.into_iter().map(Seq));
                let state = CursorState { cursor, ..CursorState::default() };
                self.cursors.insert((agent.typed(), channel.typed()), state);
            }
            Read::Participants => {
                let ParticipantRow { channel, account } = parse(row)?;
                self.found.loaded.put_participant(channel.typed(), account.typed());
            }
            Read::Posted => self.posted(row)?,
            Read::Asks => self.ask(row)?,
            Read::Places => {
                let PlaceRow { message, channel, seq } = parse(row)?;
                self.found.loaded.put_place(message.typed(), channel.typed(), Seq(seq));
            }
            Read::OwnSeqs => {
                let OwnRow { agent, channel, seq } = parse(row)?;
                if let Some(state) = self.cursors.get_mut(&(agent.typed(), channel.typed())) {
                    state.own.insert(Seq(seq));
                }
            }
            Read::Routed => self.routed(row)?,
            Read::Audience => {
                let MemberRow { channel, account, handle, in_sweep } = parse(row)?;
                let member = AgentMember { account: account.typed(), handle, in_sweep_set: in_sweep };
                self.audiences.entry(channel.typed()).or_default().push(member);
            }
        }
        Ok(())
    }

    fn channel(&mut self, row: &ChannelRow) {
        let policy = match row.owner {
            None => PostPolicy::Open,
            Some(owner) => PostPolicy::OwnerOnly { owner: owner.typed() },
        };
        let head =
            ChannelHead { id: row.id.typed(), last_seq: Seq(row.seq), last_at: UnixMillis(row.at), policy };
        self.found.loaded.put_channel(head);
    }

    fn topic(&mut self, row: TopicRow) -> Result<(), StorageError> {
        let id: compass_domain::TopicId = row.id.typed();
        let name = TopicName::parse(&row.name)
            .map_err(|error| Corrupt::new(format!("topic {id} has name {:?}: {error}", row.name)))?;
        self.found.loaded.put_topic(Arc::new(Topic {
            id,
            channel: row.channel.typed(),
            name,
            created_at: UnixMillis(row.created_at),
            created_by: row.created_by.typed(),
            archived: row.archived,
            last_seq: Seq(row.last_seq),
            message_count: row.messages,
            last_activity: UnixMillis(row.activity),
            participants: row.participants.into_iter().map(Id::typed).collect(),
            run: AgentRun { length: row.run, person: Seq(row.person) },
        }));
        Ok(())
    }

    fn posted(&mut self, row: &Row) -> Result<(), StorageError> {
        let PostedRow { key: text, digest: request, message } = parse(row)?;
        let author = message.author();
        let key = IdempotencyKey::parse(&text)
            .ok()
            .flatten()
            .ok_or_else(|| Corrupt::new(format!("client request id {text:?} of message {}", message.id())))?;
        let posted = message.restore(blocks(row)).and_then(|message| {
            let digest = RequestDigest(digest(&request)?);
            Ok(Posted { message, digest })
        });
        match posted {
            Ok(posted) => self.found.loaded.put_posted(author, key, posted),
            Err(corrupt) => {
                self.found.unreadable.insert((author, key), corrupt);
            }
        }
        Ok(())
    }

    fn ask(&mut self, row: &Row) -> Result<(), StorageError> {
        let AskRow { ask, ask_channel, ask_author, ask_digest, message } = parse(row)?;
        let id: AskId = ask.typed();
        let found = digest(&ask_digest).and_then(|bytes| {
            let loaded = LoadedAsk {
                channel: ask_channel.typed(),
                message: message.id(),
                author: ask_author.typed(),
                digest: ContentDigest(bytes),
            };
            let message = message.restore(blocks(row))?;
            if message.channel() != loaded.channel || message.author() != loaded.author {
                return Err(Corrupt::new(format!("ask {id} and its message name different owners")));
            }
            Ok((loaded, message))
        });
        self.found.loaded.put_ask(id, found);
        Ok(())
    }

    fn routed(&mut self, row: &Row) -> Result<(), StorageError> {
        let message: MessageJson = parse(row)?;
        let id = message.id();
        // A row that another transaction holds is being routed there.
        if self.locked.contains(&id) {
            self.found.loaded.put_unrouted(id, message.restore(blocks(row)));
        }
        Ok(())
    }

    fn finish(mut self) -> Found {
        for ((agent, channel), state) in self.cursors {
            self.found.loaded.put_cursor(agent, channel, state);
        }
        for (channel, members) in self.audiences {
            self.found.loaded.put_audience(channel, members.into());
        }
        self.found
    }
}

fn parse<T: DeserializeOwned>(row: &Row) -> Result<T, StorageError> {
    serde_json::from_str(&row.columns).map_err(|error| StorageError::Internal(format!("a row: {error}")))
}

fn blocks(row: &Row) -> &str {
    row.blocks.as_deref().unwrap_or_default()
}

#[derive(Deserialize)]
struct ChannelRow {
    id: Id,
    seq: u64,
    at: i64,
    owner: Option<Id>,
}

#[derive(Deserialize)]
struct TopicRow {
    id: Id,
    channel: Id,
    name: String,
    created_at: i64,
    created_by: Id,
    archived: bool,
    last_seq: u64,
    messages: u64,
    activity: i64,
    participants: Vec<Id>,
    run: u32,
    person: u64,
}

#[derive(Deserialize)]
struct UnroutedRow {
    message: Id,
}

#[derive(Deserialize)]
struct OwedRow {
    agent: Id,
    message: Id,
}

#[derive(Deserialize)]
struct CursorRow {
    agent: Id,
    channel: Id,
    acked: u64,
    above: Vec<u64>,
}

#[derive(Deserialize)]
struct ParticipantRow {
    channel: Id,
    account: Id,
}

#[derive(Deserialize)]
struct PostedRow {
    key: String,
    digest: String,
    #[serde(flatten)]
    message: MessageJson,
}

#[derive(Deserialize)]
struct AskRow {
    ask: Id,
    ask_channel: Id,
    ask_author: Id,
    ask_digest: String,
    #[serde(flatten)]
    message: MessageJson,
}

#[derive(Deserialize)]
struct PlaceRow {
    message: Id,
    channel: Id,
    seq: u64,
}

#[derive(Deserialize)]
struct OwnRow {
    agent: Id,
    channel: Id,
    seq: u64,
}

#[derive(Deserialize)]
struct MemberRow {
    channel: Id,
    account: Id,
    handle: String,
    in_sweep: bool,
}
