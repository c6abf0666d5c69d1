//! Who an agent's socket stands for: its session, and the life of its program in it.

use std::sync::{Arc, Mutex};

use compass_domain::AccountId;
use compass_proto::v1::{self, AgentControl, AgentSessionState, RunnerErrorCode, agent_control::Control};
use compass_runner::SendError;
use tonic::Status;

use super::{
    Refusal,
    life::{Life, locked},
    service::{no_session, to_tell},
};

/// What one agent runs now. Only its container changes it; everybody else reads.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) account: AccountId,
    session: Mutex<Option<Session>>,
}

#[derive(Debug)]
struct Session {
    id: String,
    state: AgentSessionState,
    life: Option<Arc<Life>>,
}

/// A session whose program lives.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) session_id: String,
    pub(super) life: Arc<Life>,
}

impl Seat {
    pub(super) fn new(account: AccountId) -> Arc<Self> {
        Arc::new(Self { account, session: Mutex::new(None) })
    }

    /// The session, if its program lives.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` otherwise.
    pub(super) fn alive(&self) -> Result<Bound, Status> {
        let session = locked(&self.session);
        let bound = session.as_ref().filter(|session| !session.id.is_empty()).and_then(|session| {
            let life = session.life.clone()?;
            Some(Bound { session_id: session.id.clone(), life })
        });
        bound.ok_or_else(no_session)
    }

    /// The session runs from now on; its program is yet to live.
    pub(super) fn take(&self, session_id: &str) {
        *locked(&self.session) =
            Some(Session { id: session_id.to_owned(), state: AgentSessionState::Starting, life: None });
    }

    /// A new life of the session's program begins.
    pub(super) fn enter(&self) -> Option<Arc<Life>> {
        let mut session = locked(&self.session);
        let session = session.as_mut()?;
        let life = Life::open();
        session.state = AgentSessionState::Starting;
        if let Some(before) = session.life.replace(Arc::clone(&life)) {
            before.retire();
        }
        Some(life)
    }

    /// The life of the program is over; the session waits for the next one.
    pub(super) fn leave(&self, state: AgentSessionState) {
        if let Some(session) = locked(&self.session).as_mut() {
            session.state = state;
            if let Some(life) = session.life.take() {
                life.retire();
            }
        }
    }

    /// The session is over.
    pub(super) fn clear(&self) {
        let session = locked(&self.session).take();
        if let Some(life) = session.and_then(|session| session.life) {
            life.retire();
        }
    }

    /// Takes an agent's word on its session; gives what of it goes up.
    pub(super) fn told(&self, bound: &Bound, frame: v1::SessionFrame) -> Option<v1::SessionFrame> {
        let frame = to_tell(frame)?;
        let mut session = locked(&self.session);
        // A life that is over has no say any more.
        let session = session
            .as_mut()
            .filter(|session| session.life.as_ref().is_some_and(|life| Arc::ptr_eq(life, &bound.life)))?;
        if frame.state() != AgentSessionState::Unspecified {
            session.state = frame.state();
        }
        Some(frame)
    }

    /// What the server is told about the session when it asks.
    pub(super) fn status(&self) -> Option<v1::AgentSessionStatus> {
        let session = locked(&self.session);
        session.as_ref().map(|session| v1::AgentSessionStatus {
            session_id: session.id.clone(),
            state: session.state.into(),
            agent_account_id: self.account.to_string(),
        })
    }

    /// The session's id.
    pub(super) fn session_id(&self) -> Option<String> {
        locked(&self.session).as_ref().map(|session| session.id.clone())
    }

    /// Hands control to the session. `None` if this is not where it runs.
    pub(super) fn deliver(&self, session_id: &str, op: AgentControl) -> Option<Result<(), Refusal>> {
        let life = {
            let session = locked(&self.session);
            let session = session.as_ref().filter(|session| session.id == session_id)?;
            session.life.clone()
        };
        Some(match life {
            None => Err(Refusal::new(
                RunnerErrorCode::FailedPrecondition,
                "the agent's program is not running at the moment",
            )),
            Some(life) => meaning(&op).and_then(|()| life.send(op).map_err(refusal)),
        })
    }
}

