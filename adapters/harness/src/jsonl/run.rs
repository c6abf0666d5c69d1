//! The loop between an agent's program, its link and its inbox.

use std::pin::Pin;

use compass_agent::{
    inbox::{Arrival, Inbox},
    ports::{Gateway, Journal, JournalError, Link, LinkEvent, TurnState},
    seen::Delivery,
    tools::PostKeys,
};
use futures::{StreamExt, stream::FuturesUnordered};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, Split};

use super::{
    lines::{InLine, OutLine, State},
    tools,
};

/// Calls under way at once; more wait in the program's pipe.
const CALLS: usize = 64;

/// Why the loop ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program closed its output, and every call it made came to an end.
    Input,
    /// The server ended the session.
    Stopped,
    /// The link is over.
    Link {
        /// The status token.
        code: String,
        /// The server's text.
        reason: String,
    },
}

/// What stops the loop although both sides are well.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program's pipes failed.
    #[error("pipe of the agent's program: {0}")]
    Pipe(#[from] std::io::Error),
    /// Nothing may be handed over or acknowledged without the journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A line could not be written as JSON.
    #[error("line: {0}")]
    Line(#[from] serde_json::Error),
}

type Call<'a> = Pin<Box<dyn Future<Output = OutLine> + Send + 'a>>;

/// Runs until the program closes its output, the link ends or the journal fails.
///
/// Every message is written as one line and acknowledged to the server only after the program's `ack` line, with
/// the mark synced in between.
///
/// # Errors
///
/// [`RunError`] if a pipe or the journal fails.
pub async fn run<J: Journal>(
    link: &mut dyn Link,
    gateway: &dyn Gateway,
    keys: &PostKeys,
    inbox: &mut Inbox<J>,
    input: impl AsyncBufRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<Ended, RunError> {
    let mut agent = Agent { link, inbox, output };
    let mut calls: FuturesUnordered<Call<'_>> = FuturesUnordered::new();
    let mut input: Option<Split<_>> = Some(input.split(b'\n'));
    let mut number = 0;
    loop {
        if input.is_none() && calls.is_empty() {
            return Ok(Ended::Input);
        }
        tokio::select! {
            event = agent.link.next() => {
                if let Some(ended) = agent.tell(event).await? {
                    return Ok(ended);
                }
            }
            Some(line) = calls.next() => agent.write(&line).await?,
            line = next_line(&mut input), if calls.len() < CALLS => {
                let Some(line) = line? else {
                    input = None;
                    continue;
                };
                number += 1;
                match serde_json::from_slice(&line) {
                    Ok(InLine::Call { id, tool, arguments }) => calls.push(Box::pin(async move {
                        let done = tools::call(gateway, keys, &id, &tool, arguments).await;
                        match done {
                            Ok(output) => OutLine::Result { id, ok: true, output: Some(output), error: None },
                            Err(error) => {
                                OutLine::Result { id, ok: false, output: None, error: Some(error.to_string()) }
                            }
                        }
                    })),
                    Ok(InLine::Ack { message_id }) => agent.taken(message_id).await?,
                    Ok(InLine::State { state }) => agent.link.report(turn(state)).await,
                    Err(error) => {
                        let error = format!("input line {number} is not usable: {error}");
                        agent.write(&OutLine::Error { error }).await?;
                    }
                }
            }
        }
    }
}

/// The next line, which need not be text; for ever pending once the input ended.
async fn next_line<R: AsyncBufRead + Unpin>(
    input: &mut Option<Split<R>>,
) -> std::io::Result<Option<Vec<u8>>> {
    match input {
        Some(lines) => lines.next_segment().await,
        None => std::future::pending().await,
    }
}

fn turn(state: State) -> TurnState {
    match state {
        State::Ready => TurnState::Ready,
        State::Working => TurnState::Working,
    }
}

struct Agent<'a, J, W> {
    link: &'a mut dyn Link,
    inbox: &'a mut Inbox<J>,
    output: W,
}

impl<J: Journal, W: AsyncWrite + Unpin> Agent<'_, J, W> {
    async fn tell(&mut self, event: Option<LinkEvent>) -> Result<Option<Ended>, RunError> {
        match event {
            Some(LinkEvent::Attached { session_id }) => {
                self.link.report(TurnState::Ready).await;
                self.write(&OutLine::Attached { session_id }).await?;
            }
            Some(LinkEvent::Delivery(delivery)) => self.arrive(*delivery).await?,
            Some(LinkEvent::Detached { reason }) => self.write(&OutLine::Detached { reason }).await?,
            Some(LinkEvent::Stopped) => {
                self.write(&OutLine::Stopped).await?;
                return Ok(Some(Ended::Stopped));
            }
            Some(LinkEvent::Ended { code, reason }) => {
                self.write(&OutLine::Ended { code: code.clone(), reason: reason.clone() }).await?;
                return Ok(Some(Ended::Link { code, reason }));
            }
            None => {
                let reason = "the link closed".to_owned();
                return Ok(Some(Ended::Link { code: "unavailable".to_owned(), reason }));
            }
        }
        Ok(None)
    }

    async fn arrive(&mut self, delivery: Delivery) -> Result<(), RunError> {
        match self.inbox.arrive(delivery)? {
            Arrival::HandOver { delivery, delivered_before } => {
                self.write(&OutLine::message(*delivery, delivered_before)).await
            }
            Arrival::Acknowledge(message_id) => {
                self.link.acknowledge(message_id).await;
                Ok(())
            }
            Arrival::Waiting => Ok(()),
            Arrival::Unmapped => {
                self.write(&OutLine::Error { error: "a message without an id was delivered".into() }).await
            }
        }
    }

    async fn taken(&mut self, message_id: String) -> Result<(), RunError> {
        if self.inbox.taken(&message_id)? {
            self.link.acknowledge(message_id).await;
            return Ok(());
        }
        let error = format!("ack of {message_id:?}: no such message was handed over");
        self.write(&OutLine::Error { error }).await
    }

    async fn write(&mut self, line: &OutLine) -> Result<(), RunError> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.output.write_all(&text).await?;
        self.output.flush().await?;
        Ok(())
    }
}
