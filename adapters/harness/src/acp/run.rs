//! The harness of an ACP agent: one task that moves the connection, the turns and the requests.

use std::{collections::VecDeque, time::Duration};

use agent_client_protocol::Error;
use async_trait::async_trait;
use compass_agent::{
    guard::flat_cut,
    lanes::Handed,
    ports::{Activity, Harness, HarnessError, HarnessEvent, Notice, SessionEvent},
};
use futures::future::BoxFuture;
use tokio::{
    io::{AsyncBufRead, AsyncWrite},
    time::Instant,
};

use super::{
    Settings,
    activity::Activities,
    connection::{self, Connection, Incoming, Over, TurnError},
    elicitation, permission,
    requests::{Reply, Requests},
    setup::{Ready, Setup, SetupError},
    turns::{self, CANCEL, Prompt, Turns},
};

/// How long the last words have to leave.
const LINGER: Duration = Duration::from_secs(2);
/// Characters of a line that is no message, at the most.
const NOISE: usize = 200;

pub(super) struct Agent {
    account_id: String,
    life: String,
    random: Box<compass_agent::guard::Randomness>,
    now_unix_ms: Box<dyn Fn() -> i64 + Send + Sync>,
    connection: Connection,
    /// None until it can be prompted.
    ready: Option<Ready>,
    turns: Turns,
    requests: Requests,
    activities: Activities,
    events: u64,
    /// For the core, in order.
    said: VecDeque<HarnessEvent>,
    /// How the connection ended.
    over: Option<Over>,
    stop: Option<BoxFuture<'static, ()>>,
}

enum Step {
    Incoming(Incoming),
    Told(String, super::requests::Told),
    Over(Over),
    Stop,
    Words,
    Wedged,
}

#[async_trait]
impl Harness for Agent {
    async fn next(&mut self) -> Result<HarnessEvent, HarnessError> {
        loop {
            if let Some(event) = self.said.pop_front() {
                return Ok(event);
            }
            // What it said last counts before its end does.
            if let Ok(incoming) = self.connection.queue.try_recv() {
                self.take(incoming)?;
                continue;
            }
            if let Some(over) = &self.over {
                return over.clone().map(|()| HarnessEvent::Ended).map_err(|reason| fault(&reason));
            }
            let step = self.step().await;
            match step {
                Step::Incoming(incoming) => self.take(incoming)?,
                Step::Told(key, told) => {
                    let (event, remark) = self.requests.told(key, told);
                    self.said.extend(event);
                    self.remark(remark);
                }
                Step::Over(over) => {
                    self.end_all();
                    self.over = Some(over);
                }
                Step::Stop => {
                    self.end_all();
                    self.said.push_back(HarnessEvent::Ended);
                }
                Step::Words => {
                    let words = self.activities.flush();
                    self.show(words);
                }
                Step::Wedged => {
                    self.end_all();
                    let reason =
                        format!("it did not end its turn within {} s when told to", CANCEL.as_secs());
                    self.over = Some(Err(reason));
                }
            }
        }
    }

    fn has_room(&self) -> bool {
        self.ready.is_some()
    }

    async fn inject(&mut self, batch: Vec<Handed>, waiting: usize) -> Result<(), HarnessError> {
        self.turns.queue(Prompt::Messages(batch, waiting));
        self.begin()
    }

    async fn interrupt(&mut self, message: Handed) -> Result<(), HarnessError> {
        if self.turns.interrupt(message) {
            self.cut_short()?;
            self.remark(Some("The agent's turn is cut short for a message.".to_owned()));
        }
        self.begin()
    }

    async fn prompt(&mut self, input: String) -> Result<(), HarnessError> {
        self.turns.queue(Prompt::Text(input));
        self.begin()
    }

    async fn tell(&mut self, notice: Notice) -> Result<(), HarnessError> {
        match notice {
            Notice::Unmapped => self.remark(Some("A message without an id was delivered.".to_owned())),
            Notice::NotHandedOver { message_id } => {
                self.remark(Some(format!("Message {message_id} was taken and never handed over.")));
            }
            // An agent need not know how its runner stands with the server.
            Notice::Attached { .. } | Notice::Detached { .. } | Notice::Stopped | Notice::Ended { .. } => {}
        }
        Ok(())
    }

    async fn finish(&mut self) {
        if self.over.is_some() {
            return;
        }
        if self.turns.running().is_some() {
            // An agent that is gone has nothing to end.
            drop(self.cut_short());
        }
        self.connection.close = None;
        drop(tokio::time::timeout(LINGER, &mut self.connection.driver).await);
    }
}

impl Agent {
    pub(super) fn new(
        settings: Settings,
        input: impl AsyncBufRead + Unpin + Send + 'static,
        output: impl AsyncWrite + Unpin + Send + 'static,
        stop: BoxFuture<'static, ()>,
    ) -> Self {
        let Settings { account_id, directory, tools, session_file, life, random, now_unix_ms } = settings;
        Self {
            account_id,
            requests: Requests::new(life.clone()),
            life,
            random,
            now_unix_ms,
            connection: Connection::open(Setup { directory, tools, session_file }, input, output),
            ready: None,
            turns: Turns::default(),
            activities: Activities::default(),
            events: 0,
            said: VecDeque::new(),
            over: None,
            stop: Some(stop),
        }
    }

