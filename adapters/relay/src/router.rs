//! Every service behind the one guard, with gRPC-Web, health and reflection, as one router.

use std::sync::Arc;

use axum::{Router, middleware};
use compass_comms::Comms;
use compass_hub::Hub;
use compass_proto::{DESCRIPTOR, v1};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::server::HealthReporter;
use tonic_web::GrpcWebLayer;

use crate::{
    agent_door::AgentCommandsDoor,
    auth::Auth,
    comms::CommsDoor,
    guard::{agents_only, guard, outside},
    inbox::InboxDoor,
    operator::OperatorDoor,
    people::PeopleDoor,
    runner::{Counters, RunnerDoor, RunnerLanes},
    server::ServerDoor,
    session::SessionDoor,
    sessions::Sessions,
    stream::Streams,
};

/// Bytes of one message, in and out, at every door.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// What the doors are given.
pub struct Doors {
    /// Conversation.
    pub comms: Comms,
    /// Who calls; whoever revokes tokens elsewhere has to tell it.
    pub auth: Auth,
    /// Sessions and delivery.
    pub hub: Arc<Hub>,
    /// The streams of runners, which the hub sends through.
    pub lanes: Arc<RunnerLanes>,
    /// What GetServerInfo tells.
    pub version: String,
    /// Ends open streams.
    pub stop: CancellationToken,
    /// What serves agents over plain HTTP; only an agent's request gets there, with its
    /// [`Identity`](crate::auth::Identity).
    pub agents: Option<Router>,
    /// What answers everything else that is not gRPC; without it such requests are 404.
    pub fallback: Option<Router>,
}

/// Why the doors cannot be put together.
#[derive(Debug, thiserror::Error)]
#[error("the descriptors of the contract cannot be read")]
pub struct RouterError(#[from] tonic_reflection::server::Error);

/// Everything on the one port, and the switch that says whether it serves.
pub struct Services {
    /// The router.
    pub router: Router,
    /// The switch.
    pub health: HealthReporter,
    /// What runners sent that came to nothing.
    pub counters: Arc<Counters>,
}

macro_rules! limited {
    ($service:expr) => {
        $service.max_decoding_message_size(MESSAGE_BYTES).max_encoding_message_size(MESSAGE_BYTES)
    };
}

/// Puts the doors together.
///
/// # Errors
///
/// [`RouterError`] if the descriptors of the contract are broken.
pub fn services(doors: Doors) -> Result<Services, RouterError> {
    let Doors { comms, auth, hub, lanes, version, stop, agents, fallback } = doors;
    let streams = Streams {
        auth: auth.clone(),
        audiences: Arc::default(),
        tasks: comms.tasks.clone(),
        stop: stop.clone(),
    };
    let (health, health_service) = tonic_health::server::health_reporter();
    let sessions = Sessions {
        comms: comms.clone(),
        hub: Arc::clone(&hub),
        lanes: Arc::clone(&lanes),
        auth: auth.clone(),
        streams: streams.clone(),
    };
    let comms_door = CommsDoor { comms: comms.clone(), streams };
    let server_door = ServerDoor { comms: comms.clone(), auth: auth.clone(), version, sessions };
    let session_door = SessionDoor { comms: comms.clone(), auth: auth.clone() };
    let inbox_door = InboxDoor { comms: comms.clone() };
    let operator_door = OperatorDoor { hub: Arc::clone(&hub) };
    let people_door = PeopleDoor { comms: comms.clone() };
    let runner_door = RunnerDoor::new(comms.clone(), Arc::clone(&hub), lanes, auth.clone(), stop);
    let counters = Arc::clone(runner_door.counters());
    let agent_door = AgentCommandsDoor { comms, hub };
    let routes = Routes::new(limited!(v1::comms_service_server::CommsServiceServer::new(comms_door)))
        .add_service(limited!(v1::compass_service_server::CompassServiceServer::new(server_door)))
        .add_service(limited!(v1::session_service_server::SessionServiceServer::new(session_door)))
        .add_service(limited!(v1::inbox_service_server::InboxServiceServer::new(inbox_door)))
        .add_service(limited!(v1::operator_service_server::OperatorServiceServer::new(operator_door)))
        .add_service(limited!(v1::people_service_server::PeopleServiceServer::new(people_door)))
        .add_service(limited!(v1::agent_door_server::AgentDoorServer::new(agent_door)))
        .add_service(limited!(v1::runner_service_server::RunnerServiceServer::new(runner_door)))
        .add_service(limited!(health_service))
        .add_service(limited!(reflection().build_v1()?))
        .add_service(limited!(reflection().build_v1alpha()?));
    let grpc = routes
        .prepare()
        .into_axum_router()
        .layer(middleware::from_fn_with_state(auth.clone(), guard))
        .layer(GrpcWebLayer::new());
    // Outside of the gRPC-Web layer, which refuses every other HTTP/1.1 request.
    let rest = fallback.unwrap_or_default().layer(middleware::from_fn(outside));
    let guarded = |agents: Router| agents.route_layer(middleware::from_fn_with_state(auth, agents_only));
    let rest = agents.map(guarded).unwrap_or_default().fallback_service(rest);
    Ok(Services { router: grpc.reset_fallback().fallback_service(rest), health, counters })
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTOR)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
