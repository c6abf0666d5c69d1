//! `compass agent run`: the core of an agent that its runner started, around the agent's own program.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    pin::Pin,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use compass_agent::{
    control::{self, Counted, SessionLink},
    inbox::Inbox,
    lanes::Turns,
    ports::{Frame, SessionState},
    session::{Ended, RunError},
    spine::Spine,
    tools::{PostKeys, Toolbox},
};
use compass_gateway::{AgentSocket, FileJournal};
use compass_harness::{acp, jsonl};
use compass_ports::Clock as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::BufReader,
    process::{Child, ChildStdin, ChildStdout, Command},
    signal::unix::{SignalKind, signal},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    failure::Failure,
    output,
    system::{self, SystemClock},
};

/// How long a program has to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(5);
/// How long the lines of a program that ended are read.
const LAST_LINES: Duration = Duration::from_millis(500);
/// How long a core that is to end has for its last calls.
const LEAVING: Duration = Duration::from_secs(5);
/// How long the last frames have to leave.
const DRAIN: Duration = Duration::from_secs(3);

/// Options of `compass agent run`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Socket of the agent's runner
    #[arg(long, env = "COMPASS_AGENT_SOCKET", value_name = "PATH", required = true)]
    socket: PathBuf,
    /// Directory of the journal of taken messages
    #[arg(long, env = "COMPASS_AGENT_STATE_DIR", value_name = "DIR", required = true)]
    state_dir: PathBuf,
    /// Account of the agent
    #[arg(long, env = "COMPASS_AGENT_ACCOUNT_ID", value_name = "ID", required = true)]
    account_id: String,
    /// What the program speaks
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::JsonLines)]
    harness: Kind,
    /// The agent's program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What an agent's program speaks.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// JSON lines on its standard input and output
    JsonLines,
    /// The Agent Client Protocol on its standard input and output
    Acp,
}

/// Runs until the program ends, the runner ends the session, or a signal asks for the end.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let local = |error: &dyn std::fmt::Display| Failure::Local(error.to_string());
    let socket = AgentSocket::new(&args.socket).map_err(|error| Failure::Usage(error.to_string()))?;
    let journal = FileJournal::open(&args.state_dir, &args.account_id).map_err(|error| local(&error))?;
    let (tasks, spine, publishing) = (TaskTracker::new(), Spine::default(), CancellationToken::new());
    let (queues, publisher, stopped) = (spine.clone(), socket.clone(), publishing.clone());
    tasks.spawn(async move { queues.run(&publisher, stopped).await });
    spine.send(Frame::State(SessionState::Starting));
    let ended = match Program::start(&args.program) {
        Ok(program) => {
            let controls = control::start(Arc::new(socket.clone()), spine.clone(), &tasks);
            let mut link = SessionLink::new(controls, spine.clone());
            let ended = drive(&args, program, &mut link, &socket, journal).await;
            link.abandon();
            tell_unused(&link);
            ended
        }
        Err(failure) => Err(failure),
    };
    let well = matches!(&ended, Ok(ended) if ended.is_well());
    spine.send(Frame::State(if well { SessionState::Stopped } else { SessionState::Errored }));
    if !spine.drain(DRAIN).await {
        // The server sends again what it has no acknowledgement of.
        output::remark("the runner did not take the last reports in time");
    }
    publishing.cancel();
    tasks.close();
    tasks.wait().await;
    ended?.into_result()
}

/// Says what of the control was of no use, so that it does not pass unseen.
fn tell_unused(link: &SessionLink) {
    for (what, count) in link.counts().into_iter().filter(|(what, _)| *what != Counted::Duplicate) {
        output::remark(&format!("operations of the runner that could not be used: {count} {what}"));
    }
}

/// Why it is over, and how the program ended.
struct Over {
    ended: Option<Result<Ended, RunError>>,
    status: ExitStatus,
    spoke: Kind,
}

impl Over {
    /// True if somebody wanted the end, or the program came to it by itself.
    fn is_well(&self) -> bool {
        match &self.ended {
            None | Some(Ok(Ended::Stopped)) => true,
            // More than a pipe is broken: the program cannot be spoken to, whatever it says itself.
            Some(Err(RunError::Harness(_))) if self.spoke == Kind::Acp => false,
            Some(Ok(Ended::Harness) | Err(RunError::Harness(_))) => self.status.success(),
            Some(Ok(Ended::Link { .. }) | Err(RunError::Journal(_))) => false,
        }
    }

