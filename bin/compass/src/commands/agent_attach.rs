//! `compass agent attach`: a program's own runner, JSON lines on its standard input and output.

use std::{io::IsTerminal as _, path::PathBuf, time::Duration};

use compass_agent::{
    inbox::Inbox,
    lanes::Turns,
    session::Ended,
    tools::{PostKeys, Toolbox},
};
use compass_gateway::{Attach, Endpoint, FileJournal, Mode, RunnerLink};
use compass_harness::jsonl::{self, OutLine};
use compass_runner::Backoff;
use tokio::io::BufReader;
use tokio_util::task::TaskTracker;

use super::ask::{AgentArgs, Identity};
use crate::{
    config::{self, Connection},
    failure::Failure,
    output, system,
};

/// How long frames that are queued have to leave when the program ended.
const LINGER: Duration = Duration::from_millis(500);

/// Options of `compass agent attach`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Take the agent over from another process that is attached [default: no]
    #[arg(long)]
    take_over: bool,
    /// Directory of the journal of taken messages [default: the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    connection: Connection,
}

/// Attaches until the program closes its output or the server ends the link.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let identity = Identity::open(&args.connection, &args.agent).await?;
    let account_id = account_id(&identity).await?;
    let state_dir = args.state_dir.map_or_else(config::state_dir, Ok)?;
    let local = |error: &dyn std::fmt::Display| Failure::Local(error.to_string());
    let journal = FileJournal::open(&state_dir, &account_id).map_err(|error| local(&error))?;
    let instance_id = system::fresh_key();
    let mut inbox = Inbox::new(journal, Turns::Reported, &instance_id);
    let endpoint =
        Endpoint::new(&identity.url, &identity.token).map_err(|error| Failure::Usage(error.to_string()))?;
    if std::io::stdin().is_terminal() {
        output::remark("attached programs speak JSON lines; type one, or end with Ctrl-D");
    }
    let tasks = TaskTracker::new();
    let attach = Attach { instance_id, mode: Mode::Deliveries { take_over: args.take_over } };
    let (mut link, gateway) = RunnerLink::start(&endpoint, attach, &tasks);
    let keys = PostKeys::new(system::fresh_key());
    let tools = Toolbox { gateway: &gateway, keys: &keys, random: &system::fence_bytes };
    let input = BufReader::new(tokio::io::stdin());
    let ended = jsonl::run(&mut link, tools, &mut inbox, input, tokio::io::stdout()).await;
    link.finish(LINGER).await;
    tasks.close();
    tasks.wait().await;
    match ended.map_err(|error| local(&error))? {
        Ended::Harness | Ended::Stopped => Ok(()),
        Ended::Link { code, reason } => Err(Failure::Refused { code, reason }),
    }
}

/// Asks who the token belongs to, and waits for a server that is not there yet.
async fn account_id(identity: &Identity) -> Result<String, Failure> {
    let mut backoff = Backoff::default();
    loop {
        match identity.client.who_am_i().await {
            Ok(me) => return Ok(me.account_id),
            Err(error) if error.is_transient() => {
                let line = OutLine::Detached { reason: error.to_string() };
                output::Output::new(true).json(&line)?;
                tokio::time::sleep(backoff.next_wait(getrandom::u64().unwrap_or_default())).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
