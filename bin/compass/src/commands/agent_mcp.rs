//! `compass agent mcp`: an agent's tools for a client of the Model Context Protocol that started us.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use compass_agent::{
    ports::{Call, CallError, CallResult, Gateway},
    tools::PostKeys,
};
use compass_client::ClientError;
use compass_gateway::{AgentDoor, AgentSocket, Endpoint, FileJournal, stay_present};
use compass_harness::mcp::{Core, Deliveries, Source, serve_stdio};
use compass_runner::Backoff;
use tokio::sync::OnceCell;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::ask::{AgentArgs, Credentials};
use crate::{
    config::{self, Connection},
    failure::Failure,
    server::{LogFormat, start_log},
    system,
};

/// Options of `compass agent mcp`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Socket of the agent's runner, for a client that the runner's agent started; messages reach the agent as prompts
    /// then [default: none, the agent speaks to the server itself]
    #[arg(long, env = "COMPASS_AGENT_SOCKET", value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Directory of the journal of taken messages [default: the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// What to log to standard error: a level, or levels per module
    #[arg(long, env = "COMPASS_LOG", value_name = "FILTER", default_value = "warn")]
    log: String,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    connection: Connection,
}

/// Serves until the client closes its end.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    start_log(&args.log, LogFormat::Text)?;
    if let Some(path) = &args.socket {
        let socket = AgentSocket::new(path).map_err(|error| Failure::Usage(error.to_string()))?;
        return serve(Arc::new(socket), None, TaskTracker::new()).await;
    }
    let state_dir = args.state_dir.clone().map_or_else(config::state_dir, Ok)?;
    let agent = Arc::new(Agent::new(args.connection, args.agent));
    match agent.door().await {
        // The client is to have its tools all the same; their results say what is wrong.
        Err(error) if is_passing(&error) => tracing::warn!(%error, "the agent is not known yet"),
        found => drop(found?),
    }
    let (calls, others, stop) = (TaskTracker::new(), TaskTracker::new(), CancellationToken::new());
    others.spawn(be_present(Arc::clone(&agent), others.clone(), stop.clone()));
    let owed =
        Owed { agent: Arc::clone(&agent), state_dir, tasks: calls.clone(), deliveries: OnceCell::new() };
    let served = serve(agent, Some(Arc::new(owed)), calls).await;
    stop.cancel();
    others.close();
    others.wait().await;
    served
}

async fn serve(
    gateway: Arc<dyn Gateway>,
    owed: Option<Arc<dyn Source>>,
    tasks: TaskTracker,
) -> Result<(), Failure> {
    let keys = PostKeys::new(system::fresh_key());
    let core = Core { gateway, keys, random: &system::fence_bytes, owed, tasks };
    let served = serve_stdio(core, tokio::io::stdin(), tokio::io::stdout()).await;
    served.map_err(|error| Failure::Local(error.to_string()))
}

async fn be_present(agent: Arc<Agent>, tasks: TaskTracker, stop: CancellationToken) {
    let mut backoff = Backoff::default();
    let door = loop {
        if let Ok(door) = agent.door().await {
            break door;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(backoff.next_wait(getrandom::u64().unwrap_or_default())) => {}
        }
    };
    stay_present(&door.endpoint, &system::fresh_key(), &tasks, stop).await;
}

/// The agent, whose token is found at once or, if a server has to be asked for it, once that can be reached.
struct Agent {
    connection: Connection,
    args: AgentArgs,
    door: OnceCell<Door>,
}

struct Door {
    endpoint: Endpoint,
    calls: AgentDoor,
}

impl Agent {
    fn new(connection: Connection, args: AgentArgs) -> Self {
        Self { connection, args, door: OnceCell::new() }
    }

    async fn door(&self) -> Result<&Door, Failure> {
        self.door.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Door, Failure> {
        let Credentials { url, token } = Credentials::find(&self.connection, &self.args).await?;
        let endpoint = Endpoint::new(&url, &token).map_err(|error| Failure::Usage(error.to_string()))?;
        let calls = AgentDoor::new(&endpoint);
        Ok(Door { endpoint, calls })
    }
}

#[async_trait]
impl Gateway for Agent {
    async fn call(&self, call_id: &str, call: Call) -> Result<CallResult, CallError> {
        match self.door().await {
            Ok(door) => door.calls.call(call_id, call).await,
            Err(Failure::Call(ClientError::Unreachable(reason))) => Err(CallError::Unreachable(reason)),
            Err(failure) => {
                let (code, message) = ("unauthenticated".to_owned(), failure.to_string());
                Err(CallError::Refused { code, message })
            }
        }
    }
}

/// What the agent is owed, once its account is known.
struct Owed {
    agent: Arc<Agent>,
    state_dir: PathBuf,
    tasks: TaskTracker,
    deliveries: OnceCell<Deliveries>,
}

impl Owed {
    async fn open(&self) -> Result<Deliveries, Failure> {
        let calls = &self.agent.door().await?.calls;
        let owner = calls.owner().await.map_err(|error| Failure::Local(error.to_string()))?;
        let account_id = owner.account_id;
        let journal = FileJournal::open(&self.state_dir, &account_id);
        let journal = Box::new(journal.map_err(|error| Failure::Local(error.to_string()))?);
        let mailbox = Arc::new(calls.clone());
        Ok(Deliveries::new(mailbox, journal, account_id, &system::fence_bytes, self.tasks.clone()))
    }
}

#[async_trait]
impl Source for Owed {
    async fn deliveries(&self) -> Option<Deliveries> {
        let opened = self.deliveries.get_or_try_init(|| self.open()).await;
        opened
            .inspect_err(|error| tracing::warn!(%error, "what the agent is owed cannot be read"))
            .ok()
            .cloned()
    }
}

fn is_passing(failure: &Failure) -> bool {
    matches!(failure, Failure::Call(error) if error.is_transient())
}
