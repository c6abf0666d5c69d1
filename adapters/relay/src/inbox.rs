//! InboxService: what waits for a person.

use compass_comms::{Comms, asks::list_open_asks::list_open_asks};
use compass_domain::Message;
use compass_proto::v1::{self, inbox_service_server::InboxService};
use tonic::{Request, Response, Status};

use crate::{auth::caller, mapping, pending, status::status};

/// The door of a person's inbox.
pub(crate) struct InboxDoor {
    pub(crate) comms: Comms,
}

#[tonic::async_trait]
impl InboxService for InboxDoor {
    async fn list_open_asks(
        &self,
        request: Request<v1::ListOpenAsksRequest>,
    ) -> Result<Response<v1::ListOpenAsksResponse>, Status> {
        let caller = caller(&request)?;
        let list = mapping::list_open_asks_in(request.get_ref()).map_err(|error| status(&error))?;
        let Some(list) = list else { return Ok(Response::new(v1::ListOpenAsksResponse::default())) };
        let messages = list_open_asks(&self.comms, &caller, list).await.map_err(|error| status(&error))?;
        let asks = messages.iter().map(|message| entry(message)).collect();
        Ok(Response::new(v1::ListOpenAsksResponse { asks }))
    }

    async fn read_positions(
        &self,
        _: Request<v1::ReadPositionsRequest>,
    ) -> Result<Response<v1::ReadPositionsResponse>, Status> {
        pending::rpc("InboxService/ReadPositions")
    }

    async fn mark_read(
        &self,
        _: Request<v1::MarkReadRequest>,
    ) -> Result<Response<v1::MarkReadResponse>, Status> {
        pending::rpc("InboxService/MarkRead")
    }
}

fn entry(message: &Message) -> v1::OpenAskEntry {
    v1::OpenAskEntry { message: Some(mapping::message(message)), channel_id: message.channel().to_string() }
}
