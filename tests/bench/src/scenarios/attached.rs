//! Many attached agents: what each of them costs while nothing happens, what they cost everyone else, and how long a
//! post to very many takes.

use std::{path::Path, time::Duration};

use compass_client::{ChannelName, Client, MemberChanges, model::AccountKind};
use compass_proto::v1::{self, comms_service_client::CommsServiceClient, post_message_request};
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::task::TaskTracker;
use tonic::transport::Channel;

use super::posts;
use crate::{
    BenchError,
    agent::{Agent, Bearer, Carrier},
    floors::Streams,
    process::Process,
    server::Server,
    stats::Samples,
    world::{People, connect, sign_in, text},
};

/// Agents that get a post to very many, at the most.
const FAN_OUT: usize = 1_000;
/// Posts to very many.
const FAN_OUTS: usize = 20;
/// Attached agents beside which a message is measured first.
const FEW: usize = 16;
/// Messages that are measured beside few and beside many agents.
const MESSAGES: usize = 300;
/// Agents that share a connection.
const SHARING: usize = 250;
/// Set-ups under way at once.
const SETUPS: usize = 32;
/// Handles of one change of members.
const MEMBERS: usize = 200;
/// How long everybody is left alone before memory is read, and again if the server is not quiet by then.
const SETTLE: Duration = Duration::from_secs(3);
const SETTLES: u32 = 40;
/// Processor time that a quiet server uses in that time.
const QUIET: Duration = Duration::from_millis(150);
/// How long the idle server's processor time is watched.
const IDLE: Duration = Duration::from_secs(20);
/// What one step may take.
const STEP: Duration = Duration::from_mins(5);

/// What was found of attached agents.
pub(crate) struct Attached {
    /// How many there were.
    pub(crate) agents: usize,
    /// Resident bytes of the server for each.
    pub(crate) bytes_each: f64,
    /// Resident bytes of a server that only holds a stream, for each.
    pub(crate) bare_bytes_each: f64,
    /// Share of one processor that the server uses while nothing happens.
    pub(crate) idle_share: f64,
    /// A post to one agent until its delivery, beside few agents.
    pub(crate) beside_few: Samples,
    /// The same beside all of them.
    pub(crate) beside_many: Samples,
    /// A post to very many.
    pub(crate) fan_out: FanOut,
}

/// A post to very many agents.
#[derive(Default)]
pub(crate) struct FanOut {
    /// How many they are.
    pub(crate) agents: usize,
    /// From the call to each delivery.
    pub(crate) each: Samples,
    /// From the call to the last delivery.
    pub(crate) last: Samples,
}

/// An agent that is not attached yet.
struct Placed {
    handle: String,
    channel: String,
    token: String,
}

/// Attaches `agents` agents to a server of their own and measures.
pub(crate) async fn run(
    program: &Path,
    dir: &Path,
    database: Option<&str>,
    agents: usize,
) -> Result<Attached, BenchError> {
    let bare_bytes_each = bare(program, agents).await?;
    let server = Server::start(program, dir, database).await?;
    let tasks = TaskTracker::new();
    let (admin, token) = sign_in(&server).await?;
    let person = Carrier::new(connect(&server.url).await?, Bearer::new(&token)?);
    let mut person = CommsServiceClient::new(person);
    let placed = place(&admin, agents).await?;
    let handles: Vec<String> = placed.iter().take(FAN_OUT).map(|agent| agent.handle.clone()).collect();
    let everyone = channel_of(&admin, &handles).await?;

    let mut waiting = placed.into_iter();
    let mut attached = attach(&server.url, waiting.by_ref().take(FEW).collect(), &tasks).await?;
    let beside_few = messages(&mut attached, &mut person).await?;
    settled(&server).await?;
    let before = server.resident_bytes()?;
    attached.extend(attach(&server.url, waiting.collect(), &tasks).await?);
    settled(&server).await?;
    let grown = server.resident_bytes()?.saturating_sub(before);
    let busy = server.processor_time()?;
    tokio::time::sleep(IDLE).await;
    let idle_share = server.processor_time()?.saturating_sub(busy).as_secs_f64() / IDLE.as_secs_f64();
    let beside_many = messages(&mut attached, &mut person).await?;
    let fan_out = fan_out(attached, &mut person, &everyone, handles.len(), &tasks).await?;

    server.end().await?;
    tasks.close();
    tasks.wait().await;
    let bytes_each = grown as f64 / agents.saturating_sub(FEW).max(1) as f64;
    Ok(Attached { agents, bytes_each, bare_bytes_each, idle_share, beside_few, beside_many, fan_out })
}

/// Waits until the server has done what the set-up left it to do.
async fn settled(server: &Server) -> Result<(), BenchError> {
    for _ in 0..SETTLES {
        let before = server.processor_time()?;
        tokio::time::sleep(SETTLE).await;
        if server.processor_time()?.saturating_sub(before) < QUIET {
            return Ok(());
        }
    }
    Err(BenchError::Stuck("what attaching many agents leaves to do".to_owned()))
}

/// What a stream costs a server that does nothing with it.
async fn bare(program: &Path, streams: usize) -> Result<f64, BenchError> {
    let process = Process::start(program, &["bench-echo"], None).await?;
    let mut open = Vec::with_capacity(streams);
    let few = Streams::open(&process.url, FEW, SHARING).await?;
    tokio::time::sleep(SETTLE).await;
    let before = process.resident_bytes()?;
    open.push(few);
    open.push(Streams::open(&process.url, streams.saturating_sub(FEW), SHARING).await?);
    tokio::time::sleep(SETTLE).await;
    let grown = process.resident_bytes()?.saturating_sub(before);
    drop(open);
    process.end().await?;
    Ok(grown as f64 / streams.saturating_sub(FEW).max(1) as f64)
}

