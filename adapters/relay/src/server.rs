//! CompassService: the server itself and the tokens it accepts.

use compass_comms::{
    Comms,
    accounts::own_account::own_account,
    tokens::{issue::issue_account_token, revoke::revoke_value},
};
use compass_proto::v1::{self, compass_service_server::CompassService};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::{
    auth::{Auth, caller},
    mapping,
    sessions::Sessions,
    status::status,
};

/// The version of the contract.
const API_VERSION: &str = "compass.v1";

/// The door of the server's own affairs.
pub(crate) struct ServerDoor {
    pub(crate) comms: Comms,
    pub(crate) auth: Auth,
    pub(crate) version: String,
    pub(crate) sessions: Sessions,
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl CompassService for ServerDoor {
    async fn get_server_info(
        &self,
        _: Request<v1::GetServerInfoRequest>,
    ) -> Answer<v1::GetServerInfoResponse> {
        let (version, api_version) = (self.version.clone(), API_VERSION.to_owned());
        Ok(Response::new(v1::GetServerInfoResponse { version, api_version }))
    }

    async fn who_am_i(&self, request: Request<v1::WhoAmIRequest>) -> Answer<v1::WhoAmIResponse> {
        let own = own_account(&self.comms, &caller(&request)?).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::WhoAmIResponse {
            account_id: own.id.to_string(),
            handle: own.handle.to_string(),
        }))
    }

    type SubscribeEventsStream = ReceiverStream<Result<v1::SubscribeEventsResponse, Status>>;

    async fn subscribe_events(
        &self,
        request: Request<v1::SubscribeEventsRequest>,
    ) -> Answer<Self::SubscribeEventsStream> {
        self.sessions.events(request).await.map(Response::new)
    }

    async fn provision_agent_workspace(
        &self,
        request: Request<v1::ProvisionAgentWorkspaceRequest>,
    ) -> Answer<v1::ProvisionAgentWorkspaceResponse> {
        self.sessions.provision(request).await.map(Response::new)
    }

    async fn start_agent_session(
        &self,
        request: Request<v1::StartAgentSessionRequest>,
    ) -> Answer<v1::StartAgentSessionResponse> {
        self.sessions.start(request).await.map(Response::new)
    }

    async fn spawn_agent(&self, request: Request<v1::SpawnAgentRequest>) -> Answer<v1::SpawnAgentResponse> {
        self.sessions.spawn(request).await.map(Response::new)
    }

    async fn stop_agent_session(
        &self,
        request: Request<v1::StopAgentSessionRequest>,
    ) -> Answer<v1::StopAgentSessionResponse> {
        self.sessions.stop(request).await.map(Response::new)
    }

    async fn remove_agent_workspace(
        &self,
        request: Request<v1::RemoveAgentWorkspaceRequest>,
    ) -> Answer<v1::RemoveAgentWorkspaceResponse> {
        self.sessions.remove(request).await.map(Response::new)
    }

    async fn reload_agent_session(
        &self,
        request: Request<v1::ReloadAgentSessionRequest>,
    ) -> Answer<v1::ReloadAgentSessionResponse> {
        self.sessions.reload(request).await.map(Response::new)
    }

    async fn get_agent_status(
        &self,
        request: Request<v1::GetAgentStatusRequest>,
    ) -> Answer<v1::GetAgentStatusResponse> {
        self.sessions.status(request).await.map(Response::new)
    }

    type SubscribeAgentSessionStream = ReceiverStream<Result<v1::AgentSessionFrame, Status>>;

    async fn subscribe_agent_session(
        &self,
        request: Request<v1::SubscribeAgentSessionRequest>,
    ) -> Answer<Self::SubscribeAgentSessionStream> {
        self.sessions.tail(request).await.map(Response::new)
    }

    async fn issue_token(&self, request: Request<v1::IssueTokenRequest>) -> Answer<v1::IssueTokenResponse> {
        let caller = caller(&request)?;
        let account = mapping::required("account_id", "account", &request.get_ref().account_id)
            .map_err(|error| status(&error))?;
        let issued =
            issue_account_token(&self.comms, &caller, account).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::IssueTokenResponse { token: issued.token }))
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Answer<v1::RevokeTokenResponse> {
        let caller = caller(&request)?;
        let token = mapping::given("token", &request.get_ref().token).map_err(|error| status(&error))?;
        let revoked = revoke_value(&self.comms, &caller, token).await;
        // After a failure too: its outcome may be unknown.
        self.auth.revoked();
        revoked.map_err(|error| status(&error))?;
        Ok(Response::new(v1::RevokeTokenResponse {}))
    }
}
