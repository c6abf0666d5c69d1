//! Messages: blocks that only the domain makes, and the row a post or an answer becomes.

mod content;
mod restore;
mod size;

use std::sync::Arc;

pub use content::{Content, ContentError, DraftBlock, IdempotencyKey, RequestDigest, request_digest};
pub use restore::{StoredBlock, StoredMessage};

use crate::{
    account::{Actor, Human},
    ask::{Ask, AskState, ContentDigest},
    id::{AccountId, AskId, ChannelId, MessageId, Seq, TopicId, UnixMillis},
    mention,
    text::fold,
};

/// A message as it is stored and read. Blocks are shared, never copied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    id: MessageId,
    channel: ChannelId,
    topic: TopicId,
    author: AccountId,
    at: UnixMillis,
    seq: Seq,
    run: u32,
    blocks: Arc<[MessageBlock]>,
}

/// One block of a message: text, an ask, or the answer to one. Only this crate makes blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageBlock(Block);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Block {
    Text(Arc<str>),
    Ask(Ask),
    Answer(AskAnswer),
}

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockView<'a> {
    /// Text, as the poster sent it.
    Text(&'a str),
    /// An ask.
    Ask(&'a Ask),
    /// The answer to an ask.
    Answer(&'a AskAnswer),
}

/// The snapshot of an answered ask that its answer message carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskAnswer {
    ask: Ask,
    asker: AccountId,
}

impl AskAnswer {
    /// The ask, answered.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// Who asked.
    pub fn asker(&self) -> AccountId {
        self.asker
    }
}

impl MessageBlock {
    pub(crate) fn text(text: &str) -> Self {
        Self(Block::Text(text.into()))
    }

    pub(crate) fn ask(ask: Ask) -> Self {
        Self(Block::Ask(ask))
    }

    /// What it holds.
    pub fn view(&self) -> BlockView<'_> {
        match &self.0 {
            Block::Text(text) => BlockView::Text(text),
            Block::Ask(ask) => BlockView::Ask(ask),
            Block::Answer(answer) => BlockView::Answer(answer),
        }
    }
}

impl Message {
    /// Which.
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// Its channel.
    pub fn channel(&self) -> ChannelId {
        self.channel
    }

    /// Its topic.
    pub fn topic(&self) -> TopicId {
        self.topic
    }

    /// Who posted it.
    pub fn author(&self) -> AccountId {
        self.author
    }

    /// When, by the server's clock; never goes back within a channel.
    pub fn at(&self) -> UnixMillis {
        self.at
    }

    /// Its place in the channel.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// Its number among the agent messages of its topic since a person last posted there; zero if no agent wrote it.
    pub fn agent_run(&self) -> u32 {
        self.run
    }

    /// Its blocks; at least one.
    pub fn blocks(&self) -> &[MessageBlock] {
        &self.blocks
    }

    /// The asks it holds.
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.blocks.iter().filter_map(|block| match block.view() {
            BlockView::Ask(ask) => Some(ask),
            _ => None,
        })
    }

    /// The answer it carries, if it is an answer message.
    pub fn answer(&self) -> Option<&AskAnswer> {
        self.blocks.iter().find_map(|block| match block.view() {
            BlockView::Answer(answer) => Some(answer),
            _ => None,
        })
    }

    /// Whom its text blocks mention.
    pub fn mentions(&self) -> Vec<mention::Mention> {
        mention::mentions(self.texts())
    }

    /// What a search finds it by, folded: texts, question texts, and the custom texts of an answer.
    ///
    /// Folded here, because a database lowers only the letters its locale knows.
    pub fn search_text(&self) -> String {
        let mut lines: Vec<&str> = Vec::new();
        for block in self.blocks.iter() {
            match block.view() {
                BlockView::Text(text) => lines.push(text),
                BlockView::Ask(ask) => lines.extend(ask.questions().iter().map(crate::ask::Question::text)),
                BlockView::Answer(answer) => {
                    for (index, question) in answer.ask().questions().iter().enumerate() {
                        lines.push(question.text());
                        let custom = answer.ask().answer(index).map_or("", |a| a.custom_text());
                        if !custom.is_empty() {
                            lines.push(custom);
                        }
                    }
                }
            }
        }
        fold(&lines.join("\n"))
    }

    /// The same message in another topic of its channel.
    #[must_use]
    pub fn moved_to(&self, topic: TopicId) -> Self {
        Self { topic, ..self.clone() }
    }

    pub(crate) fn with_block(&self, index: usize, block: &MessageBlock) -> Self {
        let blocks = self.blocks.iter().enumerate();
        let blocks = blocks.map(|(at, old)| if at == index { block.clone() } else { old.clone() }).collect();
        Self { blocks, ..self.clone() }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block.view() {
            BlockView::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// Where a new message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Its id.
    pub id: MessageId,
    /// Its channel.
    pub channel: ChannelId,
    /// Its topic.
    pub topic: TopicId,
    /// Its place in the channel, given under the channel's lock.
    pub seq: Seq,
    /// Its time.
    pub at: UnixMillis,
    /// Its number among the agent messages since a person last posted; zero if no agent wrote it.
    pub run: u32,
}

/// A message that is not stored yet, with the facts its row keeps. Only this crate makes one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMessage {
    message: Arc<Message>,
    key: Option<(IdempotencyKey, RequestDigest)>,
    answers: Option<(AskId, ContentDigest)>,
    needs_routing: bool,
    mentioned: Option<String>,
}

impl NewMessage {
    /// A post.
    pub fn post(
        author: Actor,
        content: &Content,
        placement: Placement,
        key: Option<(IdempotencyKey, RequestDigest)>,
    ) -> Self {
        let needs_routing = author.is_agent() || content.has_mention();
        let message = message(author.id, content.blocks(), placement);
        let mentioned = content.has_mention().then(|| mention::listed(&message.mentions()));
        Self { message, key, answers: None, needs_routing, mentioned }
    }

    pub(crate) fn answer(by: Human, answered: &Ask, asker: AccountId, placement: Placement) -> Self {
        debug_assert!(matches!(answered.state(), AskState::Answered { .. }));
        let answers = Some((answered.id(), answered.digest()));
        let block = MessageBlock(Block::Answer(AskAnswer { ask: answered.clone(), asker }));
        let blocks: Arc<[MessageBlock]> = Arc::from([block]);
        let message = message(by.id(), &blocks, placement);
        Self { message, key: None, answers, needs_routing: true, mentioned: None }
    }

    /// The message as readers will see it.
    pub fn message(&self) -> &Arc<Message> {
        &self.message
    }

    /// The poster's key and the digest of what was sent with it.
    pub fn key(&self) -> Option<(&IdempotencyKey, &RequestDigest)> {
        self.key.as_ref().map(|(key, digest)| (key, digest))
    }

    /// The ask it answers, with that ask's digest.
    pub fn answers(&self) -> Option<(AskId, ContentDigest)> {
        self.answers
    }

    /// Whom it mentions, as its row keeps it to be found by; none if nobody.
    pub fn mentioned(&self) -> Option<&str> {
        self.mentioned.as_deref()
    }

    /// True if it must be routed beyond the sweep set: by an agent, with a mention, or an answer.
    pub fn needs_routing(&self) -> bool {
        self.needs_routing
    }
}

fn message(author: AccountId, blocks: &Arc<[MessageBlock]>, placement: Placement) -> Arc<Message> {
    let Placement { id, channel, topic, seq, at, run } = placement;
    Arc::new(Message { id, channel, topic, author, at, seq, run, blocks: Arc::clone(blocks) })
}