/// Runs set-ups, some at once, and gives what they made in the order of `items`.
async fn each<I, T, F>(
    items: impl IntoIterator<Item = I>,
    set_up: impl Fn(usize, I) -> F,
) -> Result<Vec<T>, BenchError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, BenchError>> + Send + 'static,
{
    let all = async {
        let (mut under_way, mut done) = (JoinSet::new(), Vec::new());
        for (number, item) in items.into_iter().enumerate() {
            if under_way.len() >= SETUPS {
                done.extend(under_way.join_next().await);
            }
            let set_up = set_up(number, item);
            under_way.spawn(async move { set_up.await.map(|made| (number, made)) });
        }
        while let Some(next) = under_way.join_next().await {
            done.push(next);
        }
        let mut made = Vec::with_capacity(done.len());
        for one in done {
            made.push(one.map_err(|_| BenchError::Broken("a task of a set-up failed"))??);
        }
        made.sort_unstable_by_key(|(number, _)| *number);
        Ok(made.into_iter().map(|(_, made)| made).collect())
    };
    let done = tokio::time::timeout(STEP, all).await;
    done.map_err(|_| BenchError::Stuck("the set-up of many agents".to_owned()))?
}

async fn place(admin: &Client, agents: usize) -> Result<Vec<Placed>, BenchError> {
    each(0..agents, |number, _| {
        let admin = admin.clone();
        async move {
            let handle = format!("idle-{number}");
            let account = admin.create_agent(&handle, "", None).await?;
            let AccountKind::Agent { home_channel_id, .. } = account.kind else {
                return Err(BenchError::Broken("a new agent is no agent"));
            };
            let token = admin.issue_token(&account.id).await?;
            Ok(Placed { handle, channel: home_channel_id, token })
        }
    })
    .await
}

/// A channel to which these agents are subscribed.
async fn channel_of(admin: &Client, handles: &[String]) -> Result<String, BenchError> {
    let channel = admin.create_channel("everyone", Vec::new()).await?.id;
    for part in handles.chunks(MEMBERS) {
        let changes = MemberChanges { subscribe: part.to_vec(), ..MemberChanges::default() };
        admin.update_members(&ChannelName::Id(channel.clone()), changes).await?;
    }
    Ok(channel)
}

async fn attach(url: &str, placed: Vec<Placed>, tasks: &TaskTracker) -> Result<Vec<Agent>, BenchError> {
    let mut connections: Vec<Channel> = Vec::new();
    for _ in 0..placed.len().div_ceil(SHARING) {
        connections.push(connect(url).await?);
    }
    each(placed, |number, agent| {
        let connection = connections.get(number / SHARING).cloned();
        let tasks = tasks.clone();
        async move {
            let connection = connection.ok_or(BenchError::Broken("no connection"))?;
            let carrier = Carrier::new(connection, Bearer::new(&agent.token)?);
            Agent::attach(carrier, agent.channel, agent.handle, &tasks).await
        }
    })
    .await
}

/// Posts to the first agent, one after the other.
async fn messages(agents: &mut [Agent], person: &mut People) -> Result<Samples, BenchError> {
    let agent = agents.first_mut().ok_or(BenchError::Broken("nobody is attached"))?;
    let mut samples = Samples::default();
    for _ in 0..MESSAGES {
        samples.push(posts::one(agent, person).await?);
    }
    Ok(samples)
}

/// Posts to the first `count` agents at once, again when each of them has it.
async fn fan_out(
    attached: Vec<Agent>,
    person: &mut People,
    channel: &str,
    count: usize,
    tasks: &TaskTracker,
) -> Result<FanOut, BenchError> {
    let (tell, mut told) = mpsc::channel(count.max(1));
    let mut others = attached;
    let receivers = others.drain(..count.min(others.len())).collect::<Vec<_>>();
    for mut agent in receivers {
        let tell = tell.clone();
        let mut receipts = agent.receipts(tasks);
        tasks.spawn(async move {
            // The run is over when the server is: then there is nothing left to tell.
            while let Ok(id) = agent.delivered(|_| true).await {
                if tell.send(Instant::now()).await.is_err() || receipts.acknowledge(id).await.is_err() {
                    return;
                }
            }
        });
    }
    let mut found = FanOut { agents: count, ..FanOut::default() };
    let measured = async {
        for _ in 0..FAN_OUTS {
            let request = v1::PostMessageRequest {
                container: Some(post_message_request::Container::ChannelId(channel.to_owned())),
                topic: Some(post_message_request::Topic::TopicName("all hands".to_owned())),
                blocks: vec![text(posts::TEXT)],
                ..v1::PostMessageRequest::default()
            };
            let start = Instant::now();
            person.post_message(request).await?;
            let mut last = Duration::ZERO;
            for _ in 0..count {
                let at = told.recv().await.ok_or(BenchError::Broken("an agent is gone"))?;
                let took = at.saturating_duration_since(start);
                last = last.max(took);
                found.each.push(took);
            }
            found.last.push(last);
        }
        Ok::<_, BenchError>(())
    };
    let done = tokio::time::timeout(STEP, measured).await;
    done.map_err(|_| BenchError::Stuck(format!("a post to {count} agents")))??;
    drop(others);
    Ok(found)
}
