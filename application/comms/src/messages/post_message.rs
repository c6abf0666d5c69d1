//! Posts a message into a topic of a channel.

use std::sync::Arc;

use compass_domain::{
    AccountId, Actor, ChannelId, Classified, ErrorKind, Event, Message, MessageId, NewMessage, Topic,
    TopicId, TopicName, UnixMillis,
    limits::LimitError,
    message::{Content, ContentError, DraftBlock, IdempotencyKey, Placement, RequestDigest, request_digest},
    topic::{TopicNameError, TopicSelector},
};
use compass_ports::{Decision, Loaded, Locks, StorageError, TopicWrite, WriteJob, Writes, submit};

use crate::{
    Caller, Comms,
    channels::resolve::{self, ChannelRef},
};

/// A post as a client sent it, with every server-owned field already dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostMessage {
    /// Where.
    pub channel: ChannelRef,
    /// Which topic.
    pub topic: TopicInput,
    /// At least one.
    pub blocks: Vec<DraftBlock>,
    /// The poster's key; empty means none.
    pub client_request_id: String,
}

/// How a client names the topic: exactly one of id and name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicInput {
    /// A topic of the channel; an archived one stays archived.
    pub id: Option<TopicId>,
    /// A topic by name; an unknown one is created, an archived one revived.
    pub name: Option<String>,
    /// An unknown name is refused instead of created.
    pub existing_only: bool,
}

/// A message that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// As it is now.
    pub message: Arc<Message>,
    /// False if an earlier post under the same key stored it.
    pub inserted: bool,
}

