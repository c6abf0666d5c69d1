//! Stored messages: plain columns come in, a [`Message`] or [`Corrupt`] comes out.

use super::{AskAnswer, Block, Message, MessageBlock};
use crate::{
    ask::{Ask, AskEntry, AskState, StoredAsk},
    error::Corrupt,
    id::{AccountId, AskId, ChannelId, MessageId, Seq, TopicId, UnixMillis},
};

/// A message's columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredMessage {
    /// Which.
    pub id: MessageId,
    /// Its channel.
    pub channel: ChannelId,
    /// Its topic.
    pub topic: TopicId,
    /// Who posted it.
    pub author: AccountId,
    /// When.
    pub at: UnixMillis,
    /// Its place in the channel.
    pub seq: Seq,
    /// Its number among the agent messages since a person last posted; zero if no agent wrote it.
    pub run: u32,
    /// Its blocks, decoded.
    pub blocks: Vec<StoredBlock>,
}

/// One decoded block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoredBlock {
    /// Text.
    Text(String),
    /// An ask.
    Ask(StoredAsk),
    /// The answer to an ask.
    Answer {
        /// The snapshot.
        ask: StoredAsk,
        /// Who asked, as 32 hexadecimal digits.
        asker: String,
    },
}

impl Message {
    /// Restores a message; `entry` finds the index entry of an ask.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] that names the message and the block.
    pub fn restore<'a>(
        stored: StoredMessage,
        entry: impl Fn(AskId) -> Option<&'a AskEntry>,
    ) -> Result<Self, Corrupt> {
        let id = stored.id;
        if stored.blocks.is_empty() {
            return Err(Corrupt::new(format!("message {id} has no blocks")));
        }
        let blocks = stored.blocks.into_iter().enumerate().map(|(index, block)| {
            restore_block(id, block, &entry)
                .map_err(|Corrupt(what)| Corrupt::new(format!("message {id} block {index}: {what}")))
        });
        Ok(Self {
            id,
            channel: stored.channel,
            topic: stored.topic,
            author: stored.author,
            at: stored.at,
            seq: stored.seq,
            run: stored.run,
            blocks: blocks.collect::<Result<_, _>>()?,
        })
    }
}

impl MessageBlock {
    /// The block as its message's row holds it.
    pub fn stored(&self) -> StoredBlock {
        match &self.0 {
            Block::Text(text) => StoredBlock::Text(text.to_string()),
            Block::Ask(ask) => StoredBlock::Ask(ask.stored()),
            Block::Answer(answer) => {
                StoredBlock::Answer { ask: answer.ask.stored(), asker: answer.asker.to_string() }
            }
        }
    }
}

fn restore_block<'a>(
    message: MessageId,
    stored: StoredBlock,
    entry: &impl Fn(AskId) -> Option<&'a AskEntry>,
) -> Result<MessageBlock, Corrupt> {
    let find = |ask: &StoredAsk| ask.ask_id.parse().ok().and_then(entry);
    Ok(MessageBlock(match stored {
        StoredBlock::Text(text) => Block::Text(text.into()),
        StoredBlock::Ask(stored) => {
            let found = find(&stored);
            if found.is_some_and(|found| found.message != message) {
                return Err(Corrupt::new("the ask's entry names another message"));
            }
            Block::Ask(Ask::restore(stored, found)?)
        }
        StoredBlock::Answer { ask: stored, asker } => {
            let found = find(&stored);
            let ask = Ask::restore(stored, found)?;
            if !matches!(ask.state(), AskState::Answered { .. }) {
                return Err(Corrupt::new("the snapshot of an answer is not answered"));
            }
            let asker = asker.parse().map_err(|_| Corrupt::new(format!("asker id {asker:?}")))?;
            Block::Answer(AskAnswer { ask, asker })
        }
    }))
}
