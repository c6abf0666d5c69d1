//! What every dialling runner shares: the client, how the streams are opened, and when a lost one is opened again.

use std::{pin::Pin, time::Duration};

use compass_proto::{
    contact::Contact,
    v1::{self, runner_service_client::RunnerServiceClient},
};
use compass_runner::Backoff;
use tokio::{sync::mpsc, time::Instant};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status, Streaming, service::interceptor::InterceptedService, transport::Channel};

use crate::endpoint::{Bearer, CALL_DEADLINE, Endpoint, MESSAGE_BYTES};

/// Frames and results that wait for a stream.
pub(crate) const QUEUE: usize = 1024;
/// A connection that lived this long starts the backoff over.
const HELD: Duration = Duration::from_secs(5);

/// A client of the runner's door.
pub(crate) type Client = RunnerServiceClient<InterceptedService<Contact<Channel>, Bearer>>;

/// Why a connection ended.
pub(crate) enum Lost {
    /// It can be made again.
    Retry(String),
    /// It cannot.
    Ended(Status),
    /// Nobody listens any more.
    Unheard,
}

/// The streams of one connection.
pub(crate) struct Opened {
    /// What the server asks for.
    pub(crate) commands: Streaming<v1::SessionsResponse>,
    /// How commands ended.
    pub(crate) results: mpsc::Sender<v1::SessionsRequest>,
    /// Frames upwards; dropping it ends the upstream.
    pub(crate) upstream: mpsc::Sender<v1::PublishEventsRequest>,
    /// Sends the frames while it is polled; it ends when the server has taken them all.
    pub(crate) publishing: Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>,
}

/// A client that connects on first use.
pub(crate) fn client(endpoint: &Endpoint) -> Client {
    RunnerServiceClient::with_interceptor(endpoint.channel(), endpoint.bearer())
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES)
}

/// Enrols and opens both streams.
pub(crate) async fn open(client: &Client, enroll: v1::EnrollRequest) -> Result<Opened, Lost> {
    let mut client = client.clone();
    let instance_id = enroll.instance_id.clone();
    let mut request = Request::new(enroll);
    request.set_timeout(CALL_DEADLINE);
    client.enroll(request).await.map_err(lost)?;
    let (results, queued) = mpsc::channel(QUEUE);
    let hello = v1::SessionsRequest { instance_id, ..v1::SessionsRequest::default() };
    results.send(hello).await.map_err(|_| Lost::Retry("the stream closed".into()))?;
    let commands = client.sessions(ReceiverStream::new(queued)).await.map_err(lost)?.into_inner();
    let (upstream, published) = mpsc::channel(QUEUE);
    let publishing =
        Box::pin(async move { client.publish_events(ReceiverStream::new(published)).await.map(drop) });
    Ok(Opened { commands, results, upstream, publishing })
}

/// Tells an end that a repeat cannot help from one that it can.
pub(crate) fn lost(status: Status) -> Lost {
    match status.code() {
        Code::Unauthenticated
        | Code::PermissionDenied
        | Code::InvalidArgument
        | Code::AlreadyExists
        | Code::Unimplemented
        | Code::Aborted => Lost::Ended(status),
        _ => Lost::Retry(status.message().to_owned()),
    }
}

/// The pauses between connections.
#[derive(Default)]
pub(crate) struct Redial {
    backoff: Backoff,
    began: Option<Instant>,
}

impl Redial {
    /// A connection is tried now.
    pub(crate) fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// Waits before the next one; anew from the first pause if the last connection held.
    pub(crate) async fn pause(&mut self) {
        if self.began.is_some_and(|began| began.elapsed() >= HELD) {
            self.backoff.reset();
        }
        let wait = self.backoff.next_wait(getrandom::u64().unwrap_or_default());
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_ends_a_link_and_a_broken_connection_does_not() {
        for code in [Code::Unauthenticated, Code::Aborted, Code::AlreadyExists, Code::PermissionDenied] {
            assert!(matches!(lost(Status::new(code, "no")), Lost::Ended(_)), "{code:?}");
        }
        for code in [Code::Unavailable, Code::Unknown, Code::FailedPrecondition, Code::DeadlineExceeded] {
            assert!(matches!(lost(Status::new(code, "gone")), Lost::Retry(_)), "{code:?}");
        }
    }
}
