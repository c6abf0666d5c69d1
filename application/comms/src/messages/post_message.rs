//! Posts a message into a topic of a channel.

use std::sync::Arc;

use compass_domain::{
    AccountId, Actor, ChannelId, Classified, ErrorKind, Event, Message, MessageId, NewMessage, Topic,
    TopicId, TopicName, UnixMillis,
    brake::AgentRun,
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
        let run = target.topic.run.after(self.author, seq);
        let number = if self.author.is_agent() { run.length } else { 0 };
        let topic = target.topic.id;
        let placement = Placement { id: self.id, channel: self.channel, topic, seq, at, run: number };
        let new = NewMessage::post(self.author, &self.content, placement, self.key.clone());
        Ok(store(new, target, run))
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

fn store(new: NewMessage, target: Target, run: AgentRun) -> (Writes, Posted) {
    let message = Arc::clone(new.message());
    let brake_changes = target.topic.run.is_braked() != run.is_braked();
    let topic = target.topic.with_message(message.author(), message.seq(), message.at()).with_run(run);
    let topic = Arc::new(topic);
    let mut writes = Writes::none();
    writes.append(new);
    if target.created || target.revived || brake_changes {
        writes.tell(Event::TopicUpserted(Arc::clone(&topic)));
    }
    writes.put_topic(TopicWrite { topic, created: target.created });
    writes.tell(Event::MessagePosted(Arc::clone(&message)));
    (writes, Posted { message, inserted: true })
}

#[cfg(test)]
mod tests {
    use compass_domain::{Seq, channel::PostPolicy};

    use super::*;
    use crate::testing::{
        CHANNEL, ELSEWHERE, NEW_MESSAGE, NEW_TOPIC, TOPIC, account, channel, person, told, topic,
    };

    fn by_name(name: &str) -> TopicSelector {
        TopicSelector::Name { name: TopicName::parse(name).unwrap(), existing_only: false }
    }

    fn job(topic: TopicSelector) -> Job {
        let content = Content::compose(vec![DraftBlock::Text("hello".into())], || unreachable!()).unwrap();
        Job {
            author: person(1),
            channel: CHANNEL,
            topic,
            content,
            key: None,
            id: NEW_MESSAGE,
            new_topic: NEW_TOPIC,
            now: UnixMillis(900),
        }
    }

    fn keyed(topic: TopicSelector, digest: u8) -> Job {
        let key = IdempotencyKey::parse("key").unwrap().unwrap();
        Job { key: Some((key, RequestDigest([digest; 32]))), ..job(topic) }
    }

    /// The channel with its participant and one topic in it.
    fn rows(topic: Topic) -> Loaded {
        let mut loaded = channel(PostPolicy::Open, &[person(1)]);
        loaded.put_topic(Arc::new(topic));
        loaded
    }

    fn refused(job: &Job, loaded: &Loaded) -> Error {
        job.decide(loaded).unwrap_err()
    }

    #[test]
    fn unknown_channel_and_foreign_channel_look_the_same() {
        let unknown = refused(&job(by_name("deploy")), &Loaded::new());
        let foreign = refused(&job(by_name("deploy")), &channel(PostPolicy::Open, &[person(2)]));
        assert_eq!(unknown.to_string(), foreign.to_string());
        assert_eq!((unknown.kind(), foreign.kind()), (ErrorKind::NotFound, ErrorKind::NotFound));
    }

    #[test]
    fn a_post_by_anyone_but_the_owner_of_an_owner_only_channel_looks_like_an_unknown_channel() {
        let policy = PostPolicy::OwnerOnly { owner: account(2) };
        let error = refused(&job(by_name("deploy")), &channel(policy, &[person(1), person(2)]));
        assert!(matches!(error, Error::ChannelNotFound));
        let owners = Job { author: person(2), ..job(by_name("deploy")) };
        assert!(owners.decide(&channel(policy, &[person(1), person(2)])).is_ok());
    }

    #[test]
    fn a_topic_id_must_be_a_topic_of_the_channel() {
        let unknown = refused(&job(TopicSelector::Id(TOPIC)), &channel(PostPolicy::Open, &[person(1)]));
        let foreign = refused(&job(TopicSelector::Id(TOPIC)), &rows(topic(ELSEWHERE, "deploy")));
        assert_eq!(unknown.to_string(), foreign.to_string());
        assert_eq!(foreign.kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn a_new_name_creates_the_topic_and_tells_it_before_the_message() {
        let loaded = channel(PostPolicy::Open, &[person(1)]);
        let (mut writes, posted) = job(by_name(" Deploy ")).decide(&loaded).unwrap();
        let [write] = writes.topics() else { panic!("one topic") };
        assert!(write.created);
        assert_eq!((write.topic.id, write.topic.name.as_str()), (NEW_TOPIC, "Deploy"));
        assert_eq!((write.topic.message_count, write.topic.last_seq), (1, Seq(8)));
        assert_eq!(write.topic.participants, [account(1)]);
        assert_eq!(posted.message.topic(), NEW_TOPIC);
        let topic = Event::TopicUpserted(Arc::clone(&write.topic));
        assert_eq!(writes.take_events(), [topic, Event::MessagePosted(posted.message)]);
    }

    #[test]
    fn a_name_in_another_spelling_finds_the_topic_and_keeps_its_first_spelling() {
        let loaded = rows(topic(CHANNEL, "Deploy"));
        let (mut writes, posted) = job(by_name("dePLOY")).decide(&loaded).unwrap();
        let [write] = writes.topics() else { panic!("one topic") };
        assert!(!write.created);
        assert_eq!((write.topic.id, write.topic.name.as_str()), (TOPIC, "Deploy"));
        assert_eq!(posted.message.topic(), TOPIC);
        assert_eq!(told(&writes.take_events()), ["posted"]);
    }

    #[test]
    fn a_post_by_name_revives_an_archived_topic_and_a_post_by_id_does_not() {
        let archived = Topic { archived: true, ..topic(CHANNEL, "deploy") };
        let (mut writes, _) = job(by_name("deploy")).decide(&rows(archived.clone())).unwrap();
        assert!(!writes.topics()[0].topic.archived);
        assert!(!writes.topics()[0].created);
        assert_eq!(told(&writes.take_events()), ["topic", "posted"]);
        let (mut writes, _) = job(TopicSelector::Id(TOPIC)).decide(&rows(archived)).unwrap();
        assert!(writes.topics()[0].topic.archived);
        assert_eq!(told(&writes.take_events()), ["posted"]);
    }

    #[test]
    fn an_unknown_name_is_not_found_when_only_existing_topics_are_wanted() {
        let existing =
            |name: &str| TopicSelector::Name { name: TopicName::parse(name).unwrap(), existing_only: true };
        let error = refused(&job(existing("deploy")), &channel(PostPolicy::Open, &[person(1)]));
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("deploy"));
        assert!(job(existing("deploy")).decide(&rows(topic(CHANNEL, "deploy"))).is_ok());
    }

    #[test]
    fn a_repeat_under_a_key_returns_the_stored_message_and_writes_and_tells_nothing() {
        let mut loaded = rows(Topic { archived: true, ..topic(CHANNEL, "deploy") });
        let (mut writes, first) = keyed(by_name("deploy"), 1).decide(&loaded).unwrap();
        assert_eq!(told(&writes.take_events()), ["topic", "posted"]);
        loaded.apply(&writes);
        loaded.put_topic(Arc::new(Topic { archived: true, ..topic(CHANNEL, "deploy") }));
        let repeat = Job { id: MessageId::from_bytes([0x77; 16]), ..keyed(by_name("deploy"), 1) };
        let (mut writes, second) = repeat.decide(&loaded).unwrap();
        assert!(writes.is_empty());
        assert!(writes.take_events().is_empty());
        assert_eq!((second.message.id(), second.inserted), (first.message.id(), false));
        assert!(first.inserted);
    }

    #[test]
    fn a_key_that_comes_back_with_another_message_is_a_conflict() {
        let mut loaded = rows(topic(CHANNEL, "deploy"));
        let (writes, _) = keyed(by_name("deploy"), 1).decide(&loaded).unwrap();
        loaded.apply(&writes);
        let error = refused(&keyed(by_name("deploy"), 2), &loaded);
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.to_string(), "this key was used for another message");
    }

    #[test]
    fn the_first_gate_that_fails_answers() {
        let mut loaded = rows(topic(CHANNEL, "deploy"));
        let (writes, _) = keyed(by_name("deploy"), 1).decide(&loaded).unwrap();
        loaded.apply(&writes);
        let wrong_topic = TopicSelector::Id(TopicId::from_bytes([0x66; 16]));
        // Topic before key.
        assert!(matches!(refused(&keyed(wrong_topic.clone(), 2), &loaded), Error::TopicElsewhere(_)));
        // Policy before topic.
        let policy = PostPolicy::OwnerOnly { owner: account(2) };
        let owned = channel(policy, &[person(1)]);
        assert!(matches!(refused(&keyed(wrong_topic.clone(), 2), &owned), Error::ChannelNotFound));
        // Participation before policy: the owner itself does not take part.
        let owners = Job { author: person(2), ..keyed(wrong_topic, 2) };
        assert!(matches!(refused(&owners, &owned), Error::ChannelNotFound));
    }

    #[test]
    fn a_post_takes_the_next_seq_and_its_time_never_goes_back() {
        let loaded = rows(topic(CHANNEL, "deploy"));
        let (writes, late) = job(by_name("deploy")).decide(&loaded).unwrap();
        assert_eq!((late.message.seq(), late.message.at()), (Seq(8), UnixMillis(900)));
        assert_eq!(writes.topics()[0].topic.last_activity, UnixMillis(900));
        let slow_clock = Job { now: UnixMillis(1), ..job(by_name("deploy")) };
        let (_, early) = slow_clock.decide(&loaded).unwrap();
        assert_eq!((early.message.seq(), early.message.at()), (Seq(8), UnixMillis(700)));
    }

    #[test]
    fn a_job_that_is_decided_again_decides_the_same() {
        let job = job(by_name("deploy"));
        let loaded = channel(PostPolicy::Open, &[person(1)]);
        let (_, first) = job.decide(&loaded).unwrap();
        let (_, second) = job.decide(&loaded).unwrap();
        assert_eq!(first, second);
    }

    #[test]
    fn a_topic_is_named_exactly_once() {
        let none = TopicInput::default();
        let both = TopicInput { id: Some(TOPIC), name: Some("deploy".into()), existing_only: false };
        let blank = TopicInput { name: Some("  ".into()), ..TopicInput::default() };
        assert!(matches!(selector(none), Err(Error::TopicMissing)));
        assert!(matches!(selector(both), Err(Error::TopicTwice)));
        assert!(matches!(selector(blank), Err(Error::TopicName(TopicNameError::Empty))));
    }
}