/// Refuses control that says nothing.
fn meaning(op: &AgentControl) -> Result<(), Refusal> {
    let empty = |what: &str| Err(Refusal::new(RunnerErrorCode::Internal, what));
    match &op.control {
        None => empty("control without an operation this runner knows"),
        Some(Control::Deliver(op)) if op.message.is_none() => empty("a deliver without a message"),
        Some(Control::Steer(op)) if op.message.is_none() => empty("a steer without a message"),
        Some(_) => Ok(()),
    }
}

fn refusal(error: SendError) -> Refusal {
    let code = match error {
        SendError::Retired => RunnerErrorCode::NotFound,
        SendError::Full => RunnerErrorCode::ResourceExhausted,
        SendError::NoAgent => RunnerErrorCode::FailedPrecondition,
    };
    Refusal::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat() -> Arc<Seat> {
        Seat::new(AccountId::from_bytes([7; 16]))
    }

    fn deliver() -> AgentControl {
        let message = Some(v1::Message::default());
        let op = v1::DeliverControl { message, ..v1::DeliverControl::default() };
        AgentControl { control: Some(Control::Deliver(op)), control_seq: 0 }
    }

    #[test]
    fn b6_without_a_session_or_a_life_nothing_is_permitted() {
        let seat = seat();
        let denied = |seat: &Seat| seat.alive().unwrap_err().code() == tonic::Code::PermissionDenied;
        assert!(denied(&seat), "no session");
        seat.take("");
        seat.enter();
        assert!(denied(&seat), "an empty session id");
        seat.take("s");
        assert!(denied(&seat), "no life yet");
        seat.enter();
        assert_eq!(seat.alive().unwrap().session_id, "s");
        seat.leave(AgentSessionState::Disconnected);
        assert!(denied(&seat), "between two lives");
        seat.clear();
        assert!(denied(&seat));
    }

    #[test]
    fn b14_control_for_another_session_is_not_taken() {
        let seat = seat();
        assert!(seat.deliver("s", deliver()).is_none());
        seat.take("s");
        assert!(seat.deliver("other", deliver()).is_none());
        let between = seat.deliver("s", deliver()).unwrap().unwrap_err();
        assert_eq!(between.code, RunnerErrorCode::FailedPrecondition);
        seat.enter();
        seat.deliver("s", deliver()).unwrap().unwrap();
    }

    #[test]
    fn b16_control_that_says_nothing_is_refused() {
        let seat = seat();
        seat.take("s");
        seat.enter();
        for control in [
            None,
            Some(Control::Deliver(v1::DeliverControl::default())),
            Some(Control::Steer(v1::SteerControl::default())),
        ] {
            let op = AgentControl { control, control_seq: 0 };
            assert_eq!(seat.deliver("s", op).unwrap().unwrap_err().code, RunnerErrorCode::Internal);
        }
    }

    #[test]
    fn a_word_of_a_life_that_is_over_does_not_change_the_session() {
        let seat = seat();
        seat.take("s");
        seat.enter();
        let old = seat.alive().unwrap();
        seat.enter();
        let working = v1::SessionFrame { state: AgentSessionState::Working.into(), typed_event: None };
        assert_eq!(seat.told(&old, working.clone()), None);
        assert_eq!(seat.status().unwrap().state(), AgentSessionState::Starting);
        let current = seat.alive().unwrap();
        assert!(seat.told(&current, working).is_some());
        assert_eq!(seat.status().unwrap().state(), AgentSessionState::Working);
    }

    #[test]
    fn b35_the_end_of_a_session_ends_its_control() {
        let seat = seat();
        seat.take("s");
        let life = seat.enter().unwrap();
        seat.clear();
        assert_eq!(life.subscribe(), None);
        assert_eq!(life.send(deliver()), Err(SendError::Retired));
        assert!(seat.status().is_none());
    }
}