/// Why a post is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither an id nor a name.
    #[error("topic is missing: give topic_id or topic_name")]
    TopicMissing,
    /// Both an id and a name.
    #[error("topic_id and topic_name are both given, one is allowed")]
    TopicTwice,
    /// The name breaks a rule.
    #[error(transparent)]
    TopicName(#[from] TopicNameError),
    /// The key is too long.
    #[error(transparent)]
    Key(#[from] LimitError),
    /// The blocks break a rule.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The channel cannot be told from what was given.
    #[error(transparent)]
    Channel(#[from] resolve::Error),
    /// The channel does not exist, or the caller may not post in it.
    #[error("channel not found")]
    ChannelNotFound,
    /// The id names no topic of the channel.
    #[error("topic_id {0} is not a topic of this channel")]
    TopicElsewhere(TopicId),
    /// The name names no topic of the channel, and none may be created.
    #[error("topic {0:?} not found in this channel")]
    TopicNotFound(String),
    /// The key came with another message before.
    #[error("this key was used for another message")]
    KeyReused,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TopicMissing
            | Self::TopicTwice
            | Self::TopicName(_)
            | Self::Key(_)
            | Self::Content(_)
            | Self::TopicElsewhere(_) => ErrorKind::InvalidArgument,
            Self::ChannelNotFound | Self::TopicNotFound(_) => ErrorKind::NotFound,
            Self::KeyReused => ErrorKind::Conflict,
            Self::Channel(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Posts a message as the caller.
///
/// A repeat under the same key with the same content returns the stored message and tells nobody.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn post_message(comms: &Comms, caller: &Caller, post: PostMessage) -> Result<Posted, Error> {
    let topic = selector(post.topic)?;
    let key = IdempotencyKey::parse(&post.client_request_id)?;
    let sent = key.is_some().then(|| post.blocks.clone());
    let content = Content::compose(post.blocks, || comms.ids.ask())?;
    let channel = resolve::resolve(comms, caller, &post.channel).await?;
    let key = key.zip(sent).map(|(key, sent)| (key, request_digest(channel, &topic, &sent)));
    let job = Job {
        author: caller.actor,
        channel,
        topic,
        content,
        key,
        id: comms.ids.message(),
        new_topic: comms.ids.topic(),
        now: comms.clock.now(),
    };
    submit(&*comms.writer, &caller.tenant, job).await
}

fn selector(input: TopicInput) -> Result<TopicSelector, Error> {
    match (input.id, input.name) {
        (None, None) => Err(Error::TopicMissing),
        (Some(_), Some(_)) => Err(Error::TopicTwice),
        (Some(id), None) => Ok(TopicSelector::Id(id)),
        (None, Some(name)) => {
            let name = TopicName::parse(&name)?;
            Ok(TopicSelector::Name { name, existing_only: input.existing_only })
        }
    }
}

/// A post that passed every check that needs no rows.
struct Job {
    author: Actor,
    channel: ChannelId,
    topic: TopicSelector,
    content: Content,
    key: Option<(IdempotencyKey, RequestDigest)>,
    id: MessageId,
    new_topic: TopicId,
    now: UnixMillis,
}

/// The topic a post goes into, before the post.
struct Target {
    topic: Topic,
    created: bool,
    revived: bool,
}

impl Target {
    fn existing(topic: &Arc<Topic>) -> Self {
        Self { topic: Topic::clone(topic), created: false, revived: false }
    }
}

impl WriteJob for Job {
    type Outcome = Posted;
    type Error = Error;

    fn locks(&self) -> Locks {
        Locks::Post {
            channel: self.channel,
            author: self.author.id,
            topic: self.topic.clone(),
            key: self.key.as_ref().map(|(key, _)| key.clone()),
        }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Posted, Error> {
        let author = self.author.id;
        let head = loaded.channel_for(self.channel, author).ok_or(Error::ChannelNotFound)?;
        if !head.policy.allows(author) {
            return Err(Error::ChannelNotFound);
        }
        let (seq, at) = head.next(self.now);
        let target = self.target(loaded, author, at)?;
        if let Some(message) = self.repeated(loaded)? {
            return Ok((Writes::none(), Posted { message, inserted: false }));
        }
        let placement = Placement { id: self.id, channel: self.channel, topic: target.topic.id, seq, at };
        let new = NewMessage::post(self.author, &self.content, placement, self.key.clone());
        Ok(store(new, target))
    }
}

impl Job {
    fn target(&self, loaded: &Loaded, author: AccountId, at: UnixMillis) -> Result<Target, Error> {
        match &self.topic {
            TopicSelector::Id(id) => {
                let topic = loaded.topic(self.channel, *id).ok_or(Error::TopicElsewhere(*id))?;
                Ok(Target::existing(topic))
            }
            TopicSelector::Name { name, existing_only } => match loaded.topic_named(self.channel, name.key())
            {
                Some(topic) if topic.archived => {
                    let topic = Topic { archived: false, ..Topic::clone(topic) };
                    Ok(Target { topic, created: false, revived: true })
                }
                Some(topic) => Ok(Target::existing(topic)),
                None if *existing_only => Err(Error::TopicNotFound(name.as_str().to_owned())),
                None => {
                    let topic = Topic::new(self.new_topic, self.channel, name.clone(), author, at);
                    Ok(Target { topic, created: true, revived: false })
                }
            },
        }
    }

    /// The message that was stored under this post's key.
    fn repeated(&self, loaded: &Loaded) -> Result<Option<Arc<Message>>, Error> {
        let Some((key, digest)) = &self.key else { return Ok(None) };
        match loaded.posted(self.author.id, key) {
            None => Ok(None),
            Some(posted) if posted.digest == *digest => Ok(Some(Arc::clone(&posted.message))),
            Some(_) => Err(Error::KeyReused),
        }
    }
}

fn store(new: NewMessage, target: Target) -> (Writes, Posted) {
    let message = Arc::clone(new.message());
    let topic = Arc::new(target.topic.with_message(message.author(), message.seq(), message.at()));
    let mut writes = Writes::none();
    writes.append(new);
    if target.created || target.revived {
        writes.tell(Event::TopicUpserted(Arc::clone(&topic)));
    }
    writes.put_topic(TopicWrite { topic, created: target.created });
    writes.tell(Event::MessagePosted(Arc::clone(&message)));
    (writes, Posted { message, inserted: true })
}
