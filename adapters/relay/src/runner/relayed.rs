//! RelayCommsCall: a call of conversation by the agent that a session is bound to.

use compass_comms::Caller;
use compass_domain::{AccountId, SessionId};
use compass_hub::sessions::RunnerKey;
use compass_proto::v1;
use tonic::{Request, Status};

use super::{RunnerDoor, key};
use crate::{auth::Principal, error::DoorError, mapping, status::status};

impl RunnerDoor {
    pub(super) async fn relay_call(
        &self,
        request: Request<v1::RelayCommsCallRequest>,
    ) -> Result<v1::RelayCommsCallResponse, Status> {
        let (identity, runner) = key::runner(&request)?;
        let request = request.into_inner();
        let session: SessionId = mapping::required("session_id", "session", &request.session_id)
            .map_err(|error| status(&error))?;
        if self.hub.account_for(&runner, session).is_none() {
            self.hub.settled(&runner).await;
        }
        let account = self.hub.account_for(&runner, session);
        let account = account.ok_or_else(|| status(&DoorError::NotFound("session")))?;
        let caller = self.bound(identity.principal(), &runner, account).await?;
        let call = request.call.unwrap_or_default();
        let result = mapping::comms_call(&self.comms, &caller, call).await;
        Ok(v1::RelayCommsCallResponse { result: Some(result) })
    }

    /// The agent a session is bound to, as a caller; the runner's own word plays no part.
    async fn bound(
        &self,
        principal: &Principal,
        runner: &RunnerKey,
        account: AccountId,
    ) -> Result<Caller, Status> {
        if let Principal::Account(caller) = principal
            && caller.actor.id == account
        {
            return Ok(caller.clone());
        }
        let tenant = runner.tenant().clone();
        let read = self.comms.storage.read(&tenant).await;
        let found = match read {
            Ok(mut unit) => unit.find_account(account).await,
            Err(error) => Err(error),
        };
        let found = found.map_err(|error| status(&error))?;
        let actor = found.ok_or_else(|| status(&DoorError::NotFound("session")))?.actor();
        Ok(Caller { tenant, actor })
    }
}
