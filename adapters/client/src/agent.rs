//! What short-lived commands of an agent call: AgentDoor.

use compass_proto::v1::{
    self as pb, comms_call_request::Call as Request, comms_call_result::Result as Outcome,
};
use serde::Serialize;

use crate::{
    ChannelName, Client, ClientError, NewPost, Page, TopicName,
    connect::within_deadline,
    model::Message,
    people::{list_request, post_request},
};

/// One message an agent is owed, with the names it needs to read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Handle of its author.
    pub from_handle: String,
    /// Name of its channel.
    pub channel_name: String,
    /// Name of its topic.
    pub topic_name: String,
}

/// A page of what an agent is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// Oldest first.
    pub deliveries: Vec<Delivery>,
    /// How many more are owed.
    pub waiting: u32,
}

/// A cancel that found the ask open, or cancelled before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Client {
    /// Posts as the agent.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; after [`ClientError::OutcomeUnknown`] send it again with the same key.
    pub async fn agent_post(&self, post: NewPost) -> Result<Message, ClientError> {
        match self.call(Request::Post(post_request(post))).await? {
            Outcome::Post(reply) => {
                reply.message.map(Message::from).ok_or(ClientError::Protocol("post without a message"))
            }
            _ => Err(ClientError::Protocol("post was replied to by another result")),
        }
    }

    /// Lists messages as the agent, newest first; without a channel those of its home channel.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn agent_messages(
        &self,
        channel: Option<&ChannelName>,
        topic: Option<&TopicName>,
        page: &Page,
    ) -> Result<Vec<Message>, ClientError> {
        match self.call(Request::List(list_request(channel, topic, page))).await? {
            Outcome::List(reply) => Ok(reply.messages.into_iter().map(Message::from).collect()),
            _ => Err(ClientError::Protocol("list was replied to by another result")),
        }
    }

    /// Says what the agent is doing; longer than 140 characters is cut.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn agent_set_status(&self, activity: &str) -> Result<(), ClientError> {
        let request = pb::SetAgentStatusRequest { activity: activity.into() };
        match self.call(Request::SetStatus(request)).await? {
            Outcome::SetStatus(_) => Ok(()),
            _ => Err(ClientError::Protocol("set_status was replied to by another result")),
        }
    }

    /// Withdraws an ask of the agent's own; repeating it is fine.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; `already_exists` if a person answered first.
    pub async fn agent_cancel_ask(&self, ask_id: &str) -> Result<Cancelled, ClientError> {
        let request = pb::CancelAskRequest { ask_id: ask_id.into() };
        match self.call(Request::CancelAsk(request)).await? {
            Outcome::CancelAsk(_) => Ok(Cancelled),
            _ => Err(ClientError::Protocol("cancel_ask was replied to by another result")),
        }
    }

    /// Lists what the agent is owed, or only the answer to one ask; takes nothing away.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn fetch(&self, limit: u32, answers_ask: Option<&str>) -> Result<Fetched, ClientError> {
        let answers_ask_id = answers_ask.unwrap_or_default().into();
        let request = within_deadline(pb::FetchRequest { limit, answers_ask_id });
        let reply = self.take(self.agent_door().fetch(request).await?);
        let deliveries: Option<Vec<_>> = reply.deliveries.into_iter().map(delivery).collect();
        let deliveries =
            deliveries.ok_or(ClientError::Protocol("Fetch with a delivery without a message"))?;
        Ok(Fetched { deliveries, waiting: reply.waiting })
    }

    /// Says that messages were taken; they are not delivered again.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn acknowledge(&self, message_ids: Vec<String>) -> Result<(), ClientError> {
        let request = within_deadline(pb::AcknowledgeRequest { message_ids });
        self.take(self.agent_door().acknowledge(request).await?);
        Ok(())
    }

    async fn call(&self, call: Request) -> Result<Outcome, ClientError> {
        let request = pb::CommsCallRequest { call: Some(call), ..pb::CommsCallRequest::default() };
        let reply = self.take(self.agent_door().call(within_deadline(request)).await?);
        match reply.result {
            Some(Outcome::Error(error)) => Err(ClientError::in_band(&error.code, error.message)),
            Some(outcome) => Ok(outcome),
            None => Err(ClientError::Protocol("a call without a result")),
        }
    }
}

fn delivery(wire: pb::DeliverControl) -> Option<Delivery> {
    Some(Delivery {
        message: wire.message?.into(),
        from_handle: wire.from_handle,
        channel_name: wire.channel_name,
        topic_name: wire.topic_name,
    })
}
