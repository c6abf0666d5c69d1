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
        writes.tell(Event::MessageUpdated(Arc::clone(&ask_message)));
        writes.tell(Event::MessagePosted(Arc::clone(&answer_message)));
        Ok((writes, Answered { ask_message, answer_message }))
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{AskState, Seq, ask::ContentDigest, channel::PostPolicy};

    use super::*;
    use crate::ports::MockStorage;
    use crate::testing::{
        ASK_MESSAGE, CHANNEL, NEW_MESSAGE, account, agent, answer, ask_id, ask_message, caller, channel,
        person, ports_over, put_asks, topic,
    };

    fn job(ask: u8, answers: Vec<AnswerDraft>) -> Job {
        Job {
            by: person(1).human().unwrap(),
            ask: ask_id(ask),
            answers: Answers::parse(answers).unwrap(),
            reply: NEW_MESSAGE,
            now: UnixMillis(900),
        }
    }

    /// A message of an agent with these asks, in a channel where person 1 takes part.
    fn rows(asks: &[AskId]) -> Loaded {
        let mut loaded = channel(PostPolicy::Open, &[person(1), agent(2)]);
        loaded.put_topic(Arc::new(topic(CHANNEL, "deploy")));
        put_asks(&mut loaded, &ask_message(agent(2), asks));
        loaded
    }

    fn refused(job: &Job, loaded: &Loaded) -> Error {
        job.decide(loaded).unwrap_err()
    }

    #[test]
    fn unknown_ask_and_ask_of_a_foreign_channel_look_the_same() {
        let unknown = refused(&job(99, answer("yes")), &rows(&[ask_id(1)]));
        let mut foreign = channel(PostPolicy::Open, &[agent(2)]);
        put_asks(&mut foreign, &ask_message(agent(2), &[ask_id(1)]));
        let foreign = refused(&job(1, answer("yes")), &foreign);
        assert_eq!(unknown.to_string(), foreign.to_string());
        assert_eq!((unknown.kind(), foreign.kind()), (ErrorKind::NotFound, ErrorKind::NotFound));
    }

    #[test]
    fn an_answer_closes_the_ask_and_posts_one_message_in_the_same_writes() {
        let loaded = rows(&[ask_id(1)]);
        let (mut writes, answered) = job(1, answer("yes")).decide(&loaded).unwrap();
        let ([closed], [new], [write]) = (writes.closed(), writes.appended(), writes.topics()) else {
            panic!("one ask, one message, one topic")
        };
        assert_eq!((closed.ask(), closed.by(), closed.at()), (ask_id(1), account(1), UnixMillis(900)));
        assert!(new.needs_routing());
        assert_eq!(new.answers().unwrap().0, ask_id(1));
        assert_eq!((write.created, write.topic.message_count, write.topic.last_seq), (false, 1, Seq(8)));
        assert!(write.topic.participants.contains(&account(1)));
        let message = &answered.answer_message;
        assert_eq!((message.author(), message.seq(), message.topic()), (account(1), Seq(8), write.topic.id));
        let stored = answered.ask_message.asks().next().unwrap();
        assert_eq!(
            (message.answer().unwrap().ask(), message.answer().unwrap().asker()),
            (stored, account(2))
        );
        assert_eq!(stored.answer(0).unwrap().chosen(), ["yes"]);
        let expected =
            [Event::MessageUpdated(answered.ask_message), Event::MessagePosted(answered.answer_message)];
        assert_eq!(writes.take_events(), expected);
    }

    #[test]
    fn an_ended_ask_is_a_conflict_with_its_fixed_text_even_for_a_malformed_answer() {
        for malformed in [answer("yes"), answer("maybe"), Vec::new()] {
            let mut loaded = rows(&[ask_id(1)]);
            let (writes, _) = job(1, answer("no")).decide(&loaded).unwrap();
            loaded.apply(&writes);
            let error = refused(&job(1, malformed), &loaded);
            assert_eq!(error.kind(), ErrorKind::Conflict);
            assert_eq!(error.to_string(), format!("ask \"{}\" is already answered", ask_id(1)));
        }
    }

    #[test]
    fn a_cancelled_ask_takes_no_answer() {
        let mut loaded = channel(PostPolicy::Open, &[person(1)]);
        let message = ask_message(agent(2), &[ask_id(1)]);
        put_asks(&mut loaded, &message);
        let found = loaded.ask_for(ask_id(1), account(1)).unwrap().unwrap();
        let LockedAsk::Open(open) = loaded.lock_ask(ask_id(1), &found).unwrap() else { panic!("open") };
        let mut cancel = Writes::none();
        cancel.close(open.cancel(UnixMillis(800)));
        loaded.apply(&cancel);
        let error = refused(&job(1, Vec::new()), &loaded);
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.to_string(), format!("ask \"{}\" is cancelled", ask_id(1)));
    }

    #[test]
    fn an_answer_that_does_not_fit_an_open_ask_is_invalid() {
        let twice = [answer("yes"), answer("no")].concat();
        let both = vec![AnswerDraft { custom_text: "and more".into(), ..answer("yes").remove(0) }];
        let two = vec![AnswerDraft {
            chosen_option_ids: vec!["yes".into(), "no".into()],
            ..answer("yes").remove(0)
        }];
        let unknown = vec![AnswerDraft { question_id: "other".into(), ..answer("yes").remove(0) }];
        for malformed in [answer("maybe"), Vec::new(), twice, both, two, unknown] {
            let error = refused(&job(1, malformed), &rows(&[ask_id(1)]));
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
    }

    #[test]
    fn skipping_every_question_closes_the_ask() {
        let skip = vec![AnswerDraft { question_id: "q".into(), ..AnswerDraft::default() }];
        let mut loaded = rows(&[ask_id(1)]);
        let (writes, answered) = job(1, skip).decide(&loaded).unwrap();
        assert!(answered.ask_message.asks().next().unwrap().answer(0).unwrap().is_skip());
        loaded.apply(&writes);
        assert!(matches!(refused(&job(1, answer("yes")), &loaded), Error::AlreadyAnswered(_)));
    }

    #[test]
    fn policy_and_archive_flag_do_not_stop_an_answer() {
        let mut loaded = channel(PostPolicy::OwnerOnly { owner: account(2) }, &[person(1), agent(2)]);
        loaded.put_topic(Arc::new(Topic { archived: true, ..topic(CHANNEL, "deploy") }));
        put_asks(&mut loaded, &ask_message(agent(2), &[ask_id(1)]));
        let (writes, _) = job(1, answer("yes")).decide(&loaded).unwrap();
        assert!(writes.topics()[0].topic.archived);
    }

    #[test]
    fn a_person_may_answer_its_own_ask() {
        let mut loaded = channel(PostPolicy::Open, &[person(1)]);
        loaded.put_topic(Arc::new(topic(CHANNEL, "deploy")));
        put_asks(&mut loaded, &ask_message(person(1), &[ask_id(1)]));
        assert!(job(1, answer("yes")).decide(&loaded).is_ok());
    }

    #[test]
    fn two_asks_of_one_message_are_answered_one_by_one() {
        let mut loaded = rows(&[ask_id(1), ask_id(2)]);
        let (writes, first) = job(1, answer("yes")).decide(&loaded).unwrap();
        assert_eq!(first.answer_message.answer().unwrap().ask().id(), ask_id(1));
        loaded.apply(&writes);
        let (_, second) = job(2, answer("no")).decide(&loaded).unwrap();
        let states: Vec<&AskState> = second.ask_message.asks().map(compass_domain::Ask::state).collect();
        assert!(states.iter().all(|state| matches!(state, AskState::Answered { .. })));
        assert_eq!(second.answer_message.seq(), Seq(9));
        assert_eq!(second.answer_message.answer().unwrap().ask().id(), ask_id(2));
    }

    #[test]
    fn questions_that_differ_from_their_digest_are_a_fault_and_nothing_is_written() {
        let message = ask_message(agent(2), &[ask_id(1)]);
        let mut loaded = rows(&[ask_id(1)]);
        let entry = LoadedAsk {
            channel: CHANNEL,
            message: ASK_MESSAGE,
            author: account(2),
            digest: ContentDigest([0; 32]),
        };
        loaded.put_ask(ask_id(1), Ok((entry, message)));
        assert_eq!(refused(&job(1, answer("yes")), &loaded).kind(), ErrorKind::Internal);
    }

    #[test]
    fn a_corrupt_row_is_a_fault() {
        let mut loaded = channel(PostPolicy::Open, &[person(1)]);
        loaded.put_ask(ask_id(1), Err(Corrupt::new("both ends")));
        assert_eq!(refused(&job(1, answer("yes")), &loaded).kind(), ErrorKind::Internal);
        let mut without_topic = channel(PostPolicy::Open, &[person(1)]);
        put_asks(&mut without_topic, &ask_message(agent(2), &[ask_id(1)]));
        assert_eq!(refused(&job(1, answer("yes")), &without_topic).kind(), ErrorKind::Internal);
    }

    #[tokio::test]
    async fn an_agent_is_refused_before_anything_is_read_or_submitted() {
        // No call of this storage is expected, and its writer fails every job.
        let comms = ports_over(MockStorage::new()).await;
        for ask in [Some(ask_id(1)), None] {
            let respond = RespondToAsk { ask, answers: answer("yes") };
            let error = respond_to_ask(&comms, &caller(agent(2)), respond.clone()).await.unwrap_err();
            assert!(matches!(error, Error::NotAPerson));
            let error = respond_to_ask(&comms, &caller(person(1)), respond).await.unwrap_err();
            let expected = if ask.is_some() { ErrorKind::Unavailable } else { ErrorKind::NotFound };
            assert_eq!(error.kind(), expected);
        }
    }
}
