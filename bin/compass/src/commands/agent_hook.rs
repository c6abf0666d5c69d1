//! `compass agent hook`: a command hook of Claude Code. It never attaches, and never stands in the way of a session.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write},
    os::{
        fd::AsFd as _,
        unix::fs::{FileTypeExt as _, MetadataExt as _},
    },
    time::Duration,
};

use compass_agent::ports::CallError;
use compass_gateway::{AgentDoor, Endpoint, FileContinuations, FileJournal};
use compass_harness::hook::{Event, Hook, HookError, Input, Place};
use tokio::time::{Instant, timeout};

use super::ask::check_owner;
use crate::{
    config::{self, Config, Connection},
    failure::Failure,
    output, system,
};

/// Seconds that a question waits for its answer unless told otherwise.
pub(crate) const WAIT: u64 = 50;
/// Seconds between the end of a question's wait and the end of its hook, which the settings set.
pub(crate) const SPARE: u64 = 5;
/// How long it may take to find the server.
const CONNECT: Duration = Duration::from_secs(2);
/// Bytes of a hook's input at the most.
const INPUT_BYTES: u64 = 4 * 1024 * 1024;
/// Seconds of the longest wait: a day.
const DAY: u64 = 24 * 60 * 60;

/// Which agent acts; none is made.
#[derive(clap::Args, Debug)]
pub(crate) struct SavedAgent {
    /// Handle of the agent to act as; `compass agent create` makes one [default: the saved one]
    #[arg(long, env = "COMPASS_AGENT", value_name = "HANDLE")]
    pub(crate) agent: Option<String>,
}

/// Options of `compass agent hook`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Seconds to wait for the answer to a question; keep it five seconds below the hook's timeout
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT, value_parser = clap::value_parser!(u64).range(..=DAY))]
    wait: u64,
    /// Name of the channel that questions go to [default: the agent's home channel]
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Name of the topic that questions go to; made if need be
    #[arg(long, value_name = "TOPIC", default_value = "Questions")]
    topic: String,
    /// Say on standard error why there is nothing to do [default: only what went wrong]
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    agent: SavedAgent,
    #[command(flatten)]
    connection: Connection,
}

/// Handles one event. Whatever keeps Compass from its part is a remark; only output that was not written is a failure.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    // The wait counts from here, so that the hook ends in time however long the rest takes.
    let until = Instant::now() + Duration::from_secs(args.wait);
    let input = match read(&args) {
        Ok(Some(input)) => input,
        Ok(None) => return Ok(()),
        Err(reason) => return remark(&reason),
    };
    let start = matches!(input.event, Event::Context { name: "SessionStart" });
    match handle(&args, input, until).await {
        Ok(()) => Ok(()),
        Err(HookError::Nothing(reason)) if start => {
            // A session's start is the one moment at which its user is told.
            let told = format!("Compass is not at work in this session: {reason}");
            output::Output::new(true)
                .json(&serde_json::json!({ "systemMessage": told }))
                .map_err(unwritten)?;
            remark(&reason)
        }
        Err(HookError::Nothing(reason)) => remark(&reason),
        Err(error @ HookError::Output(_)) => Err(Failure::Local(error.to_string())),
    }
}

/// The event, if it is one for Compass.
fn read(args: &Args) -> Result<Option<Input>, String> {
    let mut text = String::new();
    let read = io::stdin().lock().take(INPUT_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| format!("the hook's input cannot be read: {error}"))?;
    if text.len() as u64 > INPUT_BYTES {
        return Err(format!("the hook's input has more than {INPUT_BYTES} bytes"));
    }
    let input = Input::read(&text).map_err(|error| error.to_string())?;
    if let Event::Other { name } = &input.event {
        if args.verbose {
            output::remark(&format!("nothing to do for the event {name:?}"));
        }
        return Ok(None);
    }
    Ok(Some(input))
}

async fn handle(args: &Args, input: Input, until: Instant) -> Result<(), HookError> {
    let nothing = |reason: String| HookError::Nothing(reason);
    let (url, token, given) = credentials(args).map_err(|failure| nothing(failure.to_string()))?;
    let endpoint = Endpoint::new(&url, &token).map_err(|error| nothing(error.to_string()))?;
    let door = AgentDoor::new(&endpoint);
    let owner = match timeout(CONNECT, door.owner()).await {
        Ok(Ok(owner)) => owner,
        Ok(Err(CallError::Refused { code, message })) => {
            return Err(nothing(format!("the server refused: {code}: {message}")));
        }
        Ok(Err(error)) => return Err(nothing(error.to_string())),
        Err(_) => return Err(nothing(format!("no reply from {url} within {} s", CONNECT.as_secs()))),
    };
    if given && let Some(named) = &args.agent.agent {
        check_owner(&owner.handle, named).map_err(|failure| nothing(failure.to_string()))?;
    }
    let account_id = owner.account_id;
    let state = config::state_dir().map_err(|failure| nothing(failure.to_string()))?;
    let mut journal = FileJournal::open(&state, &account_id).map_err(|error| nothing(error.to_string()))?;
    let continuations = FileContinuations::open(&state, &account_id);
    let mut continuations = continuations.map_err(|error| nothing(error.to_string()))?;
    let mut hook = Hook {
        gateway: &door,
        mailbox: &door,
        journal: &mut journal,
        continuations: &mut continuations,
        reader: &account_id,
        random: &system::fence_bytes,
        place: Place { channel: args.channel.clone(), topic: args.topic.clone() },
        until,
    };
    hook.run(input, &mut Stdout).await
}

/// Standard output, unless nobody can read it: what is written to the null device is not written anywhere.
///
/// A program whose output is closed starts with the null device in its place, where every write succeeds.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if leads_nowhere()? {
            return Err(io::Error::other("standard output is closed or the null device"));
        }
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// True if standard output is the null device.
fn leads_nowhere() -> io::Result<bool> {
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()?;
    if !output.file_type().is_char_device() {
        return Ok(false);
    }
    // Without a null device it is some other device.
    Ok(fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == output.rdev()))
}

/// Where the server is, the token of the agent, and whether it was given; a hook makes no agent and asks nobody for one.
fn credentials(args: &Args) -> Result<(String, String, bool), Failure> {
    let config = Config::load(&args.connection)?;
    let token = match (config.given_token(), config.agent(args.agent.agent.as_deref())) {
        (Some(token), _) => return Ok((config.url.clone(), token.to_owned(), true)),
        (None, Some((_, Some(token)))) => token,
        (None, Some((handle, None))) => {
            let missing =
                format!("no token of agent {handle:?} is saved; run `compass agent create {handle}`");
            return Err(Failure::Usage(missing));
        }
        (None, None) => {
            return Err(Failure::Usage("no agent is set up; run `compass agent create`".into()));
        }
    };
    Ok((config.url, token, false))
}

/// Says why there is nothing, for the log of whoever runs hooks, and ends well.
#[expect(clippy::unnecessary_wraps, reason = "it is how a run ends")]
fn remark(reason: &str) -> Result<(), Failure> {
    output::remark(&crate::render::line(reason));
    Ok(())
}

/// Output that was not written is a failure here, also when its reader is gone.
fn unwritten(failure: Failure) -> Failure {
    match failure {
        Failure::OutputClosed => Failure::Local("the output was closed".into()),
        other => other,
    }
}
