//! InboxService: what waits for a person.

use compass_comms::{
    Comms,
    asks::list_open_asks::list_open_asks,
    topics::{
        list_topics_of_channels::list_topics_of_channels, mark_read::mark_read,
        read_positions::read_positions,
    },
};
use compass_domain::Message;
use compass_proto::v1::{self, inbox_service_server::InboxService};
use tonic::{Request, Response, Status};

use crate::{auth::caller, mapping, status::status};

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

    async fn list_topics_of_channels(
        &self,
        request: Request<v1::ListTopicsOfChannelsRequest>,
    ) -> Result<Response<v1::ListTopicsOfChannelsResponse>, Status> {
        let caller = caller(&request)?;
        let list = mapping::list_topics_of_channels_in(request.get_ref());
        let listed =
            list_topics_of_channels(&self.comms, &caller, list).await.map_err(|error| status(&error))?;
        Ok(Response::new(mapping::topics_of_channels(&listed)))
    }

    async fn read_positions(
        &self,
        request: Request<v1::ReadPositionsRequest>,
    ) -> Result<Response<v1::ReadPositionsResponse>, Status> {
        let caller = caller(&request)?;
        let list = mapping::read_positions_in(request.get_ref()).map_err(|error| status(&error))?;
        let positions = read_positions(&self.comms, &caller, list).await.map_err(|error| status(&error))?;
        let positions = positions.iter().map(mapping::read_position).collect();
        Ok(Response::new(v1::ReadPositionsResponse { positions }))
    }

    async fn mark_read(
        &self,
        request: Request<v1::MarkReadRequest>,
    ) -> Result<Response<v1::MarkReadResponse>, Status> {
        let caller = caller(&request)?;
        let mark = mapping::mark_read_in(request.get_ref()).map_err(|error| status(&error))?;
        let position = mark_read(&self.comms, &caller, mark).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::MarkReadResponse { position: Some(mapping::read_position(&position)) }))
    }
}

fn entry(message: &Message) -> v1::OpenAskEntry {
    v1::OpenAskEntry { message: Some(mapping::message(message)), channel_id: message.channel().to_string() }
}
