//! CommsService: conversation for people, and for agents that may not answer.

use std::sync::Arc;

use compass_comms::{
    Caller, Comms,
    accounts::{
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
        get_roster::get_roster,
        list_accounts::list_accounts,
        reparent_agent::reparent_agent,
    },
    asks::respond_to_ask::respond_to_ask,
    channels::{
        create_channel::create_channel, list_channels::list_channels, set_policy::set_policy,
        update_board::update_board, update_members::update_members,
    },
    groups::{create_group::create_group, list_groups::list_groups},
    messages::{
        list_messages::list_messages,
        post_message::post_message,
        search_messages::{self, search_messages},
    },
    topics::{list_topics::list_topics, update_topic::update_topic},
};
use compass_domain::Message;
use compass_proto::v1::{self, comms_service_server::CommsService};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::{
    auth::{caller, identity},
    error::DoorError,
    mapping::{self, Unnamed},
    status::status,
    stream::{From, Streams},
};

/// The door of conversation.
pub(crate) struct CommsDoor {
    pub(crate) comms: Comms,
    pub(crate) streams: Streams,
}

type Answer<T> = Result<Response<T>, Status>;

fn taken<T>(request: Request<T>) -> Result<(Caller, T), Status> {
    Ok((caller(&request)?, request.into_inner()))
}

fn messages_out(messages: &[Arc<Message>]) -> Vec<v1::Message> {
    messages.iter().map(|message| mapping::message(message)).collect()
}

