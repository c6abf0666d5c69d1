//! Serves the doors on one listener until told to stop.

use std::time::Duration;

use axum::Router;
use futures::TryStreamExt as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::{
    service::Routes,
    transport::{Server, server::TcpIncoming},
};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{connection::Watched, doors, router::Services};

/// How often a quiet connection is asked whether its other end still lives.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(20);
/// How long the other end has for its answer.
const KEEPALIVE_ANSWER: Duration = Duration::from_secs(10);
/// Calls in flight on one connection, at the most.
const STREAMS: u32 = 1024;
/// Bytes in flight towards the server on one stream, and on one connection.
const WINDOWS: (u32, u32) = (1 << 20, 4 << 20);

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Everything in flight was finished.
    Finished,
    /// The time for that ran out.
    Cut,
}

/// The listener or a connection's transport failed.
#[derive(Debug, thiserror::Error)]
#[error("serving failed")]
pub struct ServeError(#[from] tonic::transport::Error);

/// Serves until `stop`: says first that it no longer serves, takes no more connections, then finishes what is in
/// flight within `drain`.
///
/// # Errors
///
/// [`ServeError`] if the listener fails.
pub async fn serve(
    listener: TcpListener,
    services: Services,
    stop: CancellationToken,
    drain: Duration,
) -> Result<Drained, ServeError> {
    let Services { router, health, .. } = services;
    announce(&health, ServingStatus::Serving).await;
    let stopping = stop.clone();
    let quiet = async move {
        stopping.cancelled().await;
        announce(&health, ServingStatus::NotServing).await;
    };
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true)).map_ok(Watched::new);
    let serving = server(router).serve_with_incoming_shutdown(incoming, quiet);
    let deadline = async {
        stop.cancelled().await;
        tokio::time::sleep(drain).await;
    };
    tokio::select! {
        served = serving => Ok(served.map(|()| Drained::Finished)?),
        () = deadline => Ok(Drained::Cut),
    }
}

fn server(router: Router) -> tonic::transport::server::Router {
    Server::builder()
        .accept_http1(true)
        .http2_keepalive_interval(Some(KEEPALIVE_EVERY))
        .http2_keepalive_timeout(Some(KEEPALIVE_ANSWER))
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .add_routes(Routes::from(router))
}

async fn announce(health: &HealthReporter, serving: ServingStatus) {
    for service in doors::served() {
        health.set_service_status(service, serving).await;
    }
    health.set_service_status("", serving).await;
}
