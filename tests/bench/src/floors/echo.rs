//! The transport's floors: a server that sends back what it gets, on threads of its own.

use std::{pin::Pin, thread, time::Duration};

use compass_proto::v1::{
    self,
    runner_service_client::RunnerServiceClient,
    runner_service_server::{RunnerService, RunnerServiceServer},
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_stream::{Stream, StreamExt as _, wrappers::ReceiverStream};
use tonic::{
    Request, Response, Status, Streaming,
    transport::{Channel, Server, server::TcpIncoming},
};

use crate::{BenchError, stats::Samples, world::connect};

/// Bytes of an echo.
const BYTES: usize = 256;

/// A client of the echo, and the echo.
pub(super) struct Echo {
    client: RunnerServiceClient<Channel>,
    there: mpsc::Sender<v1::SessionsRequest>,
    back: Streaming<v1::SessionsResponse>,
    /// Ends the server when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl Echo {
    pub(super) async fn start() -> Result<Self, BenchError> {
        let (stop, stopped) = oneshot::channel();
        let (tell, address) = oneshot::channel();
        // A runtime of its own, as the product's server has one.
        let serving = move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                // Whoever asked for it may be gone; then nobody will connect.
                let _ = tell.send(listener.local_addr()?);
                tokio::select! {
                    served = reflect(listener) => served,
                    _ = stopped => Ok(()),
                }
            })
        };
        thread::Builder::new()
            .name("echo".to_owned())
            .spawn(serving)
            .map_err(BenchError::io("start a thread"))?;
        let address = address.await.map_err(|_| BenchError::Broken("the echo did not start"))?;
        let channel = connect(&format!("http://{address}")).await?;
        let mut client = RunnerServiceClient::new(channel);
        let (there, queued) = mpsc::channel(1);
        let back = client.sessions(ReceiverStream::new(queued)).await?.into_inner();
        Ok(Self { client, there, back, _stop: stop })
    }

    pub(super) async fn hops(&mut self, until: Instant) -> Result<Samples, BenchError> {
        let mut samples = Samples::default();
        while Instant::now() < until {
            let request = v1::RelayCommsCallRequest { session_id: "x".repeat(BYTES), call: None };
            let start = Instant::now();
            self.client.relay_comms_call(request).await?;
            samples.push(start.elapsed());
        }
        Ok(samples)
    }

    pub(super) async fn pushes(&mut self, until: Instant) -> Result<Samples, BenchError> {
        let mut samples = Samples::default();
        while Instant::now() < until {
            samples.push(self.there_and_back().await? / 2);
        }
        Ok(samples)
    }

    async fn there_and_back(&mut self) -> Result<Duration, BenchError> {
        let ping = v1::SessionsRequest { request_id: "x".repeat(BYTES), ..v1::SessionsRequest::default() };
        let start = Instant::now();
        self.there.send(ping).await.map_err(|_| BenchError::Broken("the echo closed its stream"))?;
        self.back.message().await?.ok_or(BenchError::Broken("the echo ended its stream"))?;
        Ok(start.elapsed())
    }
}

/// Streams that only stand open. They end with this value.
pub(crate) struct Streams {
    _open: Vec<(mpsc::Sender<v1::SessionsRequest>, Streaming<v1::SessionsResponse>)>,
}

impl Streams {
    /// Opens so many, of which `sharing` share a connection. Each has had one message both ways.
    pub(crate) async fn open(url: &str, count: usize, sharing: usize) -> Result<Self, BenchError> {
        let mut open = Vec::with_capacity(count);
        let mut client = RunnerServiceClient::new(connect(url).await?);
        for number in 0..count {
            if number > 0 && number.is_multiple_of(sharing) {
                client = RunnerServiceClient::new(connect(url).await?);
            }
            let (there, queued) = mpsc::channel(1);
            let ping = v1::SessionsRequest { request_id: "x".repeat(BYTES), ..Default::default() };
            there.send(ping).await.map_err(|_| BenchError::Broken("a stream closed"))?;
            let mut back = client.sessions(ReceiverStream::new(queued)).await?.into_inner();
            back.message().await?.ok_or(BenchError::Broken("the echo ended its stream"))?;
            open.push((there, back));
        }
        Ok(Self { _open: open })
    }
}

/// Serves the echo on a free port until `ended` is; `tell` gets its address.
///
/// # Errors
///
/// [`BenchError`] if it cannot listen or serve.
pub async fn serve_echo(tell: impl FnOnce(&str), ended: impl Future<Output = ()>) -> Result<(), BenchError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(BenchError::io("listen"))?;
    let address = listener.local_addr().map_err(BenchError::io("listen"))?;
    tell(&format!("http://{address}"));
    tokio::select! {
        served = reflect(listener) => served.map_err(BenchError::io("serve the echo")),
        () = ended => Ok(()),
    }
}

async fn reflect(listener: TcpListener) -> std::io::Result<()> {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let serving = Server::builder().add_service(RunnerServiceServer::new(Reflector));
    serving.serve_with_incoming(incoming).await.map_err(std::io::Error::other)
}

/// Sends back what it gets.
struct Reflector;

#[tonic::async_trait]
impl RunnerService for Reflector {
    type SessionsStream = Pin<Box<dyn Stream<Item = Result<v1::SessionsResponse, Status>> + Send>>;

    async fn relay_comms_call(
        &self,
        request: Request<v1::RelayCommsCallRequest>,
    ) -> Result<Response<v1::RelayCommsCallResponse>, Status> {
        let call_id = request.into_inner().session_id;
        let result = v1::CommsCallResult { call_id, ..Default::default() };
        Ok(Response::new(v1::RelayCommsCallResponse { result: Some(result) }))
    }

    async fn sessions(
        &self,
        request: Request<Streaming<v1::SessionsRequest>>,
    ) -> Result<Response<Self::SessionsStream>, Status> {
        let echoes = request
            .into_inner()
            .map(|ping| ping.map(|ping| v1::SessionsResponse { request_id: ping.request_id, command: None }));
        Ok(Response::new(Box::pin(echoes)))
    }

    async fn enroll(&self, _: Request<v1::EnrollRequest>) -> Result<Response<v1::EnrollResponse>, Status> {
        Err(Status::unimplemented("an echo has no agents"))
    }

    async fn publish_events(
        &self,
        _: Request<Streaming<v1::PublishEventsRequest>>,
    ) -> Result<Response<v1::PublishEventsResponse>, Status> {
        Err(Status::unimplemented("an echo has no agents"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_echo_answers_calls_and_streams() {
        let mut echo = Echo::start().await.unwrap();
        let until = Instant::now() + Duration::from_millis(5);
        assert!(echo.hops(until).await.unwrap().len() > 0);
        let until = Instant::now() + Duration::from_millis(5);
        assert!(echo.pushes(until).await.unwrap().len() > 0);
    }
}
