//! PeopleService: what only people do in conversation.

use compass_comms::{
    Comms,
    channels::{join_channel::join_channel, list_pinned::list_pinned, open_dm::open_dm},
};
use compass_proto::v1::{self, people_service_server::PeopleService};
use tonic::{Request, Response, Status};

use crate::{auth::caller, mapping, status::status};

/// The door of people.
pub(crate) struct PeopleDoor {
    pub(crate) comms: Comms,
}

#[tonic::async_trait]
impl PeopleService for PeopleDoor {
    async fn open_dm(
        &self,
        request: Request<v1::OpenDmRequest>,
    ) -> Result<Response<v1::OpenDmResponse>, Status> {
        let caller = caller(&request)?;
        let open = mapping::open_dm_in(request.into_inner()).map_err(|error| status(&error))?;
        let opened = open_dm(&self.comms, &caller, open).await.map_err(|error| status(&error))?;
        let channel = Some(mapping::channel(&opened.channel));
        Ok(Response::new(v1::OpenDmResponse { channel, created: opened.created }))
    }

    async fn join_channel(
        &self,
        request: Request<v1::JoinChannelRequest>,
    ) -> Result<Response<v1::JoinChannelResponse>, Status> {
        let caller = caller(&request)?;
        let id = mapping::required("channel_id", "channel", &request.get_ref().channel_id)
            .map_err(|error| status(&error))?;
        let channel = join_channel(&self.comms, &caller, id).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::JoinChannelResponse { channel: Some(mapping::channel(&channel)) }))
    }

    async fn list_pinned(
        &self,
        request: Request<v1::ListPinnedRequest>,
    ) -> Result<Response<v1::ListPinnedResponse>, Status> {
        let caller = caller(&request)?;
        let id =
            mapping::given("channel_id", &request.get_ref().channel_id).map_err(|error| status(&error))?;
        // A text that is no id is a channel that cannot exist, which holds nothing.
        let Ok(channel) = id.parse() else { return Ok(Response::new(v1::ListPinnedResponse::default())) };
        let pinned = list_pinned(&self.comms, &caller, channel).await.map_err(|error| status(&error))?;
        let messages = pinned.iter().map(|message| mapping::message(message)).collect();
        Ok(Response::new(v1::ListPinnedResponse { messages }))
    }
}
