//! Placing, starting, ending and listing: one runner's word each.

use compass_comms::accounts::operate_agent::list_watched;
use compass_domain::{
    AccountId, Classified, ErrorKind, LifecycleState, SessionId,
    limits::{self, LimitError},
};
use compass_hub::{
    ports::{LaunchError, LiveSession},
    sessions::{CommandError, Provision, ProvisionError, SpawnError, StartError},
};
use compass_proto::v1;
use tonic::{Request, Status};

use super::{Sessions, absent};
use crate::{
    auth::caller,
    mapping,
    runner::commands::wire_state,
    status::{plain, status},
};

/// A text of a request that is too long.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct TooLong(#[from] LimitError);

impl Classified for TooLong {
    fn kind(&self) -> ErrorKind {
        ErrorKind::InvalidArgument
    }
}

impl Sessions {
    pub(crate) async fn provision(
        &self,
        request: Request<v1::ProvisionAgentWorkspaceRequest>,
    ) -> Result<v1::ProvisionAgentWorkspaceResponse, Status> {
        let caller = caller(&request)?;
        let request = request.into_inner();
        // What a client says of persona and role does not count.
        let wanted = wanted(&request.agent_account_id, request.client_request_id, request.runner_id)?;
        self.operate(&caller, wanted.account, "agent").await?;
        let made = self.hub.provision(&caller.tenant, wanted).await;
        let container_name = made.map_err(|error| provision_status(&error))?;
        Ok(v1::ProvisionAgentWorkspaceResponse { container_name })
    }

    pub(crate) async fn start(
        &self,
        request: Request<v1::StartAgentSessionRequest>,
    ) -> Result<v1::StartAgentSessionResponse, Status> {
        let caller = caller(&request)?;
        let request = request.into_inner();
        let resume = match request.resume_session_id.as_str() {
            "" => None,
            text => {
                let row = self.session(&caller, text).await?;
                // Before anything else is asked: a stranger learns nothing of the session or its runner.
                self.watch(&caller, row.account, "session").await?;
                Some(row)
            }
        };
        let account = match (&resume, request.container_name.as_str()) {
            (Some(row), "") => row.account,
            (_, name) => self.container(&caller, name).await?,
        };
        if resume.as_ref().is_some_and(|row| row.account != account) {
            return Err(absent("session"));
        }
        self.operate(&caller, account, "container").await?;
        let started = self.hub.start(&caller.tenant, account, resume.map(|row| row.session)).await;
        let session = started.map_err(|error| start_status(&error))?;
        Ok(v1::StartAgentSessionResponse { session_id: session.to_string() })
    }

    pub(crate) async fn spawn(
        &self,
        request: Request<v1::SpawnAgentRequest>,
    ) -> Result<v1::SpawnAgentResponse, Status> {
        let caller = caller(&request)?;
        let request = request.into_inner();
        let wanted = wanted(&request.agent_account_id, request.client_request_id, request.runner_id)?;
        self.operate(&caller, wanted.account, "agent").await?;
        let spawned = self.hub.spawn(&caller.tenant, wanted).await.map_err(|error| match &error {
            SpawnError::Provision(error) => provision_status(error),
            SpawnError::Start(error) => start_status(error),
        })?;
        let (session_id, container_name) = (spawned.session.to_string(), spawned.container);
        Ok(v1::SpawnAgentResponse { session_id, container_name })
    }

    pub(crate) async fn stop(
        &self,
        request: Request<v1::StopAgentSessionRequest>,
    ) -> Result<v1::StopAgentSessionResponse, Status> {
        let caller = caller(&request)?;
        let row = self.session(&caller, &request.get_ref().session_id).await?;
        self.operate(&caller, row.account, "session").await?;
        self.hub.stop(&caller.tenant, row).await.map_err(|error| command_status(&error))?;
        Ok(v1::StopAgentSessionResponse {})
    }

    pub(crate) async fn remove(
        &self,
        request: Request<v1::RemoveAgentWorkspaceRequest>,
    ) -> Result<v1::RemoveAgentWorkspaceResponse, Status> {
        let caller = caller(&request)?;
        let name = &request.get_ref().container_name;
        let name = mapping::given("container_name", name).map_err(|error| status(&error))?;
        let found = self.hub.find_container(&caller.tenant, name).await.map_err(|error| status(&error))?;
        let placement = found.ok_or_else(|| absent("container"))?;
        self.operate(&caller, placement.account, "container").await?;
        self.hub.remove(&caller.tenant, placement).await.map_err(|error| command_status(&error))?;
        Ok(v1::RemoveAgentWorkspaceResponse {})
    }

