//! Answers an open ask: closes it and posts the answer, or neither.

use std::sync::Arc;

use compass_domain::{
    Answers, AskId, Classified, Corrupt, ErrorKind, Event, Human, LockedAsk, Message, MessageId, OpenAsk,
    Topic, UnixMillis,
    ask::{AnswerDraft, AnswerError, Reply},
    limits::LimitError,
};
use compass_ports::{Decision, Loaded, LoadedAsk, Locks, StorageError, TopicWrite, WriteJob, Writes, submit};

use super::check_digest;
use crate::{Caller, Comms};

/// An answer as a client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RespondToAsk {
    /// Which ask; none if the sent text is no id.
    pub ask: Option<AskId>,
    /// One entry per question; an empty entry skips it.
    pub answers: Vec<AnswerDraft>,
}

/// What an answer changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The message that holds the ask, now answered.
    pub ask_message: Arc<Message>,
    /// The new message that carries the answer.
    pub answer_message: Arc<Message>,
}

/// Why an answer is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is no person; the same for every ask, known or not.
    #[error("only a person may answer an ask")]
    NotAPerson,
    /// The ask does not exist, or the caller may not see it.
    #[error("ask not found")]
    NotFound,
    /// A person answered it before.
    #[error("ask \"{0}\" is already answered")]
    AlreadyAnswered(AskId),
    /// Its author withdrew it.
    #[error("ask \"{0}\" is cancelled")]
    Cancelled(AskId),
    /// A text is too long.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The answers do not fit the questions.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The stored ask contradicts itself; nothing was written.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAPerson => ErrorKind::PermissionDenied,
            Self::NotFound => ErrorKind::NotFound,
            Self::AlreadyAnswered(_) | Self::Cancelled(_) => ErrorKind::Conflict,
            Self::Limit(_) | Self::Answer(_) => ErrorKind::InvalidArgument,
            Self::Corrupt(_) => ErrorKind::Internal,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Answers an ask as the calling person, whatever the post policy or the topic's archive flag say.
///
/// The first answer wins; it closes the ask and posts one answer message into the ask's topic.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn respond_to_ask(
    comms: &Comms,
    caller: &Caller,
    respond: RespondToAsk,
) -> Result<Answered, Error> {
    // Before any read, so that an agent learns nothing about which asks exist.
    let by = caller.actor.human().ok_or(Error::NotAPerson)?;
    let answers = Answers::parse(respond.answers)?;
    let ask = respond.ask.ok_or(Error::NotFound)?;
    let job = Job { by, ask, answers, reply: comms.ids.message(), now: comms.clock.now() };
    submit(&*comms.writer, &caller.tenant, job).await
}

/// An answer whose sizes are within the limits.
struct Job {
    by: Human,
    ask: AskId,
    answers: Answers,
    reply: MessageId,
    now: UnixMillis,
}

impl WriteJob for Job {
    type Outcome = Answered;
    type Error = Error;

    fn locks(&self) -> Locks {
        Locks::Answer { ask: self.ask, actor: self.by.id() }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Answered, Error> {
        let found = loaded.ask_for(self.ask, self.by.id())?.ok_or(Error::NotFound)?;
        match loaded.lock_ask(self.ask, &found)? {
            LockedAsk::Open(open) => self.answer(loaded, &found, open),
            LockedAsk::Answered => Err(Error::AlreadyAnswered(self.ask)),
            LockedAsk::Cancelled => Err(Error::Cancelled(self.ask)),
        }
    }
}

impl Job {
    fn answer(&self, loaded: &Loaded, found: &LoadedAsk, open: OpenAsk) -> Decision<Answered, Error> {
        let missing = |what| Corrupt::new(format!("the {what} of ask {} is missing", self.ask));
        let head = loaded.channel(found.channel).ok_or_else(|| missing("channel"))?;
        let topic = loaded.topic_of(found.message).ok_or_else(|| missing("topic"))?;
        let (seq, at) = head.next(self.now);
        let reply = Reply { id: self.reply, seq, at };
        let (closed, answer) = open.answer(self.by, self.answers.clone(), reply)?;
        check_digest(&closed, found)?;
        let (ask_message, answer_message) = (Arc::clone(closed.message()), Arc::clone(answer.message()));
        let topic = Arc::new(Topic::clone(topic).with_message(self.by.id(), seq, at));
        let mut writes = Writes::none();
        writes.close(closed);
        writes.append(answer);
        writes.put_topic(TopicWrite { topic, created: false });
        writes.tell(Event::MessageUpdated(Arc::clone(&ask_message)));
        writes.tell(Event::MessagePosted(Arc::clone(&answer_message)));
        Ok((writes, Answered { ask_message, answer_message }))
    }
}
