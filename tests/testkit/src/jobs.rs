//! The five hot writes in their plainest form, and one that writes what it is told, to test a writer alone.

use std::{collections::BTreeMap, fmt, sync::Arc};

use compass_domain::{
    AccountId, Actor, Answers, AskId, ChannelId, Classified, Corrupt, ErrorKind, Event, Human, LockedAsk,
    Message, MessageId, NewMessage, Topic, TopicId, UnixMillis,
    ask::Reply,
    delivery,
    message::{Content, IdempotencyKey, Placement, RequestDigest},
    topic::TopicSelector,
};
use compass_ports::{
    CursorState, CursorWrite, Decision, Loaded, Locks, OwedRow, StorageError, TopicWrite, WriteJob, Writes,
};

/// Why a job was refused.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// By a rule.
    #[error("refused: {0:?}")]
    Refused(ErrorKind),
    /// By storage.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<Corrupt> for JobError {
    fn from(corrupt: Corrupt) -> Self {
        Self::Storage(corrupt.into())
    }
}

impl Classified for JobError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(kind) => *kind,
            Self::Storage(error) => error.kind(),
        }
    }
}

fn refuse<T>(kind: ErrorKind) -> Result<T, JobError> {
    Err(JobError::Refused(kind))
}

/// Posts a message.
#[derive(Debug)]
pub struct Post {
    /// Who.
    pub author: Actor,
    /// Where.
    pub channel: ChannelId,
    /// Which topic.
    pub topic: TopicSelector,
    /// The id of the topic if it has to be created.
    pub new_topic: TopicId,
    /// The message's id.
    pub id: MessageId,
    /// What.
    pub content: Content,
    /// The key, and the digest of what is sent with it.
    pub key: Option<(IdempotencyKey, RequestDigest)>,
    /// The time.
    pub now: UnixMillis,
}

/// What a post came to.
#[derive(Debug, Clone)]
pub struct PostOutcome {
    /// The message, as it is stored now.
    pub message: Arc<Message>,
    /// False if an earlier post had the key.
    pub inserted: bool,
}

impl WriteJob for Post {
    type Outcome = PostOutcome;
    type Error = JobError;

    fn locks(&self) -> Locks {
        Locks::Post {
            channel: self.channel,
            author: self.author.id,
            topic: self.topic.clone(),
            key: self.key.as_ref().map(|(key, _)| key.clone()),
        }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<PostOutcome, JobError> {
        let head = loaded.channel_for(self.channel, self.author.id);
        let Some(head) = head.filter(|head| head.policy.allows(self.author.id)) else {
            return refuse(ErrorKind::NotFound);
        };
        if let Some((key, digest)) = &self.key
            && let Some(posted) = loaded.posted(self.author.id, key)
        {
            if posted.digest != *digest {
                return refuse(ErrorKind::Conflict);
            }
            let message = Arc::clone(&posted.message);
            return Ok((Writes::none(), PostOutcome { message, inserted: false }));
        }
        let (seq, at) = head.next(self.now);
        let (topic, created) = self.find_topic(loaded, at)?;
        let revived = topic.archived && matches!(self.topic, TopicSelector::Name { .. });
        let topic = Topic { archived: topic.archived && !revived, ..topic };
        let run = topic.run.after(self.author, seq);
        let brake_changes = topic.run.is_braked() != run.is_braked();
        let topic = Arc::new(topic.with_message(self.author.id, seq, at).with_run(run));
        let number = if self.author.is_agent() { run.length } else { 0 };
        let placement =
            Placement { id: self.id, channel: self.channel, topic: topic.id, seq, at, run: number };
        let new = NewMessage::post(self.author, &self.content, placement, self.key.clone());
        let message = Arc::clone(new.message());
        let mut writes = Writes::none();
        writes.append(new);
        writes.put_topic(TopicWrite { topic: Arc::clone(&topic), created });
        if created || revived || brake_changes {
            writes.tell(Event::TopicUpserted(topic));
        }
        writes.tell(Event::MessagePosted(Arc::clone(&message)));
        Ok((writes, PostOutcome { message, inserted: true }))
    }
}

impl Post {
    fn find_topic(&self, loaded: &Loaded, at: UnixMillis) -> Result<(Topic, bool), JobError> {
        match &self.topic {
            TopicSelector::Id(id) => match loaded.topic(self.channel, *id) {
                Some(topic) => Ok((Topic::clone(topic), false)),
                None => refuse(ErrorKind::InvalidArgument),
            },
            TopicSelector::Name { name, .. } => Ok(match loaded.topic_named(self.channel, name.key()) {
                Some(topic) => (Topic::clone(topic), false),
                None => (Topic::new(self.new_topic, self.channel, name.clone(), self.author.id, at), true),
            }),
        }
    }
}

/// Answers an ask.
#[derive(Debug)]
pub struct Answer {
    /// Which.
    pub ask: AskId,
    /// Who.
    pub by: Human,
    /// What.
    pub answers: Answers,
    /// The answer message's id.
    pub id: MessageId,
    /// The time.
    pub now: UnixMillis,
}

impl WriteJob for Answer {
    /// The ask's message and the answer's.
    type Outcome = (Arc<Message>, Arc<Message>);
    type Error = JobError;