    pub(crate) async fn reload(
        &self,
        request: Request<v1::ReloadAgentSessionRequest>,
    ) -> Result<v1::ReloadAgentSessionResponse, Status> {
        let caller = caller(&request)?;
        let row = self.session(&caller, &request.get_ref().session_id).await?;
        self.operate(&caller, row.account, "session").await?;
        self.hub.reload(&caller.tenant, &row).await.map_err(|error| command_status(&error))?;
        Ok(v1::ReloadAgentSessionResponse { session_id: row.session.to_string() })
    }

    pub(crate) async fn status(
        &self,
        request: Request<v1::GetAgentStatusRequest>,
    ) -> Result<v1::GetAgentStatusResponse, Status> {
        let caller = caller(&request)?;
        let statuses = match request.get_ref().session_id.as_str() {
            "" => {
                let watched = list_watched(&self.comms, &caller).await.map_err(|error| status(&error))?;
                let live = self.hub.live_sessions(&caller.tenant, &watched).await;
                live.map_err(|error| status(&error))?.iter().map(live_status).collect()
            }
            text => {
                let row = self.session(&caller, text).await?;
                self.watch(&caller, row.account, "session").await?;
                let state = self.hub.status(&caller.tenant, &row).await.map_err(|error| status(&error))?;
                vec![session_status(row.session, row.account, state)]
            }
        };
        Ok(v1::GetAgentStatusResponse { statuses })
    }

    /// The agent whose container it is.
    async fn container(&self, caller: &compass_comms::Caller, name: &str) -> Result<AccountId, Status> {
        let name = mapping::given("container_name", name).map_err(|error| status(&error))?;
        let found = self.hub.find_container(&caller.tenant, name).await.map_err(|error| status(&error))?;
        Ok(found.ok_or_else(|| absent("container"))?.account)
    }
}

fn wanted(account: &str, client_request_id: String, runner: String) -> Result<Provision, Status> {
    let account = mapping::required("agent_account_id", "agent", account).map_err(|error| status(&error))?;
    for (field, text, limit) in [
        ("client_request_id", &client_request_id, limits::KEY_BYTES),
        ("runner_id", &runner, limits::ID_BYTES),
    ] {
        limits::check_bytes(field, text, limit).map_err(|error| status(&TooLong(error)))?;
    }
    Ok(Provision { account, client_request_id, runner: (!runner.is_empty()).then_some(runner) })
}

fn live_status(live: &LiveSession) -> v1::AgentSessionStatus {
    session_status(live.session, live.account, live.state)
}

/// A session's state on the wire; whose it is, is the server's word.
pub(super) fn session_status(
    session: SessionId,
    account: AccountId,
    state: LifecycleState,
) -> v1::AgentSessionStatus {
    v1::AgentSessionStatus {
        session_id: session.to_string(),
        state: wire_state(state).into(),
        agent_account_id: account.to_string(),
    }
}

/// Words of our own about runners may be read by whoever runs agents; a runner's own fault stays in the log.
fn launch_status<E: Classified>(error: &E, launch: &LaunchError) -> Status {
    match launch.kind() {
        ErrorKind::Internal => status(error),
        _ => plain(error),
    }
}

fn provision_status(error: &ProvisionError) -> Status {
    match error {
        ProvisionError::Runner { error: launch, .. } => launch_status(error, launch),
        ProvisionError::Stopping => plain(error),
        ProvisionError::NoRunner
        | ProvisionError::SeveralRunners { .. }
        | ProvisionError::ContainerTaken { .. }
        | ProvisionError::Storage(_) => status(error),
    }
}

fn start_status(error: &StartError) -> Status {
    match error {
        StartError::Runner { error: launch, .. } => launch_status(error, launch),
        // It names the session, which somebody may have to look for.
        StartError::NotRecorded { .. } | StartError::Stopping => plain(error),
        StartError::NotPlaced | StartError::AlreadyLive { .. } | StartError::Storage(_) => status(error),
    }
}

fn command_status(error: &CommandError) -> Status {
    match error {
        CommandError::Runner { error: launch, .. } => launch_status(error, launch),
        CommandError::Stopping => plain(error),
        CommandError::Storage(_) => status(error),
    }
}
