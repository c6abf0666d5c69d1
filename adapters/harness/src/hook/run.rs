//! One run of a hook: what it picks up or asks, what it says, and what it acknowledges after that was flushed.

use std::{
    fmt::Display,
    io::{self, Write},
    time::Duration,
};

use compass_agent::{
    asking::{Asking, Ended},
    elicitation::Reply,
    guard::Randomness,
    pickup::{self, Limits, Picked},
    ports::{Continuations, Continued, Gateway, Journal, Mailbox, Wait},
    seen::SeenAsk,
    tools::PostAskParams,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout};

use super::{
    elicit,
    input::{Elicitation, Event, Input},
    output, question,
};

/// How often in a row a turn is made to go on.
const CONTINUATIONS: u32 = 3;
/// How long what is owed may take to read, and how long receipts may take to send.
const PROMPT: Duration = Duration::from_secs(3);
/// Bytes of a post key, as the server has it.
const KEY_BYTES: usize = 128;

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// What was to be said did not get out, so nothing was acknowledged.
    #[error("the output was not written, nothing was acknowledged: {0}")]
    Output(#[from] io::Error),
    /// Compass has nothing to say; the model goes on as if the hook was not there.
    #[error("{0}")]
    Nothing(String),
}

/// Where questions go.
#[derive(Debug, Clone)]
pub struct Place {
    /// The channel's name; the agent's home channel if absent.
    pub channel: Option<String>,
    /// The topic's name; it is made if need be.
    pub topic: String,
}

/// What one run needs.
pub struct Hook<'a> {
    /// Where asks are posted.
    pub gateway: &'a dyn Gateway,
    /// What the agent is owed.
    pub mailbox: &'a dyn Mailbox,
    /// Marks and waits of the agent.
    pub journal: &'a mut dyn Journal,
    /// For what its sessions were made to go on.
    pub continuations: &'a mut dyn Continuations,
    /// The agent's account.
    pub reader: &'a str,
    /// What fences and keys are made of.
    pub random: &'a Randomness,
    /// Where questions go.
    pub place: Place,
    /// Until when a question waits for its answer.
    pub until: Instant,
}