    fn locks(&self) -> Locks {
        Locks::Answer { ask: self.ask, actor: self.by.id() }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Self::Outcome, JobError> {
        let Some(found) = loaded.ask_for(self.ask, self.by.id())? else {
            return refuse(ErrorKind::NotFound);
        };
        let LockedAsk::Open(open) = loaded.lock_ask(self.ask, &found)? else {
            return refuse(ErrorKind::Conflict);
        };
        let head = loaded.channel(found.channel).ok_or_else(|| Corrupt::new("the channel was not loaded"))?;
        let topic = loaded.topic_of(found.message).ok_or_else(|| Corrupt::new("the topic was not loaded"))?;
        let (seq, at) = head.next(self.now);
        let reply = Reply { id: self.id, seq, at };
        let Ok((closed, answer)) = open.answer(self.by, self.answers.clone(), reply) else {
            return refuse(ErrorKind::InvalidArgument);
        };
        let outcome = (Arc::clone(closed.message()), Arc::clone(answer.message()));
        let is_released = topic.run.is_braked();
        let run = topic.run.ended(seq);
        let topic = Arc::new(Topic::clone(topic).with_message(self.by.id(), seq, at).with_run(run));
        let mut writes = Writes::none();
        if is_released {
            writes.tell(Event::TopicUpserted(Arc::clone(&topic)));
        }
        writes.close(closed);
        writes.append(answer);
        writes.put_topic(TopicWrite { topic, created: false });
        writes.tell(Event::MessageUpdated(Arc::clone(&outcome.0)));
        writes.tell(Event::MessagePosted(Arc::clone(&outcome.1)));
        Ok((writes, outcome))
    }
}

/// Withdraws an ask.
#[derive(Debug)]
pub struct Cancel {
    /// Which.
    pub ask: AskId,
    /// Who.
    pub actor: AccountId,
    /// The time.
    pub now: UnixMillis,
}

impl WriteJob for Cancel {
    /// True if it was open.
    type Outcome = bool;
    type Error = JobError;

    fn locks(&self) -> Locks {
        Locks::Cancel { ask: self.ask, actor: self.actor }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<bool, JobError> {
        let Some(found) = loaded.ask_for(self.ask, self.actor)? else {
            return refuse(ErrorKind::NotFound);
        };
        if found.author != self.actor {
            return refuse(ErrorKind::PermissionDenied);
        }
        match loaded.lock_ask(self.ask, &found)? {
            LockedAsk::Cancelled => Ok((Writes::none(), false)),
            LockedAsk::Answered => refuse(ErrorKind::Conflict),
            LockedAsk::Open(open) => {
                let closed = open.cancel(self.now);
                let mut writes = Writes::none();
                writes.tell(Event::MessageUpdated(Arc::clone(closed.message())));
                writes.close(closed);
                Ok((writes, true))
            }
        }
    }
}

/// Acknowledges messages.
#[derive(Debug)]
pub struct Acknowledge {
    /// Who.
    pub agent: AccountId,
    /// What.
    pub messages: Vec<MessageId>,
}

impl WriteJob for Acknowledge {
    type Outcome = ();
    type Error = JobError;

    fn locks(&self) -> Locks {
        Locks::Acknowledge { agent: self.agent, messages: self.messages.clone() }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<(), JobError> {
        let mut writes = Writes::none();
        let mut moved: BTreeMap<ChannelId, CursorState> = BTreeMap::new();
        for &message in &self.messages {
            let Some(receipt) = loaded.receipt(self.agent, message) else { continue };
            if receipt.is_owed {
                writes.clear_owed(self.agent, message);
            }
            let Some(before) = receipt.cursor else { continue };
            let mut state = moved.get(&receipt.channel).cloned().unwrap_or_else(|| before.clone());
            if state.cursor.acknowledge(receipt.seq, |seq| before.own.contains(&seq)) {
                moved.insert(receipt.channel, state);
            }
        }
        for (channel, state) in moved {
            writes.put_cursor(CursorWrite { agent: self.agent, channel, cursor: state.cursor });
        }
        Ok((writes, ()))
    }
}

/// Routes a message.
#[derive(Debug)]
pub struct Route {
    /// Which.
    pub message: MessageId,
}

impl WriteJob for Route {
    /// Who is owed it beyond the sweep set; none if it was routed before.
    type Outcome = Option<Vec<AccountId>>;
    type Error = JobError;

    fn locks(&self) -> Locks {
        Locks::Route { message: self.message }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Self::Outcome, JobError> {
        let Some(routing) = loaded.routing(self.message)? else { return Ok((Writes::none(), None)) };
        let channel = routing.message.channel();
        let targets = delivery::route(&routing.message, &routing.members);
        let owed: Vec<AccountId> =
            targets.iter().filter(|target| target.owed).map(|target| target.account).collect();
        let mut writes = Writes::none();
        for &agent in &owed {
            writes.owe(OwedRow { agent, message: self.message, channel });
        }
        writes.mark_routed(self.message);
        writes.tell(Event::MessageSettled { channel, message: self.message });
        Ok((writes, Some(owed)))
    }
}

type Compose = dyn Fn(&Loaded) -> Writes + Send + Sync;

/// Writes what a closure composes, whether the rules would allow it or not.
pub struct Raw {
    locks: Locks,
    compose: Box<Compose>,
}

impl Raw {
    /// Locks as told and writes what `compose` returns.
    pub fn new(locks: Locks, compose: impl Fn(&Loaded) -> Writes + Send + Sync + 'static) -> Self {
        Self { locks, compose: Box::new(compose) }
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw").field("locks", &self.locks).finish_non_exhaustive()
    }
}

impl WriteJob for Raw {
    type Outcome = ();
    type Error = StorageError;

    fn locks(&self) -> Locks {
        self.locks.clone()
    }

    fn decide(&self, loaded: &Loaded) -> Decision<(), StorageError> {
        Ok(((self.compose)(loaded), ()))
    }
}