#[tonic::async_trait]
impl CommsService for CommsDoor {
    async fn create_user(&self, request: Request<v1::CreateUserRequest>) -> Answer<v1::CreateUserResponse> {
        let (caller, sent) = taken(request)?;
        let create = CreateUser { handle: sent.handle, display_name: sent.display_name };
        let account = create_user(&self.comms, &caller, create).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::CreateUserResponse { account: Some(mapping::account(&account)) }))
    }

    async fn create_agent(
        &self,
        request: Request<v1::CreateAgentRequest>,
    ) -> Answer<v1::CreateAgentResponse> {
        let (caller, sent) = taken(request)?;
        let parent = mapping::optional(&sent.parent_agent_id, || DoorError::NotFound("parent agent"))
            .map_err(|error| status(&error))?;
        let create = CreateAgent { handle: sent.handle, display_name: sent.display_name, parent };
        let account = create_agent(&self.comms, &caller, create).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::CreateAgentResponse { account: Some(mapping::account(&account)) }))
    }

    async fn list_accounts(
        &self,
        request: Request<v1::ListAccountsRequest>,
    ) -> Answer<v1::ListAccountsResponse> {
        let accounts =
            list_accounts(&self.comms, &caller(&request)?).await.map_err(|error| status(&error))?;
        let accounts = accounts.iter().map(mapping::account).collect();
        Ok(Response::new(v1::ListAccountsResponse { accounts }))
    }

    async fn create_channel_group(
        &self,
        request: Request<v1::CreateChannelGroupRequest>,
    ) -> Answer<v1::CreateChannelGroupResponse> {
        let (caller, sent) = taken(request)?;
        let create = mapping::create_group_in(sent).map_err(|error| status(&error))?;
        let group = create_group(&self.comms, &caller, create).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::CreateChannelGroupResponse { group: Some(mapping::group(&group)) }))
    }

    async fn list_channel_groups(
        &self,
        request: Request<v1::ListChannelGroupsRequest>,
    ) -> Answer<v1::ListChannelGroupsResponse> {
        let groups = list_groups(&self.comms, &caller(&request)?).await.map_err(|error| status(&error))?;
        let groups = groups.iter().map(mapping::group).collect();
        Ok(Response::new(v1::ListChannelGroupsResponse { groups }))
    }

    async fn list_channels(
        &self,
        request: Request<v1::ListChannelsRequest>,
    ) -> Answer<v1::ListChannelsResponse> {
        let channels =
            list_channels(&self.comms, &caller(&request)?).await.map_err(|error| status(&error))?;
        let channels = channels.iter().map(mapping::channel).collect();
        Ok(Response::new(v1::ListChannelsResponse { channels }))
    }

    async fn create_channel(
        &self,
        request: Request<v1::CreateChannelRequest>,
    ) -> Answer<v1::CreateChannelResponse> {
        let (caller, sent) = taken(request)?;
        let create = mapping::create_channel_in(sent).map_err(|error| status(&error))?;
        let channel = create_channel(&self.comms, &caller, create).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::CreateChannelResponse { channel: Some(mapping::channel(&channel)) }))
    }

    async fn update_channel_members(
        &self,
        request: Request<v1::UpdateChannelMembersRequest>,
    ) -> Answer<v1::UpdateChannelMembersResponse> {
        let (caller, sent) = taken(request)?;
        let update = mapping::update_members_in(sent).map_err(|error| status(&error))?;
        let channel = update_members(&self.comms, &caller, update).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::UpdateChannelMembersResponse { channel: Some(mapping::channel(&channel)) }))
    }

    async fn reparent_agent(
        &self,
        request: Request<v1::ReparentAgentRequest>,
    ) -> Answer<v1::ReparentAgentResponse> {
        let (caller, sent) = taken(request)?;
        let reparent = mapping::reparent_in(&sent).map_err(|error| status(&error))?;
        let account = reparent_agent(&self.comms, &caller, reparent).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::ReparentAgentResponse { account: Some(mapping::account(&account)) }))
    }

    async fn list_messages(
        &self,
        request: Request<v1::ListMessagesRequest>,
    ) -> Answer<v1::ListMessagesResponse> {
        let (caller, sent) = taken(request)?;
        let list = mapping::list_messages_in(sent, Unnamed::Refused).map_err(|error| status(&error))?;
        let Some(list) = list else { return Ok(Response::new(v1::ListMessagesResponse::default())) };
        let messages = list_messages(&self.comms, &caller, list).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::ListMessagesResponse { messages: messages_out(&messages) }))
    }

    async fn post_message(
        &self,
        request: Request<v1::PostMessageRequest>,
    ) -> Answer<v1::PostMessageResponse> {
        let (caller, sent) = taken(request)?;
        let post = mapping::post_in(sent, Unnamed::Refused).map_err(|error| status(&error))?;
        let posted = post_message(&self.comms, &caller, post).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::PostMessageResponse { message: Some(mapping::message(&posted.message)) }))
    }

    async fn list_topics(&self, request: Request<v1::ListTopicsRequest>) -> Answer<v1::ListTopicsResponse> {
        let (caller, sent) = taken(request)?;
        let list = mapping::list_topics_in(sent, Unnamed::Refused).map_err(|error| status(&error))?;
        let listed = list_topics(&self.comms, &caller, list).await.map_err(|error| status(&error))?;
        Ok(Response::new(mapping::listed_topics(&listed)))
    }

    async fn update_topic(
        &self,
        request: Request<v1::UpdateTopicRequest>,
    ) -> Answer<v1::UpdateTopicResponse> {
        let (caller, sent) = taken(request)?;
        let update = mapping::update_topic_in(sent).map_err(|error| status(&error))?;
        let after = update_topic(&self.comms, &caller, update).await.map_err(|error| status(&error))?;
        let topic = Some(mapping::topic(&after.topic, after.open_asks));
        Ok(Response::new(v1::UpdateTopicResponse { topic }))
    }

    async fn respond_to_ask(
        &self,
        request: Request<v1::RespondToAskRequest>,
    ) -> Answer<v1::RespondToAskResponse> {
        let (caller, sent) = taken(request)?;
        let respond = mapping::respond_in(sent).map_err(|error| status(&error))?;
        respond_to_ask(&self.comms, &caller, respond).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::RespondToAskResponse {}))
    }

    async fn search_messages(
        &self,
        request: Request<v1::SearchMessagesRequest>,
    ) -> Answer<v1::SearchMessagesResponse> {
        let (caller, sent) = taken(request)?;
        let search =
            mapping::search_in(sent).map_err(|error| status(&search_messages::Error::from(error)))?;
        let Some(search) = search else { return Ok(Response::new(v1::SearchMessagesResponse::default())) };
        let found = search_messages(&self.comms, &caller, search).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::SearchMessagesResponse { messages: messages_out(&found) }))
    }

    async fn set_channel_policy(
        &self,
        request: Request<v1::SetChannelPolicyRequest>,
    ) -> Answer<v1::SetChannelPolicyResponse> {
        let (caller, sent) = taken(request)?;
        let set = mapping::set_policy_in(&sent).map_err(|error| status(&error))?;
        let channel = set_policy(&self.comms, &caller, set).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::SetChannelPolicyResponse { channel: Some(mapping::channel(&channel)) }))
    }

    async fn get_roster(&self, request: Request<v1::GetRosterRequest>) -> Answer<v1::GetRosterResponse> {
        let (caller, sent) = taken(request)?;
        let get = mapping::get_roster_in(&sent).map_err(|error| status(&error))?;
        let entries = get_roster(&self.comms, &caller, get).await.map_err(|error| status(&error))?;
        Ok(Response::new(mapping::roster(&entries)))
    }

    async fn update_pinned_board(
        &self,
        request: Request<v1::UpdatePinnedBoardRequest>,
    ) -> Answer<v1::UpdatePinnedBoardResponse> {
        let (caller, sent) = taken(request)?;
        let update = mapping::update_board_in(sent).map_err(|error| status(&error))?;
        let channel = update_board(&self.comms, &caller, update).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::UpdatePinnedBoardResponse { channel: Some(mapping::channel(&channel)) }))
    }

    type SubscribeCommsStream = ReceiverStream<Result<v1::SubscribeCommsResponse, Status>>;

    async fn subscribe_comms(
        &self,
        request: Request<v1::SubscribeCommsRequest>,
    ) -> Answer<Self::SubscribeCommsStream> {
        let identity = identity(&request)?.clone();
        let (caller, from) = taken(request)?;
        let from = From { since_seq: from.since_seq, epoch: from.instance_epoch };
        let framing = self.streams.conversation(&self.comms);
        Ok(Response::new(self.streams.open(&self.comms, caller, identity, from, framing).await))
    }
}
