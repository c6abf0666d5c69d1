//! A transport of lines that refuses what it cannot read instead of passing over it.

mod ids;
mod input;

use std::{future::Future, io, sync::Arc};

use futures::{SinkExt as _, StreamExt as _};
use rmcp::{
    RoleServer,
    model::{ErrorCode, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, error::Category, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Mutex,
    task::JoinSet,
};
use tokio_util::{
    bytes::Bytes,
    codec::{BytesCodec, FramedRead, FramedWrite},
};

use self::{
    ids::IdScan,
    input::{Line, LineDecoder},
};
use super::misfit::{self, CALL};

/// What the refusal of JSON of another shape says.
const NO_MESSAGE: &str = "the line is JSON, but no JSON-RPC 2.0 message: a request is an object with jsonrpc \"2.0\", an \
                          id that is a whole number or a string, a method that is a string, and params that are an \
                          object if there are any";

type Writer<W> = Arc<Mutex<Option<FramedWrite<W, BytesCodec>>>>;

/// One message a line, in both directions. A line that is too long or unreadable is answered with an error.
pub(super) struct Lines<R, W> {
    read: FramedRead<R, LineDecoder>,
    write: Writer<W>,
    limit: usize,
    /// On its way; nothing is read until it left. A task, so that it never holds the writer without going on.
    refusal: JoinSet<io::Result<()>>,
}

impl<R: AsyncRead, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// A transport that takes lines of at most `limit` bytes.
    pub(super) fn new(input: R, output: W, limit: usize) -> Self {
        let write = Arc::new(Mutex::new(Some(FramedWrite::new(output, BytesCodec::new()))));
        Self { read: FramedRead::new(input, LineDecoder::new(limit)), write, limit, refusal: JoinSet::new() }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        tracing::debug!(code = refusal.code.0, text = refusal.text, "a line was refused");
        let sent = put(Arc::clone(&self.write), refusal.line());
        self.refusal.spawn(sent);
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (text, write) = (serde_json::to_string(&item), Arc::clone(&self.write));
        async move { put(write, text?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while let Some(sent) = self.refusal.join_next().await {
                if let Err(error) = sent.map_err(io::Error::other).flatten() {
                    tracing::error!(%error, "the refusal of a line could not be written");
                    return None;
                }
            }
            let read = match self.read.next().await? {
                Ok(Line::Whole(line)) => message(&line),
                Ok(Line::Long { bytes, id }) => Err(Refusal::too_long(bytes, self.limit, id)),
                Err(error) => {
                    tracing::error!(%error, "the input could not be read");
                    return None;
                }
            };
            match read {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => self.refuse(&refusal),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

/// Writes and flushes one line. Given up half-way, the rest of it leaves before the next line.
async fn put<W: AsyncWrite + Unpin>(write: Writer<W>, mut line: String) -> io::Result<()> {
    line.push('\n');
    match &mut *write.lock().await {
        Some(write) => write.send(Bytes::from(line)).await,
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

/// Why a line is not taken, for its sender.
struct Refusal {
    code: ErrorCode,
    text: String,
    id: Option<RequestId>,
}

impl Refusal {
    fn too_long(bytes: usize, limit: usize, id: Option<RequestId>) -> Self {
        let text = format!("the line has {bytes} bytes; it must have at most {limit}");
        Self { code: ErrorCode::INVALID_REQUEST, text, id }
    }

    /// The protocol library leaves an unknown id out; JSON-RPC 2.0 wants it to be null.
    fn line(&self) -> String {
        let error = json!({ "code": self.code.0, "message": self.text });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string()
    }
}

/// The message in a line; none in a blank line and in a notification that nobody knows.
fn message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    let id = IdScan::of(line);
    let json = match error.classify() {
        Category::Syntax | Category::Eof => Err(error),
        Category::Data | Category::Io => serde_json::from_slice::<Value>(line),
    };
    let json = json.map_err(|error| Refusal {
        code: ErrorCode::PARSE_ERROR,
        text: format!("the line cannot be read as JSON: {error}"),
        id: id.clone(),
    })?;
    let method = json.get("method").and_then(Value::as_str);
    if method.is_some() && json.get("id").is_none() {
        tracing::debug!(method, "a notification of another shape was passed over");
        return Ok(None);
    }
    let call = id.is_some() && method == Some(CALL);
    Err(match misfit::of_call(json.get("params")).filter(|_| call) {
        Some(text) => Refusal { code: ErrorCode::INVALID_PARAMS, text, id },
        None => Refusal { code: ErrorCode::INVALID_REQUEST, text: NO_MESSAGE.to_owned(), id },
    })
}
