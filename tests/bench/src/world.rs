//! Who takes part in a run: the person who posts and answers, and the agents.

use std::{fs, time::Duration};

use compass_client::{Client, model::AccountKind};
use compass_proto::v1::{self, comms_service_client::CommsServiceClient};
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;
use tonic::transport::{Channel, Endpoint};

use crate::{
    BenchError,
    agent::{Agent, Bearer, Carrier},
    scenarios,
    server::Server,
};

/// Connections that the agents share, and as many that the person's calls share.
const CONNECTIONS: usize = 8;
/// Agents that are set up at once.
const SETUPS: usize = 8;
/// How long one of them may take.
const SETUP: Duration = Duration::from_mins(1);

/// The person's calls that are measured.
pub(crate) type People = CommsServiceClient<Carrier>;

/// A person and agents with live sessions.
pub(crate) struct World {
    /// The person, for set-ups.
    pub(crate) admin: Client,
    /// The person, once for each connection.
    people: Vec<People>,
    /// The agents that no scenario uses now.
    pub(crate) agents: Vec<Agent>,
    /// The tasks of their streams.
    pub(crate) tasks: TaskTracker,
}

impl World {
    /// Signs in, creates `agents` agents and attaches them.
    pub(crate) async fn open(server: &Server, agents: usize) -> Result<Self, BenchError> {
        let (admin, token) = sign_in(server).await?;
        let mut people = Vec::with_capacity(CONNECTIONS);
        let mut channels = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let bearer = Bearer::new(&token)?;
            people.push(CommsServiceClient::new(Carrier::new(connect(&server.url).await?, bearer)));
            channels.push(connect(&server.url).await?);
        }
        let tasks = TaskTracker::new();
        let mut world = Self { admin: admin.clone(), people, agents: Vec::with_capacity(agents), tasks };
        let mut setups = JoinSet::new();
        let mut connections = channels.iter().cycle();
        for number in 0..agents {
            if setups.len() >= SETUPS {
                world.take(setups.join_next().await)?;
            }
            let connection = connections.next().cloned().ok_or(BenchError::Broken("no connection"))?;
            let person = world.person(number)?;
            setups.spawn(set_up(admin.clone(), person, connection, number, world.tasks.clone()));
        }
        while !setups.is_empty() {
            world.take(setups.join_next().await)?;
        }
        Ok(world)
    }

    /// The person, for calls of the agent with that number.
    pub(crate) fn person(&self, number: usize) -> Result<People, BenchError> {
        self.people
            .iter()
            .cycle()
            .nth(number % CONNECTIONS)
            .cloned()
            .ok_or(BenchError::Broken("no connection"))
    }

    fn take(
        &mut self,
        done: Option<Result<Result<Agent, BenchError>, tokio::task::JoinError>>,
    ) -> Result<(), BenchError> {
        let Some(done) = done else { return Ok(()) };
        self.agents.push(done.map_err(|_| BenchError::Broken("a task of the set-up failed"))??);
        Ok(())
    }
}

/// The first person of a server, with the token.
pub(crate) async fn sign_in(server: &Server) -> Result<(Client, String), BenchError> {
    let secret = fs::read_to_string(server.data_dir.join("sign-in"));
    let secret = secret.map_err(BenchError::io("read the first sign-in"))?;
    let signed_in = Client::connect(&server.url, None).await?.trade_sign_in(secret.trim()).await?;
    Ok((Client::connect(&server.url, Some(&signed_in.token)).await?, signed_in.token))
}

/// A connection as agents and people make it.
pub(crate) async fn connect(url: &str) -> Result<Channel, BenchError> {
    let endpoint = Endpoint::from_shared(url.to_owned())?.tcp_nodelay(true);
    Ok(endpoint.connect_timeout(Duration::from_secs(5)).connect().await?)
}

async fn set_up(
    admin: Client,
    person: People,
    connection: Channel,
    number: usize,
    tasks: TaskTracker,
) -> Result<Agent, BenchError> {
    let setting_up = async {
        let account = admin.create_agent(&format!("bench-{number}"), "", None).await?;
        let AccountKind::Agent { home_channel_id, .. } = account.kind else {
            return Err(BenchError::Broken("a new agent is no agent"));
        };
        let token = admin.issue_token(&account.id).await?;
        let carrier = Carrier::new(connection, Bearer::new(&token)?);
        let instance = format!("bench-{number}");
        let mut agent = Agent::attach(carrier, home_channel_id, instance, &tasks).await?;
        // Once through everything, so that neither a start nor a first use is measured.
        scenarios::posts::one(&mut agent, &mut person.clone()).await?;
        scenarios::asks::one(&mut agent, &mut person.clone()).await?;
        Ok(agent)
    };
    let done = tokio::time::timeout(SETUP, setting_up).await;
    done.map_err(|_| BenchError::Stuck(format!("the set-up of agent {number}")))?
}

/// A text block.
pub(crate) fn text(text: &str) -> v1::MessageBlock {
    v1::MessageBlock { block: Some(v1::message_block::Block::Text(text.to_owned())) }
}
