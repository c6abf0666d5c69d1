//! The agent's pipes as lines: one message each, of bounded length.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{Sink, Stream, StreamExt as _, sink, stream};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Bytes of a line at the most.
pub(super) const LINE_BYTES: usize = 16 * 1024 * 1024;

/// Set once the agent reads no more; its end is to be expected.
#[derive(Debug, Clone, Default)]
pub(super) struct Unheard(Arc<AtomicBool>);

impl Unheard {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The lines an agent writes that can be messages; the others go to `noise`.
pub(super) fn incoming(
    input: impl AsyncBufRead + Unpin + Send + 'static,
    noise: impl Fn(String) + Send + 'static,
) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let lines = stream::unfold(Some(input), async |input| {
        let mut input = input?;
        match next_line(&mut input).await {
            Ok(Some(line)) => Some((Ok(line), Some(input))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    lines.filter_map(move |line| {
        let message = match line {
            // What a program prints by the way is no message, and an answer to it would confuse the program.
            Ok(line) if !line.trim_start().starts_with(['{', '[']) => {
                if !line.trim().is_empty() {
                    noise(line);
                }
                None
            }
            line => Some(line),
        };
        std::future::ready(message)
    })
}

async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = input.take(LINE_BYTES as u64 + 1).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    if read > LINE_BYTES {
        return Err(io::Error::other(format!("a line of the agent has more than {LINE_BYTES} bytes")));
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Writes each message as a line, and flushes it.
pub(super) fn outgoing(
    output: impl AsyncWrite + Unpin + Send + 'static,
    unheard: Unheard,
) -> impl Sink<String, Error = io::Error> + Send + 'static {
    sink::unfold((output, unheard), async |(mut output, unheard), line: String| {
        let written = async {
            output.write_all(line.as_bytes()).await?;
            output.write_all(b"\n").await?;
            output.flush().await
        };
        let written = written.await;
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            unheard.0.store(true, Ordering::Relaxed);
        }
        written.map(|()| (output, unheard))
    })
}
