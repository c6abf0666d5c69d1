//! How serving ends, and how long a call may take.

use compass_relay::Drained;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::support::Server;

#[tokio::test]
async fn a_server_that_stops_finishes_and_takes_no_more_calls() {
    let server = Server::start().await;
    let mut health = HealthClient::new(server.channel.clone());
    let request = HealthCheckRequest { service: "compass.v1.CommsService".into() };
    let mut watched = health.watch(request).await.unwrap().into_inner();
    let first = watched.message().await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    server.stop.cancel();
    let told = watched.message().await.unwrap().unwrap();
    assert_eq!(told.status(), ServingStatus::NotServing, "watchers are told before the connection ends");
    drop(watched);
    drop(health);
    let Server { serving, channel, url, .. } = server;
    drop(channel);
    assert_eq!(serving.await.unwrap(), Drained::Finished);
    let address = url.trim_start_matches("http://");
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn a_stream_that_does_not_end_cannot_hold_the_server_up() {
    let server = Server::start().await;
    let mut health = HealthClient::new(server.channel.clone());
    let watched = health.watch(HealthCheckRequest { service: String::new() }).await.unwrap().into_inner();
    server.stop.cancel();
    let Server { serving, .. } = server;
    assert_eq!(serving.await.unwrap(), Drained::Cut);
    drop(watched);
}
