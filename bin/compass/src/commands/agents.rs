//! `compass agents`: starts agents on runners, shows and follows them, and ends them.

use compass_client::model::{SessionEvent, SessionFrame, SessionStatus};
use compass_client::operator::AgentOverview;
use serde_json::json;

use super::{
    context::Context,
    tail::{FIRST_WAIT, next_wait},
};
use crate::{
    config::Connection,
    directory::Directory,
    failure::Failure,
    output::{self, Output},
    render::{self, BODY},
    system, table,
};

/// Options of `compass agents`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Starts an agent on a runner, where it is placed first if it is nowhere
    #[command(after_help = "Example:\n  compass agents start deploy-bot --runner build-box")]
    Start {
        /// Handle of the agent
        #[arg(value_name = "HANDLE")]
        handle: String,
        /// Name of the runner [default: the agent's, or the only one that is attached]
        #[arg(long, value_name = "NAME")]
        runner: Option<String>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Ends an agent's live sessions
    #[command(after_help = "Example:\n  compass agents stop deploy-bot")]
    Stop(One),
    /// Lists live sessions and their states
    #[command(after_help = "Example:\n  compass agents status deploy-bot")]
    Status {
        /// Handle of the agent [default: every agent you may watch]
        #[arg(value_name = "HANDLE")]
        handle: Option<String>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Follows what an agent does, until its session ends
    #[command(after_help = "Example:\n  compass agents logs deploy-bot")]
    Logs(One),
    /// Starts an agent's program again; its session goes on
    #[command(after_help = "Example:\n  compass agents reload deploy-bot")]
    Reload(One),
    /// Gives up an agent's placement on its runner; its session ends
    #[command(after_help = "Example:\n  compass agents remove deploy-bot")]
    Remove(One),
}

#[derive(clap::Args, Debug)]
struct One {
    /// Handle of the agent
    #[arg(value_name = "HANDLE")]
    handle: String,
    #[command(flatten)]
    connection: Connection,
}

/// Runs the wanted part; without one it lists.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let Some(command) = args.command else { return list(&args.connection).await };
    match command {
        Command::Start { handle, runner, connection } => start(&connection, &handle, runner.as_deref()).await,
        Command::Stop(one) => stop(&one).await,
        Command::Status { handle, connection } => status(&connection, handle.as_deref()).await,
        Command::Logs(one) => logs(&one).await,
        Command::Reload(one) => reload(&one).await,
        Command::Remove(one) => remove(&one).await,
    }
}

/// Every agent of the caller with what stands between it and its messages.
async fn list(connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let agents = context.client.agents().await?;
    if context.out.is_json() {
        return agents.iter().try_for_each(|agent| context.out.json(agent));
    }
    let now = context.client.server_time_unix_ms();
    let rows: Vec<[String; 7]> = agents.iter().map(|agent| row(agent, now)).collect();
    let headings = ["AGENT", "PRESENCE", "RUNNER", "WAKE", "OWED", "PAUSED", "LAST TROUBLE"];
    table::lines(headings, &rows).iter().try_for_each(|line| context.out.line(line))
}

fn row(agent: &AgentOverview, now: Option<i64>) -> [String; 7] {
    let place = agent.placement.as_ref();
    let runner = agent.sessions.first().map(|session| &session.runner).or(place.map(|place| &place.runner));
    let failing = place.filter(|place| place.failures > 0);
    let wake = place.map_or_else(|| "-".to_owned(), |place| place.wake.to_owned());
    let trouble = failing.and_then(|place| place.error.as_deref());
    let trouble = trouble.or(agent.notes.last().map(|note| note.text.as_str())).unwrap_or_default();
    [
        format!("@{}", render::line(&agent.handle)),
        agent.presence.to_owned(),
        runner.map_or_else(|| "-".to_owned(), |runner| render::line(runner)),
        match failing.and_then(|place| place.next_wake_unix_ms).zip(now) {
            Some((next, now)) if next > now => format!("{wake}, not for {} s", (next - now) / 1000),
            _ => wake,
        },
        format!("{}+{}", agent.owed_delivers, agent.owed_steers),
        (agent.braked + agent.held).to_string(),
        render::line(trouble),
    ]
}

async fn start(connection: &Connection, handle: &str, runner: Option<&str>) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let agent = Operated::find(&context, handle).await?.account_id;
    let spawned = context.client.spawn_agent(&agent, runner, &system::fresh_key()).await?;
    if context.out.is_json() {
        return context.out.json(&spawned);
    }
    let (handle, session) = (render::line(handle), render::line(&spawned.session_id));
    context.out.line(&format!("started @{handle}, session {session}"))
}

async fn stop(one: &One) -> Result<(), Failure> {
    let context = Context::open(&one.connection).await?;
    let sessions = Operated::find(&context, &one.handle).await?.session_ids;
    for session in &sessions {
        context.client.stop_session(session).await?;
    }
    if context.out.is_json() {
        return context.out.json(&json!({ "stopped_session_ids": sessions }));
    }
    let handle = render::line(&one.handle);
    match sessions.len() {
        0 => context.out.line(&format!("@{handle} was not running")),
        _ => context.out.line(&format!("stopped @{handle}")),
    }
}

