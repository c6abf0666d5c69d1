//! What the agent waits to be told by people: each request with its ask, until one of the two ends.

use std::collections::HashMap;

use agent_client_protocol::{
    Error,
    v1::{
        Responder,
        schema::{CreateElicitationResponse, PermissionOptionId, RequestPermissionResponse},
    },
};
use compass_agent::{
    elicitation::Form, ports::HarnessEvent, seen::SeenAsk, tools::PostAskParams, waiters::Outcome,
};
use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::oneshot;

use super::{elicitation, permission};

/// How a wait for people ended.
#[derive(Debug)]
pub(super) enum Told {
    /// As the core says.
    Outcome(Outcome),
    /// The agent no longer wants to know.
    Cancelled,
}

/// Where the answer goes.
pub(super) enum Reply {
    /// To a request for permission with these options.
    Permission(Responder<RequestPermissionResponse>, Vec<PermissionOptionId>),
    /// To a form.
    Elicitation(Responder<CreateElicitationResponse>, Box<Form>),
}

struct Open {
    /// The turn it was made in.
    turn: Option<u64>,
    reply: Reply,
}

/// All requests that wait.
pub(super) struct Requests {
    life: String,
    number: u64,
    open: HashMap<String, Open>,
    waits: FuturesUnordered<BoxFuture<'static, (String, Told)>>,
}

impl Requests {
    /// None yet; `life` begins the keys of their asks.
    pub(super) fn new(life: String) -> Self {
        Self { life, number: 0, open: HashMap::new(), waits: FuturesUnordered::new() }
    }

    /// Begins to wait; the event is for the core.
    pub(super) fn ask(&mut self, turn: Option<u64>, ask: PostAskParams, reply: Reply) -> HarnessEvent {
        self.number += 1;
        let key = format!("{}:acp-{}", self.life, self.number);
        let (tell, told) = oneshot::channel();
        let (cancellation, waiting) = (reply.cancellation(), key.clone());
        self.waits.push(Box::pin(async move {
            let told = tokio::select! {
                // A core that is gone tells nothing any more.
                outcome = told => Told::Outcome(outcome.unwrap_or(Outcome::Withdrawn)),
                () = cancellation.cancelled() => Told::Cancelled,
            };
            (waiting, told)
        }));
        self.open.insert(key.clone(), Open { turn, reply });
        HarnessEvent::Ask { key, ask, keep: false, tell }
    }

    /// Waits for the end of a wait; for ever while nobody waits. May be dropped.
    pub(super) async fn next(&mut self) -> (String, Told) {
        match self.waits.next().await {
            Some(told) => told,
            None => std::future::pending().await,
        }
    }

    /// Answers the request; gives what the core is to hear, and what people who watch are.
    pub(super) fn told(&mut self, key: String, told: Told) -> (Option<HarnessEvent>, Option<String>) {
        let Some(Open { reply, .. }) = self.open.remove(&key) else { return (None, None) };
        match told {
            Told::Cancelled => {
                reply.cancel();
                (Some(HarnessEvent::GaveUp { key }), None)
            }
            Told::Outcome(Outcome::Withdrawn) => {
                reply.cancel();
                (None, None)
            }
            Told::Outcome(Outcome::NotPosted { reason }) => {
                reply.fail(&reason);
                (None, Some(format!("The agent's request could not be put to people: {reason}")))
            }
            Told::Outcome(Outcome::Answered(delivery)) => match delivery.message.answer() {
                Some(ask) if !reply.answer(ask) => (Some(HarnessEvent::Took { key }), None),
                // What the request's answer cannot carry reaches the model as the message it is.
                _ => (Some(HarnessEvent::GaveUp { key }), None),
            },
        }
    }

    /// Gives up what was asked in this turn, or everything.
    pub(super) fn end(&mut self, turn: Option<u64>) -> Vec<HarnessEvent> {
        let ends = |open: &Open| turn.is_none() || open.turn == turn;
        let keys: Vec<String> =
            self.open.iter().filter(|(_, open)| ends(open)).map(|(key, _)| key.clone()).collect();
        keys.into_iter().filter_map(|key| self.told(key, Told::Cancelled).0).collect()
    }
}

impl Reply {
    fn cancellation(&self) -> agent_client_protocol::RequestCancellation {
        match self {
            Self::Permission(responder, _) => responder.cancellation(),
            Self::Elicitation(responder, _) => responder.cancellation(),
        }
    }

    /// Says what was decided; true if the answer says more than that.
    fn answer(self, ask: &SeenAsk) -> bool {
        match self {
            Self::Permission(responder, options) => {
                let decision = permission::decide(ask, &options);
                // An agent that is gone needs no answer.
                drop(responder.respond(permission::response(decision.chosen)));
                decision.says_more
            }
            Self::Elicitation(responder, form) => {
                let (response, says_more) = elicitation::response(form.answered(ask));
                drop(responder.respond(response));
                says_more
            }
        }
    }

    /// Says that nothing was decided.
    pub(super) fn cancel(self) {
        match self {
            Self::Permission(responder, _) => drop(responder.respond(permission::response(None))),
            Self::Elicitation(responder, _) => {
                drop(responder.respond(elicitation::response(elicitation::WITHDRAWN).0));
            }
        }
    }

    /// Says that people cannot be asked.
    pub(super) fn fail(self, reason: &str) {
        let error = Error::invalid_params().data(reason);
        match self {
            Self::Permission(responder, _) => drop(responder.respond_with_error(error)),
            Self::Elicitation(responder, _) => drop(responder.respond_with_error(error)),
        }
    }
}
