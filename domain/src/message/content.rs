//! What a poster sends, checked once and given ask ids.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{MessageBlock, size};
use crate::{
    ask::{Ask, AskDraft, AskDraftError, hash_count, hash_text},
    id::{AskId, ChannelId},
    limits::{self, LimitError},
    mention,
    topic::TopicSelector,
};

/// A block as a client sent it, with every server-owned field already dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DraftBlock {
    /// Text.
    Text(String),
    /// An ask.
    Ask(AskDraft),
}

/// Blocks that passed every rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    blocks: Arc<[MessageBlock]>,
    has_mention: bool,
}

/// Why blocks cannot be posted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// A message says something.
    #[error("blocks is empty")]
    NoBlocks,
    /// An ask breaks a rule.
    #[error("blocks[{index}].ask: {source}")]
    Ask {
        /// Which block.
        index: usize,
        /// Which rule.
        source: AskDraftError,
    },
    /// A limit was passed.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl Content {
    /// Checks blocks and gives every ask an id.
    ///
    /// # Errors
    ///
    /// [`ContentError`] that names the block and the rule.
    pub fn compose(blocks: Vec<DraftBlock>, mut mint: impl FnMut() -> AskId) -> Result<Self, ContentError> {
        if blocks.is_empty() {
            return Err(ContentError::NoBlocks);
        }
        limits::check_count("blocks", blocks.len(), limits::BLOCKS, "blocks")?;
        limits::check_count("message", size::encoded(&blocks), limits::MESSAGE_BYTES, "bytes")?;
        let mut has_mention = false;
        let mut checked = Vec::with_capacity(blocks.len());
        for (index, block) in blocks.into_iter().enumerate() {
            checked.push(match block {
                DraftBlock::Text(text) => {
                    limits::check_nul(&format!("blocks[{index}].text"), &text)?;
                    has_mention |= mention::has_mention(&text);
                    MessageBlock::text(&text)
                }
                DraftBlock::Ask(ask) => {
                    let questions = ask.check().map_err(|source| ContentError::Ask { index, source })?;
                    MessageBlock::ask(Ask::new(mint(), questions))
                }
            });
        }
        Ok(Self { blocks: checked.into(), has_mention })
    }

    /// The blocks, shared.
    pub fn blocks(&self) -> &Arc<[MessageBlock]> {
        &self.blocks
    }

    /// True if a text block mentions anyone.
    pub fn has_mention(&self) -> bool {
        self.has_mention
    }
}

/// A poster's key: with it, a repeat of a post returns the first one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses a key; an empty text is no key.
    ///
    /// # Errors
    ///
    /// [`LimitError`] with the limit and the actual size.
    pub fn parse(text: &str) -> Result<Option<Self>, LimitError> {
        limits::check_bytes("client_request_id", text, limits::KEY_BYTES)?;
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// SHA-256 over a post as it was sent, by which a repeat is told from another message under the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequestDigest(pub [u8; 32]);

/// The digest of a post: its channel, its topic as sent, its blocks.
pub fn request_digest(channel: ChannelId, topic: &TopicSelector, blocks: &[DraftBlock]) -> RequestDigest {
    let mut hash = Sha256::new();
    hash.update(channel.as_bytes());
    match topic {
        TopicSelector::Id(id) => {
            hash.update([0]);
            hash.update(id.as_bytes());
        }
        TopicSelector::Name { name, existing_only } => {
            hash.update([1, u8::from(*existing_only)]);
            hash_text(&mut hash, name.as_str());
        }
    }
    hash_count(&mut hash, blocks.len());
    for block in blocks {
        match block {
            DraftBlock::Text(text) => {
                hash.update([0]);
                hash_text(&mut hash, text);
            }
            DraftBlock::Ask(ask) => {
                hash.update([1]);
                hash_ask(&mut hash, ask);
            }
        }
    }
    RequestDigest(hash.finalize().into())
}

fn hash_ask(hash: &mut Sha256, ask: &AskDraft) {
    hash_count(hash, ask.questions.len());
    for question in &ask.questions {
        for text in [&question.id, &question.text, &question.header] {
            hash_text(hash, text);
        }
        hash_count(hash, question.options.len());
        for option in &question.options {
            for text in [&option.id, &option.label, &option.description, &option.preview] {
                hash_text(hash, text);
            }
        }
        hash.update([u8::from(question.allow_multiple), u8::from(question.recommended.is_some())]);
        hash.update(question.recommended.unwrap_or_default().to_be_bytes());
    }
}
