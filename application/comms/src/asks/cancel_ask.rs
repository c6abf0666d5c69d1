//! Withdraws an open ask for its author; a repeat changes nothing.

use std::sync::Arc;

use compass_domain::{AccountId, AskId, Classified, Corrupt, ErrorKind, Event, LockedAsk, UnixMillis};
use compass_ports::{Decision, Loaded, Locks, StorageError, WriteJob, Writes, submit};

use super::check_digest;
use crate::{Caller, Comms};

/// A cancel as a client sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelAsk {
    /// Which ask; none if the sent text is no id.
    pub ask: Option<AskId>,
}

/// When the ask was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawn {
    /// By this call.
    Now,
    /// By an earlier one; nothing changed.
    Before,
}

/// Why a cancel is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ask does not exist, or the caller may not see it.
    #[error("ask not found")]
    NotFound,
    /// The caller sees the ask and did not post it.
    #[error("only its author may cancel an ask")]
    NotTheAuthor,
    /// A person answered it before.
    #[error("ask \"{0}\" is already answered")]
    AlreadyAnswered(AskId),
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
            Self::NotFound => ErrorKind::NotFound,
            Self::NotTheAuthor => ErrorKind::PermissionDenied,
            Self::AlreadyAnswered(_) => ErrorKind::Conflict,
            Self::Corrupt(_) => ErrorKind::Internal,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Withdraws an ask that the caller posted. No message is posted and nothing is delivered.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn cancel_ask(comms: &Comms, caller: &Caller, cancel: CancelAsk) -> Result<Withdrawn, Error> {
    let ask = cancel.ask.ok_or(Error::NotFound)?;
    let job = Job { actor: caller.actor.id, ask, now: comms.clock.now() };
    submit(&*comms.writer, &caller.tenant, job).await
}

struct Job {
    actor: AccountId,
    ask: AskId,
    now: UnixMillis,
}

impl WriteJob for Job {
    type Outcome = Withdrawn;
    type Error = Error;

