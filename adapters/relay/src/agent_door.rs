//! AgentDoor: an agent's short-lived commands, which attach to nothing.

use std::sync::Arc;

use compass_comms::Comms;
use compass_domain::MessageId;
use compass_hub::{Hub, delivery::FetchQuery};
use compass_proto::v1::{self, agent_door_server::AgentDoor};
use tonic::{Request, Response, Status};

use crate::{auth::caller, error::DoorError, mapping, status::status};

/// The door of an agent's commands.
pub(crate) struct AgentCommandsDoor {
    pub(crate) comms: Comms,
    pub(crate) hub: Arc<Hub>,
}

#[tonic::async_trait]
impl AgentDoor for AgentCommandsDoor {
    async fn call(
        &self,
        request: Request<v1::CommsCallRequest>,
    ) -> Result<Response<v1::CommsCallResult>, Status> {
        let caller = caller(&request)?;
        Ok(Response::new(mapping::comms_call(&self.comms, &caller, request.into_inner()).await))
    }

    async fn fetch(&self, request: Request<v1::FetchRequest>) -> Result<Response<v1::FetchResponse>, Status> {
        let caller = caller(&request)?;
        let sent = request.get_ref();
        let Ok(answers_ask) = mapping::optional(&sent.answers_ask_id, || DoorError::NotFound("ask")) else {
            // An ask that cannot exist has no answer.
            return Ok(Response::new(v1::FetchResponse::default()));
        };
        let query = FetchQuery { limit: sent.limit, answers_ask };
        let owed = self.hub.fetch(&caller.tenant, caller.actor.id, query).await;
        let owed = owed.map_err(|error| status(&error))?;
        let deliveries = owed.items.iter().map(|item| mapping::delivery(&item.message)).collect();
        Ok(Response::new(v1::FetchResponse { deliveries, waiting: owed.waiting }))
    }

    async fn acknowledge(
        &self,
        request: Request<v1::AcknowledgeRequest>,
    ) -> Result<Response<v1::AcknowledgeResponse>, Status> {
        let caller = caller(&request)?;
        let messages = receipts(&request.get_ref().message_ids).map_err(|error| status(&error))?;
        let kept = self.hub.acknowledge(&caller.tenant, caller.actor.id, messages).await;
        kept.map_err(|error| status(&error))?;
        Ok(Response::new(v1::AcknowledgeResponse {}))
    }
}

/// The messages of receipts. A text that is no id is a message that does not exist, whose receipt changes nothing.
fn receipts(texts: &[String]) -> Result<Vec<MessageId>, DoorError> {
    let mut messages = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        if text.is_empty() {
            return Err(DoorError::Empty(format!("message_ids[{index}]")));
        }
        messages.extend(text.parse::<MessageId>());
    }
    Ok(messages)
}