    fn into_result(self) -> Result<(), Failure> {
        match self.ended {
            Some(Err(RunError::Harness(error))) if self.spoke == Kind::Acp => {
                Err(Failure::Local(error.to_string()))
            }
            Some(Err(RunError::Journal(error))) => Err(Failure::Local(error.to_string())),
            Some(Ok(Ended::Link { reason, .. })) => {
                Err(Failure::Local(format!("the runner cannot be reached: {reason}")))
            }
            _ if self.status.success() => Ok(()),
            _ => Err(Failure::Program(self.status)),
        }
    }
}

async fn drive(
    args: &Args,
    mut program: Program,
    link: &mut SessionLink,
    socket: &AgentSocket,
    journal: FileJournal,
) -> Result<Over, Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let life = system::fresh_key();
    let turns = match args.harness {
        Kind::JsonLines => Turns::Reported,
        Kind::Acp => Turns::Driven,
    };
    let mut inbox = Inbox::new(journal, turns, &life);
    let keys = PostKeys::new(life.clone());
    let tools = Toolbox { gateway: socket, keys: &keys, random: &system::fence_bytes };
    let (stdin, stdout) = program.pipes;
    let stdout = BufReader::new(stdout);
    let stop = CancellationToken::new();
    let ended = {
        let mut running: Running<'_> = match args.harness {
            Kind::JsonLines => Box::pin(jsonl::run(link, tools, &mut inbox, stdout, stdin)),
            Kind::Acp => {
                let (settings, stopped) = (acp_settings(args, life)?, stop.clone().cancelled_owned());
                Box::pin(acp::run(link, socket, &mut inbox, settings, stdout, stdin, Box::pin(stopped)))
            }
        };
        tokio::select! {
            ended = &mut running => Some(ended),
            // What it wrote last is read; a process it left behind may hold its pipes for ever.
            _ = program.child.wait() => {
                let last = match tokio::time::timeout(LAST_LINES, &mut running).await {
                    Err(_) if args.harness == Kind::Acp => leave(&stop, running).await,
                    last => last.ok(),
                };
                Some(last.unwrap_or(Ok(Ended::Harness)))
            }
            () = async { tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} } } => {
                if args.harness == Kind::Acp {
                    drop(leave(&stop, running).await);
                }
                None
            }
        }
    };
    // Its input is closed by now.
    let asked = ended.is_none();
    let status = end(&mut program.child, asked).await?;
    Ok(Over { ended, status, spoke: args.harness })
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Ended, RunError>> + Send + 'a>>;

/// Ends the core in order: asks that nobody waits for any more are withdrawn.
async fn leave(stop: &CancellationToken, running: Running<'_>) -> Option<Result<Ended, RunError>> {
    stop.cancel();
    tokio::time::timeout(LEAVING, running).await.ok()
}

/// What an agent of ACP is given: our tools, through this program and the same socket.
fn acp_settings(args: &Args, life: String) -> Result<acp::Settings, Failure> {
    let text = |path: &Path| {
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| Failure::Usage(format!("{} is not valid UTF-8", path.display())))
    };
    let env = [
        ("COMPASS_AGENT_SOCKET", text(&std::path::absolute(&args.socket)?)?),
        ("COMPASS_AGENT_STATE_DIR", text(&std::path::absolute(&args.state_dir)?)?),
        ("COMPASS_AGENT_ACCOUNT_ID", args.account_id.clone()),
    ];
    Ok(acp::Settings {
        account_id: args.account_id.clone(),
        directory: std::env::current_dir()?,
        tools: acp::ToolServer {
            program: std::env::current_exe()?,
            args: vec!["agent".to_owned(), "mcp".to_owned()],
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        },
        session_file: args.state_dir.join("agents").join(&args.account_id).join("acp-session"),
        life,
        random: Box::new(system::fence_bytes),
        now_unix_ms: Box::new(|| SystemClock.now().0),
    })
}

/// The agent's program with its pipes; it dies with this process.
struct Program {
    child: Child,
    pipes: (ChildStdin, ChildStdout),
}

impl Program {
    /// Starts it from this thread, whose end is the end of this process.
    fn start(program: &[OsString]) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["runner", "exec"]).arg(format!("--parent={}", std::process::id()));
        command.arg("--").args(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Self { child, pipes: (stdin, stdout) }),
            _ => Err(Failure::Local("the agent's program has no pipes".to_owned())),
        }
    }
}

/// Waits for the program's end, then asks for it, then makes it.
async fn end(child: &mut Child, ask_at_once: bool) -> Result<ExitStatus, Failure> {
    if !ask_at_once && let Ok(status) = tokio::time::timeout(GRACE, child.wait()).await {
        return Ok(status?);
    }
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // It may end at this very moment.
        let _ = kill_process(pid, Signal::TERM);
    }
    if let Ok(status) = tokio::time::timeout(GRACE, child.wait()).await {
        return Ok(status?);
    }
    child.start_kill()?;
    Ok(child.wait().await?)
}