    fn locks(&self) -> Locks {
        Locks::Cancel { ask: self.ask, actor: self.actor }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Withdrawn, Error> {
        let found = loaded.ask_for(self.ask, self.actor)?.ok_or(Error::NotFound)?;
        if found.author != self.actor {
            return Err(Error::NotTheAuthor);
        }
        let open = match loaded.lock_ask(self.ask, &found)? {
            LockedAsk::Open(open) => open,
            LockedAsk::Answered => return Err(Error::AlreadyAnswered(self.ask)),
            LockedAsk::Cancelled => return Ok((Writes::none(), Withdrawn::Before)),
        };
        let closed = open.cancel(self.now);
        check_digest(&closed, &found)?;
        let mut writes = Writes::none();
        writes.tell(Event::MessageUpdated(Arc::clone(closed.message())));
        writes.close(closed);
        Ok((writes, Withdrawn::Now))
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{Actor, Answers, ask::Reply, channel::PostPolicy};
    use compass_domain::{AskState, MessageId, Seq, ask::ContentDigest};
    use compass_ports::LoadedAsk;

    use super::*;
    use crate::testing::{
        ASK_MESSAGE, CHANNEL, account, agent, answer, ask_id, ask_message, channel, person, put_asks,
    };

    fn job(actor: Actor, ask: u8) -> Job {
        Job { actor: actor.id, ask: ask_id(ask), now: UnixMillis(900) }
    }

    /// A message of agent 2 with these asks; person 1 and agent 3 take part too.
    fn rows(asks: &[AskId]) -> Loaded {
        let mut loaded = channel(PostPolicy::Open, &[person(1), agent(2), agent(3)]);
        put_asks(&mut loaded, &ask_message(agent(2), asks));
        loaded
    }

    fn answered(loaded: &mut Loaded, ask: u8) {
        let found = loaded.ask_for(ask_id(ask), account(1)).unwrap().unwrap();
        let LockedAsk::Open(open) = loaded.lock_ask(ask_id(ask), &found).unwrap() else { panic!("open") };
        let reply = Reply { id: MessageId::from_bytes([0x55; 16]), seq: Seq(8), at: UnixMillis(800) };
        let answers = Answers::parse(answer("yes")).unwrap();
        let (closed, _) = open.answer(person(1).human().unwrap(), answers, reply).unwrap();
        let mut writes = Writes::none();
        writes.close(closed);
        loaded.apply(&writes);
    }

    #[test]
    fn the_author_withdraws_an_open_ask_and_one_update_says_so() {
        let (mut writes, outcome) = job(agent(2), 1).decide(&rows(&[ask_id(1)])).unwrap();
        assert_eq!(outcome, Withdrawn::Now);
        let [closed] = writes.closed() else { panic!("one ask") };
        let message = Arc::clone(closed.message());
        let state = message.asks().next().unwrap().state().clone();
        assert_eq!(state, AskState::Cancelled { at: UnixMillis(900) });
        assert!(writes.appended().is_empty());
        assert!(writes.topics().is_empty());
        assert_eq!(writes.take_events(), [Event::MessageUpdated(message)]);
    }

    #[test]
    fn a_second_cancel_succeeds_and_changes_and_tells_nothing() {
        let mut loaded = rows(&[ask_id(1)]);
        let (writes, _) = job(agent(2), 1).decide(&loaded).unwrap();
        loaded.apply(&writes);
        let (mut writes, outcome) = job(agent(2), 1).decide(&loaded).unwrap();
        assert_eq!(outcome, Withdrawn::Before);
        assert!(writes.is_empty());
        assert!(writes.take_events().is_empty());
    }

    #[test]
    fn an_answered_ask_cannot_be_withdrawn() {
        let mut loaded = rows(&[ask_id(1)]);
        answered(&mut loaded, 1);
        let error = job(agent(2), 1).decide(&loaded).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.to_string(), format!("ask \"{}\" is already answered", ask_id(1)));
    }

    #[test]
    fn a_participant_that_is_not_the_author_is_denied_in_every_state() {
        let open = rows(&[ask_id(1)]);
        let mut ended = rows(&[ask_id(1)]);
        answered(&mut ended, 1);
        let mut withdrawn = rows(&[ask_id(1)]);
        let (writes, _) = job(agent(2), 1).decide(&withdrawn).unwrap();
        withdrawn.apply(&writes);
        for loaded in [open, ended, withdrawn] {
            for other in [person(1), agent(3)] {
                let error = job(other, 1).decide(&loaded).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            }
        }
    }

    #[test]
    fn outsider_and_unknown_ask_look_the_same_and_so_does_an_author_that_left() {
        let unknown = job(agent(2), 99).decide(&rows(&[ask_id(1)])).unwrap_err();
        let outsider = job(person(8), 1).decide(&rows(&[ask_id(1)])).unwrap_err();
        let mut left = channel(PostPolicy::Open, &[person(1)]);
        put_asks(&mut left, &ask_message(agent(2), &[ask_id(1)]));
        let left = job(agent(2), 1).decide(&left).unwrap_err();
        for error in [&unknown, &outsider, &left] {
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert_eq!(error.to_string(), unknown.to_string());
        }
    }

    #[test]
    fn one_of_two_asks_is_withdrawn_and_the_other_stays_as_it_was() {
        let mut loaded = rows(&[ask_id(1), ask_id(2)]);
        answered(&mut loaded, 2);
        let (writes, _) = job(agent(2), 1).decide(&loaded).unwrap();
        let message = writes.closed()[0].message();
        let states: Vec<&AskState> = message.asks().map(compass_domain::Ask::state).collect();
        assert!(matches!(states[0], AskState::Cancelled { .. }));
        assert!(matches!(states[1], AskState::Answered { .. }));
    }

    #[test]
    fn questions_that_differ_from_their_digest_are_a_fault_and_nothing_is_written() {
        let message = ask_message(agent(2), &[ask_id(1)]);
        let mut loaded = rows(&[ask_id(1)]);
        let digest = ContentDigest([0; 32]);
        let entry = LoadedAsk { channel: CHANNEL, message: ASK_MESSAGE, author: account(2), digest };
        loaded.put_ask(ask_id(1), Ok((entry, message)));
        assert_eq!(job(agent(2), 1).decide(&loaded).unwrap_err().kind(), ErrorKind::Internal);
    }
}
