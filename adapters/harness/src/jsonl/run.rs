//! The harness of a program that speaks lines: it takes one message after the other and says what it took.

use std::{collections::VecDeque, fmt::Display, pin::Pin, time::Duration};

use async_trait::async_trait;
use compass_agent::{
    inbox::Inbox,
    lanes::Handed,
    ports::{Harness, HarnessError, HarnessEvent, Journal, Link, Notice},
    session::{self, Ended, RunError},
    tools::Toolbox,
};
use futures::{StreamExt, stream::FuturesUnordered};
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};

use super::{
    input::{LINE_BYTES, Line, Lines},
    lines::{InLine, OutLine, State},
};

/// Calls under way at once; more wait in the program's pipe.
const CALLS: usize = 64;
/// Lines the program has not read; while there are more, no message is handed over.
const UNREAD: usize = 256;
/// As before; while there are more, nothing of the program is read: what it is told then would grow without end.
const BACKLOG: usize = 16_384;
/// How long the last lines have to leave.
const LINGER: Duration = Duration::from_secs(2);

/// Runs until the program closes its output, the link ends or the journal fails.
///
/// Every message is written as one line and acknowledged to the server only after the program's `ack` line, with
/// the mark synced in between. While the program says that it works, only what interrupts is written.
///
/// # Errors
///
/// [`RunError`] if a pipe or the journal fails.
pub async fn run<J: Journal>(
    link: &mut dyn Link,
    tools: Toolbox<'_>,
    inbox: &mut Inbox<J>,
    input: impl AsyncBufRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<Ended, RunError> {
    let mut program = Program {
        tools,
        input: Some(Lines::new(input, LINE_BYTES)),
        number: 0,
        calls: FuturesUnordered::new(),
        output,
        unread: VecDeque::new(),
        written: 0,
        unflushed: false,
    };
    session::run(link, tools.gateway, inbox, &mut program).await
}

type Call<'a> = Pin<Box<dyn Future<Output = OutLine> + Send + 'a>>;

struct Program<'a, R, W> {
    tools: Toolbox<'a>,
    /// None once the program closed its output.
    input: Option<Lines<R>>,
    /// Lines read so far.
    number: u64,
    calls: FuturesUnordered<Call<'a>>,
    output: W,
    unread: VecDeque<Vec<u8>>,
    /// Bytes of the first unread line that are written.
    written: usize,
    unflushed: bool,
}

#[async_trait]
impl<R: AsyncBufRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Harness for Program<'_, R, W> {
    async fn next(&mut self) -> Result<HarnessEvent, HarnessError> {
        loop {
            if self.input.is_none() && self.calls.is_empty() && self.is_written() {
                return Ok(HarnessEvent::Ended);
            }
            let has_output = !self.is_written();
            // Every branch may be dropped while it waits and loses nothing.
            tokio::select! {
                written = write_some(&mut self.output, &mut self.unread, &mut self.written, &mut self.unflushed),
                    if has_output => written.map_err(|error| pipe(&error))?,
                Some(line) = self.calls.next() => self.write(&line)?,
                line = next_line(&mut self.input),
                    if self.calls.len() < CALLS && self.unread.len() < BACKLOG => {
                    let Some(line) = line.map_err(|error| pipe(&error))? else {
                        self.input = None;
                        continue;
                    };
                    if let Some(event) = self.read(&line)? {
                        return Ok(event);
                    }
                }
            }
        }
    }

    fn has_room(&self) -> bool {
        self.unread.len() < UNREAD
    }

    async fn inject(&mut self, batch: Vec<Handed>, _waiting: usize) -> Result<(), HarnessError> {
        batch.into_iter().try_for_each(|handed| self.write(&OutLine::message(handed)))
    }

    async fn interrupt(&mut self, message: Handed) -> Result<(), HarnessError> {
        self.write(&OutLine::message(message))
    }

    async fn prompt(&mut self, _: String) -> Result<(), HarnessError> {
        self.write(&OutLine::Error { error: "a turn was asked for; a program takes messages only".into() })
    }

    async fn tell(&mut self, notice: Notice) -> Result<(), HarnessError> {
        self.write(&match notice {
            Notice::Attached { session_id } => OutLine::Attached { session_id },
            Notice::Detached { reason } => OutLine::Detached { reason },
            Notice::Stopped => OutLine::Stopped,
            Notice::Ended { code, reason } => OutLine::Ended { code, reason },
            Notice::Unmapped => OutLine::Error { error: "a message without an id was delivered".into() },
            Notice::NotHandedOver { message_id } => {
                OutLine::Error { error: format!("ack of {message_id:?}: no such message was handed over") }
            }
        })
    }

    async fn finish(&mut self) {
        let leaving = async {
            while !self.is_written() {
                let (output, unflushed) = (&mut self.output, &mut self.unflushed);
                write_some(output, &mut self.unread, &mut self.written, unflushed).await?;
            }
            Ok::<(), std::io::Error>(())
        };
        // A program that does not read, or is gone, is owed nothing more: what it did not take comes again.
        drop(tokio::time::timeout(LINGER, leaving).await);
    }
}

