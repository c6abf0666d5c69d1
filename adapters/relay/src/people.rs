//! PeopleService: what only people do in conversation.

use compass_proto::v1::{self, people_service_server::PeopleService};
use tonic::{Request, Response, Status};

use crate::pending;

/// The door of people.
pub(crate) struct PeopleDoor;

#[tonic::async_trait]
impl PeopleService for PeopleDoor {
    async fn open_dm(&self, _: Request<v1::OpenDmRequest>) -> Result<Response<v1::OpenDmResponse>, Status> {
        pending::rpc("PeopleService/OpenDM")
    }

    async fn join_channel(
        &self,
        _: Request<v1::JoinChannelRequest>,
    ) -> Result<Response<v1::JoinChannelResponse>, Status> {
        pending::rpc("PeopleService/JoinChannel")
    }
}