impl Hook<'_> {
    /// Handles one event, and says what there is to say to `out`.
    ///
    /// # Errors
    ///
    /// [`HookError`]; only [`HookError::Output`] is a failure for whoever started the hook.
    pub async fn run(&mut self, input: Input, out: &mut (dyn Write + Send)) -> Result<(), HookError> {
        let session = input.session_id;
        match input.event {
            Event::Context { name } => match self.pick_up().await? {
                Some(picked) => self.hand_over(out, &output::context(name, &picked.text), picked).await,
                None => Ok(()),
            },
            Event::Stop { active } => self.stop(&session, active, out).await,
            Event::Question { tool_use_id, tool_input } => {
                self.question(&session, &tool_use_id, &tool_input, out).await
            }
            Event::Elicitation(request) => self.elicitation(&session, &request, out).await,
            Event::Other { .. } => Ok(()),
        }
    }

    /// Makes the turn go on for what is owed, at most so often in a row, and once for a message that it announces.
    async fn stop(
        &mut self,
        session: &str,
        active: bool,
        out: &mut (dyn Write + Send),
    ) -> Result<(), HookError> {
        let known =
            if active { self.continuations.get(session).map_err(nothing)? } else { Continued::default() };
        if !active {
            self.continuations.set(session, &known).map_err(nothing)?;
        }
        if known.count >= CONTINUATIONS {
            return Ok(());
        }
        let Some(picked) = self.pick_up().await? else { return Ok(()) };
        if picked.announced.is_some() && picked.announced == known.announced {
            return Ok(());
        }
        // Kept before it is said, so that no lost record makes an endless turn.
        let announced = picked.announced.clone().or(known.announced);
        let continued = Continued { count: known.count + 1, announced };
        self.continuations.set(session, &continued).map_err(nothing)?;
        self.hand_over(out, &output::go_on(&picked.text), picked).await
    }

    /// What is owed; none if there is nothing.
    async fn pick_up(&mut self) -> Result<Option<Picked>, HookError> {
        let picking = pickup::pick_up(self.mailbox, self.journal, Limits::HOOK, self.reader, self.random);
        let picked = timeout(PROMPT, picking).await.map_err(|_| late())?.map_err(nothing)?;
        Ok(Some(picked).filter(|picked| !picked.text.is_empty()))
    }

    /// Says it, and acknowledges after the flush.
    async fn hand_over(
        &mut self,
        out: &mut (dyn Write + Send),
        said: &Value,
        picked: Picked,
    ) -> Result<(), HookError> {
        output::write(out, said)?;
        let taking = pickup::took(self.mailbox, self.journal, picked);
        timeout(PROMPT, taking).await.map_err(|_| late())?.map_err(nothing)
    }

    async fn question(
        &mut self,
        session: &str,
        tool_use_id: &str,
        tool_input: &Value,
        out: &mut (dyn Write + Send),
    ) -> Result<(), HookError> {
        if tool_use_id.is_empty() {
            return Err(HookError::Nothing(
                "the question's call has no id, so it is not asked in Compass".into(),
            ));
        }
        let asked = question::ask(tool_input, &self.place.topic, self.place.channel.as_deref());
        let ask =
            asked.map_err(|error| HookError::Nothing(format!("the question is not understood: {error}")))?;
        let key = key(session, tool_use_id);
        match self.ask(&key, ask).await? {
            Ended::Answered { ask, message_id } => {
                let said = match question::answered(tool_input, &ask) {
                    Some(updated) => output::allow(&updated),
                    None => output::deny(&question::all_skipped(&ask.ask_id)),
                };
                if !output::fits(&said) {
                    // With the wait over, the answer is handed over as any message is.
                    let reason = question::too_long(&ask.ask_id, message_id.is_some());
                    return self.leave(&key, out, &reason);
                }
                self.say(&key, out, &said)?;
                self.took(&key, message_id.as_deref()).await
            }
            Ended::Withdrawn { ask_id } => self.leave(&key, out, &question::withdrawn(&ask_id)),
            Ended::StillOpen { ask_id } => self.leave(&key, out, &question::still_open(&ask_id)),
        }
    }

    /// Denies the call for this reason and waits no longer.
    fn leave(&mut self, key: &str, out: &mut (dyn Write + Send), reason: &str) -> Result<(), HookError> {
        self.say(key, out, &output::deny(reason))?;
        self.journal.end_wait(key).map_err(nothing)
    }

    async fn elicitation(
        &mut self,
        session: &str,
        request: &Elicitation,
        out: &mut (dyn Write + Send),
    ) -> Result<(), HookError> {
        let form = elicit::form(request).map_err(|reason| {
            HookError::Nothing(format!(
                "the form of {:?} is not asked in Compass: {reason}",
                request.mcp_server_name
            ))
        })?;
        let ask = form.ask(&self.place.topic, self.place.channel.clone());
        let key = match &request.id {
            Some(id) => key(session, id),
            // A request without an id cannot be recognised when it comes again.
            None => key(session, &u64::from_be_bytes((self.random)()).to_string()),
        };
        let (answered, message_id) = match self.ask(&key, ask.clone()).await? {
            Ended::Answered { ask, message_id } => (ask, message_id),
            Ended::Withdrawn { ask_id } => (Box::new(SeenAsk { ask_id, ..SeenAsk::default() }), None),
            Ended::StillOpen { ask_id } => match self.give_up(&key, &ask_id, ask).await? {
                Some((answered, message_id)) => (answered, message_id),
                None => return Err(HookError::Nothing(format!("nobody answered ask {ask_id} in time"))),
            },
        };
        let reply = form.answered(&answered);
        let (carries, action) = (reply.carries_answer(), reply.action());
        let content = if let Reply::Accept(content) = reply { Some(content) } else { None };
        self.say(&key, out, &output::elicited(action, content))?;
        // What a person wrote and the form cannot take reaches the model as a message.
        let message_id = message_id.filter(|_| carries);
        self.took(&key, message_id.as_deref()).await
    }

    /// Withdraws an ask whose request is over; gives the answer if a person was first.
    async fn give_up(
        &mut self,
        key: &str,
        ask_id: &str,
        ask: PostAskParams,
    ) -> Result<Option<(Box<SeenAsk>, Option<String>)>, HookError> {
        let withdrawn = self.asking().withdraw(ask_id).await;
        if !matches!(withdrawn, Ok(false)) {
            self.journal.end_wait(key).map_err(nothing)?;
            return withdrawn.map(|_| None).map_err(nothing);
        }
        match self.ask(key, ask).await? {
            Ended::Answered { ask, message_id } => Ok(Some((ask, message_id))),
            Ended::Withdrawn { .. } | Ended::StillOpen { .. } => Ok(None),
        }
    }

    async fn ask(&mut self, key: &str, ask: PostAskParams) -> Result<Ended, HookError> {
        let owner = format!("hook-{}", std::process::id());
        // It is ours until the end; then its answer comes as any message does.
        let wait = Wait { key: key.to_owned(), owner, ask, ask_id: None, keep: true };
        let until = self.until;
        self.asking().run(wait, until).await.map_err(nothing)
    }

    async fn took(&mut self, key: &str, message_id: Option<&str>) -> Result<(), HookError> {
        let mut asking = self.asking();
        timeout(PROMPT, asking.took(key, message_id)).await.map_err(|_| late())?.map_err(nothing)
    }

    fn asking(&mut self) -> Asking<'_> {
        Asking { gateway: self.gateway, mailbox: self.mailbox, journal: self.journal }
    }

    /// Says it; if that fails nobody waits any more, so that the answer comes another way.
    fn say(&mut self, key: &str, out: &mut (dyn Write + Send), value: &Value) -> Result<(), HookError> {
        let said = output::write(out, value);
        if said.is_err() {
            self.journal.end_wait(key).map_err(nothing)?;
        }
        Ok(said?)
    }
}

/// Whatever fails but the output leaves the model as if there was no hook.
fn nothing(reason: impl Display) -> HookError {
    HookError::Nothing(reason.to_string())
}

fn late() -> HookError {
    HookError::Nothing("the server did not reply in time".into())
}

/// The key of a session's question: the same question asks nothing new when its hook runs again.
fn key(session: &str, id: &str) -> String {
    let plain = format!("hook:{session}:{id}");
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    // A colon inside a part could make two pairs alike.
    if plain.len() <= KEY_BYTES && plain.bytes().all(fits) && !session.contains(':') {
        return plain;
    }
    let mut hash = Sha256::new();
    for part in [session, id] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    format!("hook:{:x}", hash.finalize())
}