impl<R, W> Program<'_, R, W> {
    fn is_written(&self) -> bool {
        self.unread.is_empty() && !self.unflushed
    }

    fn read(&mut self, line: &Line) -> Result<Option<HarnessEvent>, HarnessError> {
        self.number += 1;
        let line = match line {
            Line::Whole(line) => line,
            Line::Long(bytes) => {
                let long = format!("it has {bytes} bytes; it must have at most {LINE_BYTES}");
                return self.refuse(&long).map(|()| None);
            }
        };
        match serde_json::from_slice(line) {
            Ok(InLine::Call { id, tool, arguments }) => {
                let tools = self.tools;
                self.calls.push(Box::pin(async move {
                    match tools.call(&id, &tool, arguments).await {
                        Ok(output) => OutLine::Result { id, ok: true, output: Some(output), error: None },
                        Err(error) => {
                            OutLine::Result { id, ok: false, output: None, error: Some(error.to_string()) }
                        }
                    }
                }));
                Ok(None)
            }
            Ok(InLine::Ack { message_id }) => Ok(Some(HarnessEvent::Accepted(vec![message_id]))),
            Ok(InLine::State { state: State::Working }) => Ok(Some(HarnessEvent::TurnStarted)),
            Ok(InLine::State { state: State::Ready }) => Ok(Some(HarnessEvent::TurnEnded)),
            Err(error) => self.refuse(&error).map(|()| None),
        }
    }

    /// Says what is wrong with the line that was read last.
    fn refuse(&mut self, reason: &dyn Display) -> Result<(), HarnessError> {
        let error = format!("input line {} is not usable: {reason}", self.number);
        self.write(&OutLine::Error { error })
    }

    fn write(&mut self, line: &OutLine) -> Result<(), HarnessError> {
        let mut text = serde_json::to_vec(line).map_err(|error| HarnessError(format!("line: {error}")))?;
        text.push(b'\n');
        self.unread.push_back(text);
        Ok(())
    }
}

fn pipe(error: &std::io::Error) -> HarnessError {
    HarnessError(format!("pipe of the agent's program: {error}"))
}

/// Writes a part of what is unread, or flushes once all of it is written.
async fn write_some<W: AsyncWrite + Unpin>(
    output: &mut W,
    unread: &mut VecDeque<Vec<u8>>,
    written: &mut usize,
    unflushed: &mut bool,
) -> std::io::Result<()> {
    let Some(line) = unread.front() else {
        output.flush().await?;
        *unflushed = false;
        return Ok(());
    };
    let count = output.write(line.get(*written..).unwrap_or_default()).await?;
    if count == 0 {
        return Err(std::io::ErrorKind::WriteZero.into());
    }
    *unflushed = true;
    *written += count;
    if *written >= line.len() {
        unread.pop_front();
        *written = 0;
    }
    Ok(())
}

/// The next line; for ever pending once the input ended.
async fn next_line<R: AsyncBufRead + Unpin>(input: &mut Option<Lines<R>>) -> std::io::Result<Option<Line>> {
    match input {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