    /// Waits for the next thing to happen. Every branch may be dropped and loses nothing.
    async fn step(&mut self) -> Step {
        let (words, wedged) = (self.activities.due(), self.turns.ends_by());
        tokio::select! {
            biased;
            Some(incoming) = self.connection.queue.recv() => Step::Incoming(incoming),
            (key, told) = self.requests.next() => Step::Told(key, told),
            () = stopped(&mut self.stop) => Step::Stop,
            over = &mut self.connection.driver => Step::Over(over),
            () = at(words) => Step::Words,
            () = at(wedged) => Step::Wedged,
        }
    }

    fn take(&mut self, incoming: Incoming) -> Result<(), HarnessError> {
        match incoming {
            Incoming::Ready(ready) => {
                self.remark(Some(ready.remark.clone()));
                self.ready = Some(ready);
                // The core looks again whether there is room.
                self.said.push_back(HarnessEvent::Streaming(false));
                self.begin()?;
            }
            Incoming::Elicitation(request, responder) => match elicitation::form(&request) {
                Ok((session, form)) => {
                    let ask = form.ask(elicitation::TOPIC, None);
                    self.request(&session.0, Ok(ask), Reply::Elicitation(responder, Box::new(form)));
                }
                // An agent that is gone needs no answer.
                Err(reason) => drop(responder.respond_with_error(Error::invalid_params().data(reason))),
            },
            // Its end, which follows, ends everything; nothing more is handed to it.
            Incoming::Failed(SetupError::Gone) | Incoming::Done(_, Err(TurnError::Gone)) => {}
            Incoming::Failed(error) => {
                self.end_all();
                self.over = Some(Err(error.to_string()));
            }
            Incoming::Update(update) => {
                // What came before it was ready is the past, and other conversations are its own.
                if self.ready.as_ref().is_some_and(|ready| ready.session == update.session_id) {
                    if turns::is_evidence(&update.update) {
                        self.said.extend(self.turns.evidence());
                    }
                    for activity in self.activities.take(update.update) {
                        self.show(Some(activity));
                    }
                }
            }
            Incoming::Permission(request, responder) => {
                let options = request.options.iter().map(|option| option.option_id.clone()).collect();
                let call = self.activities.call(&request.tool_call.tool_call_id.0);
                let ask = permission::ask(&request, call);
                self.request(&request.session_id.0, ask, Reply::Permission(responder, options));
            }
            Incoming::Done(number, how) => {
                let ended = self.turns.ended(number, how.map(|response| response.stop_reason));
                let words = self.activities.turn_ended();
                self.show(words);
                self.said.extend(self.requests.end(Some(number)));
                self.said.extend(ended.events);
                self.remark(ended.remark);
                self.begin()?;
                if self.turns.running().is_none() {
                    self.said.push_back(HarnessEvent::TurnEnded);
                }
            }
            Incoming::Noise(line) => {
                let line = flat_cut(line.trim(), NOISE);
                self.remark(Some(format!("The agent's program printed a line that is no message: {line}")));
            }
        }
        Ok(())
    }

    /// Takes a request to people in.
    fn request(
        &mut self,
        session: &str,
        ask: Result<compass_agent::tools::PostAskParams, String>,
        reply: Reply,
    ) {
        let words = self.activities.flush();
        self.show(words);
        if self.ready.as_ref().is_none_or(|ready| &*ready.session.0 != session) {
            reply.fail("no such session");
        } else if self.turns.is_cut_short() {
            reply.cancel();
        } else {
            self.said.extend(self.turns.evidence());
            match ask {
                Ok(ask) => self.said.push_back(self.requests.ask(self.turns.running(), ask, reply)),
                Err(reason) => reply.fail(&reason),
            }
        }
    }

    /// Begins the next turn if none runs.
    fn begin(&mut self) -> Result<(), HarnessError> {
        let Some(ready) = &self.ready else { return Ok(()) };
        if let Some((number, text)) = self.turns.begin(&self.account_id, &self.random) {
            self.connection.prompt(ready, number, text).map_err(|reason| fault(&reason))?;
            // It may post before it shows that it works.
            self.said.push_back(HarnessEvent::TurnStarted);
        }
        Ok(())
    }

    /// Asks the agent to end its turn; what it waits to be told ends with it.
    fn cut_short(&mut self) -> Result<(), HarnessError> {
        if let Some(ready) = &self.ready {
            connection::cancel(&ready.connection, &ready.session).map_err(|reason| fault(&reason))?;
        }
        self.said.extend(self.requests.end(self.turns.running()));
        Ok(())
    }

    /// Gives up everything that waits for people, and shows the last words.
    fn end_all(&mut self) {
        let words = self.activities.turn_ended();
        self.show(words);
        self.said.extend(self.requests.end(None));
    }

    fn remark(&mut self, text: Option<String>) {
        self.show(text.map(|text| Activity::Notice { text }));
    }

    fn show(&mut self, activity: Option<Activity>) {
        let Some(activity) = activity else { return };
        self.events += 1;
        let id = format!("{}-{}", self.life, self.events);
        let event = SessionEvent { id, at_unix_ms: (self.now_unix_ms)(), activity };
        self.said.push_back(HarnessEvent::Activity(event));
    }
}

fn fault(reason: &str) -> HarnessError {
    HarnessError(format!("ACP agent: {reason}"))
}

/// Waits until then; for ever if there is no time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Waits for the stop, once.
async fn stopped(stop: &mut Option<BoxFuture<'static, ()>>) {
    match stop {
        Some(waiting) => {
            waiting.await;
            *stop = None;
        }
        None => std::future::pending().await,
    }
}