async fn status(connection: &Connection, handle: Option<&str>) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let names = Directory::load(&context.client).await?;
    let mut sessions = context.client.sessions_now().await?;
    if let Some(handle) = handle {
        let agent = &names.agent(handle)?.id;
        sessions.retain(|session| session.agent_account_id == *agent);
    }
    if context.out.is_json() {
        return sessions.iter().try_for_each(|session| context.out.json(session));
    }
    let mut rows: Vec<[String; 3]> = sessions
        .iter()
        .map(|session| {
            let agent = names.account(&session.agent_account_id);
            [agent, session.state.to_owned(), render::line(&session.session_id)]
        })
        .collect();
    rows.sort();
    let lines = table::lines(["AGENT", "STATE", "SESSION"], &rows);
    lines.iter().try_for_each(|line| context.out.line(line))
}

async fn logs(one: &One) -> Result<(), Failure> {
    let context = Context::open(&one.connection).await?;
    let session = running(&context, &one.handle).await?.session_id;
    let mut wait = FIRST_WAIT;
    loop {
        match follow(&context, &session).await {
            Ok(()) => return Ok(()),
            Err(Failure::Call(error)) if error.is_transient() => {
                output::remark(&format!("{}; trying again", render::line(&error.to_string())));
            }
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(wait).await;
        wait = next_wait(wait);
    }
}

async fn follow(context: &Context, session: &str) -> Result<(), Failure> {
    let mut tail = context.client.tail_session(session).await?;
    while let Some(frame) = tail.next().await? {
        show(context.out, &frame)?;
    }
    Ok(())
}

async fn reload(one: &One) -> Result<(), Failure> {
    let context = Context::open(&one.connection).await?;
    let sessions = Operated::find(&context, &one.handle).await?.session_ids;
    let session = sessions.first().ok_or_else(|| not_live(&one.handle))?;
    context.client.reload_session(session).await?;
    if context.out.is_json() {
        return context.out.json(&json!({ "session_id": session }));
    }
    context.out.line(&format!("reloaded @{}", render::line(&one.handle)))
}

async fn remove(one: &One) -> Result<(), Failure> {
    let context = Context::open(&one.connection).await?;
    let agent = Operated::find(&context, &one.handle).await?.account_id;
    // A runner names an agent's container after its account.
    context.client.remove_container(&agent).await?;
    if context.out.is_json() {
        return context.out.json(&json!({ "removed_container": agent }));
    }
    context.out.line(&format!("removed @{} from its runner", render::line(&one.handle)))
}

/// An agent that the caller runs, which an administrator need not see otherwise.
struct Operated {
    account_id: String,
    /// Live ones; those that are up before those that are away.
    session_ids: Vec<String>,
}

impl Operated {
    async fn find(context: &Context, handle: &str) -> Result<Self, Failure> {
        let wanted = handle.strip_prefix('@').unwrap_or(handle);
        let listed = context.client.agents().await?.into_iter().find(|agent| agent.handle == wanted);
        let (account_id, mut sessions): (String, Vec<_>) = if let Some(agent) = listed {
            let sessions = agent.sessions.into_iter().map(|session| (session.session_id, session.state));
            (agent.account_id, sessions.collect())
        } else {
            // The server says whether that may be; the sessions of one that is seen are found by watching.
            let account_id = Directory::load(&context.client).await?.agent(handle)?.id.clone();
            let sessions = of_agent(context, &account_id).await?.into_iter();
            (account_id, sessions.map(|session| (session.session_id, session.state)).collect())
        };
        sessions.sort_by_key(|(_, state)| *state == "disconnected");
        Ok(Self { account_id, session_ids: sessions.into_iter().map(|(id, _)| id).collect() })
    }
}

async fn of_agent(context: &Context, agent: &str) -> Result<Vec<SessionStatus>, Failure> {
    let mut sessions = context.client.sessions_now().await?;
    sessions.retain(|session| session.agent_account_id == agent);
    Ok(sessions)
}

/// The session to follow: one that is up before one that is away.
async fn running(context: &Context, handle: &str) -> Result<SessionStatus, Failure> {
    let agent = Directory::load(&context.client).await?.agent(handle)?.id.clone();
    let sessions = of_agent(context, &agent).await?;
    sessions.into_iter().min_by_key(|session| session.state == "disconnected").ok_or_else(|| not_live(handle))
}

fn not_live(handle: &str) -> Failure {
    Failure::Usage(format!("{handle:?} has no live session that you may watch"))
}

fn show(out: Output, frame: &SessionFrame) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(frame);
    }
    if let Some(state) = frame.state {
        out.line(&format!("-- {state}"))?;
    }
    match &frame.event {
        None | Some(SessionEvent::Other) => Ok(()),
        Some(SessionEvent::Text { text }) => out.body(text, BODY),
        Some(SessionEvent::Thinking { text }) => {
            out.line("thinks:")?;
            out.body(text, BODY)
        }
        Some(SessionEvent::ToolCall { title, status, .. }) => {
            out.line(&format!("tool {} ({status})", render::line(title)))
        }
        Some(SessionEvent::ToolCallUpdate { status, output, changed_paths, .. }) => {
            out.line(&format!("tool is {status}"))?;
            for path in changed_paths {
                out.line(&format!("changed {}", render::line(path)))?;
            }
            out.body(output, BODY)
        }
        Some(SessionEvent::Plan { steps }) => {
            out.line("plan:")?;
            let mut steps = steps.iter();
            steps.try_for_each(|step| out.body(&format!("{} ({})", step.content, step.status), BODY))
        }
        Some(SessionEvent::Notice { text, link }) => {
            out.line("notice:")?;
            out.body(text, BODY)?;
            match link {
                Some(link) => out.body(link, BODY),
                None => Ok(()),
            }
        }
    }
}
