//! A runner: it dials the server and runs agents, each behind a socket of its own.

mod child;
mod container;
#[cfg(test)]
mod forwarding_tests;
mod host;
mod life;
mod lines;
mod link;
mod process;
mod raw;
mod seat;
mod service;
mod sessions;
mod socket;
mod uplink;

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use compass_domain::AccountId;
use compass_proto::v1::{RunnerError as WireError, RunnerErrorCode, sessions_request::Result as Reply};
use compass_runner::Profiles;
use fs4::fs_std::FileExt as _;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use child::{exec, guard};
pub use process::{LaunchError, Parts, check};

use crate::{
    calls, dial,
    endpoint::Endpoint,
    runner::{
        container::Shared, host::Host, link::HostLink, process::Guard, raw::Relay, sessions::SessionsFile,
        uplink::Uplink,
    },
};
use compass_agent::ports::CallError;

/// How long frames that are queued have to leave when the runner stops.
const LINGER: Duration = Duration::from_secs(5);

/// What a runner is started with.
#[derive(Debug)]
pub struct Settings {
    /// The server, and the runner's token.
    pub endpoint: Endpoint,
    /// Random per process.
    pub instance_id: String,
    /// Where it keeps what must survive it.
    pub state_dir: PathBuf,
    /// Where the sockets of its agents are; `sockets` in the state directory if absent.
    pub socket_dir: Option<PathBuf>,
    /// Its agents.
    pub profiles: Profiles,
    /// How the parts of this program are run.
    pub parts: Parts,
}

/// Why a runner cannot start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A file or directory cannot be used.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The sockets of agents would be where the system takes none.
    #[error("{0}")]
    Sockets(String),
    /// Another runner uses the state directory.
    #[error("another runner already uses {0}; give each its own --state-dir")]
    InUse(PathBuf),
    /// The file of sessions cannot be read.
    #[error("{0}")]
    Sessions(String),
    /// The server refuses this runner.
    #[error("{message}")]
    Refused {
        /// Which code.
        code: String,
        /// The server's words; untrusted text.
        message: String,
    },
}

/// A command that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refusal {
    code: RunnerErrorCode,
    message: String,
}

impl Refusal {
    fn new(code: RunnerErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    fn unknown_session() -> Self {
        Self::new(RunnerErrorCode::NotFound, "no session of that id runs here")
    }

    fn reply(self) -> Reply {
        Reply::Error(WireError { code: self.code.into(), message: self.message })
    }
}

/// A runner that holds its state directory.
#[derive(Debug)]
pub struct Runner {
    settings: Settings,
    sessions: SessionsFile,
    _lock: File,
}

impl Runner {
    /// Takes the state directory; nothing runs and nobody is dialled yet.
    ///
    /// # Errors
    ///
    /// [`RunnerError`] that names what to change.
    pub fn open(mut settings: Settings) -> Result<Self, RunnerError> {
        // Agents run in directories of their own and are told these paths.
        settings.state_dir = absolute(&settings.state_dir)?;
        settings.socket_dir = Some(absolute(&socket_dir(&settings))?);
        if !settings.profiles.is_empty() {
            check_sockets(&socket_dir(&settings)).map_err(RunnerError::Sockets)?;
        }
        let state = &settings.state_dir;
        let shared = settings.profiles.iter().any(|profile| profile.launch().user.is_some());
        for folder in [state.clone(), state.join("agents"), socket_dir(&settings)] {
            directory(&folder, shared).map_err(at(&folder))?;
        }
        let path = state.join("runner.lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(&path).map_err(at(&path))?;
        if !lock.try_lock_exclusive().map_err(at(&path))? {
            return Err(RunnerError::InUse(state.clone()));
        }
        let sessions = SessionsFile::open(state).map_err(|error| RunnerError::Sessions(error.to_string()))?;
        Ok(Self { settings, sessions, _lock: lock })
    }

    /// Runs until `stop`, or until the server refuses the runner. All agents have ended when this returns.
    ///
    /// # Errors
    ///
    /// [`RunnerError::Refused`].
    pub async fn run(self, stop: CancellationToken) -> Result<(), RunnerError> {
        let Self { settings, sessions, _lock } = self;
        let tasks = TaskTracker::new();
        let (uplink, upstream) = Uplink::new();
        let shared = Arc::new(Shared {
            sockets: socket_dir(&settings),
            state_dir: settings.state_dir,
            sessions: Arc::new(sessions),
            running: Mutex::default(),
            uplink: uplink.clone(),
            relay: Relay::new(&settings.endpoint),
            guard: Guard::new(settings.parts.clone()),
            parts: settings.parts,
            tasks: tasks.clone(),
        });
        let host = Host::open(&settings.profiles, shared);
        host.resume().await;
        let link = HostLink {
            client: dial::client(&settings.endpoint),
            enroll: link::enrolment(settings.instance_id, &settings.profiles),
            host: Arc::clone(&host),
            upstream,
        };
        let mut linked = tasks.spawn(link.run());
        let ended = tokio::select! {
            () = stop.cancelled() => Ok(()),
            ended = &mut linked => ended.unwrap_or(Ok(())).map_err(|status| refused(&status)),
        };
        host.close().await;
        // A server that is out of reach learns the end from the next status.
        let _ = tokio::time::timeout(LINGER, uplink.finish()).await;
        linked.abort();
        drop(host);
        tasks.close();
        let _ = tokio::time::timeout(LINGER, tasks.wait()).await;
        ended
    }
}

/// Checks that the system takes sockets of agents in a directory, without making one.
///
/// # Errors
///
/// What is wrong, with the path and the limit.
pub fn check_sockets(directory: &Path) -> Result<(), String> {
    // All accounts' ids have the same length.
    let account = AccountId::from_bytes([0; 16]).to_string();
    socket::check_length(&socket::path(directory, &account)).map_err(|error| error.to_string())
}

fn absolute(path: &Path) -> Result<PathBuf, RunnerError> {
    std::path::absolute(path).map_err(at(path))
}

fn socket_dir(settings: &Settings) -> PathBuf {
    settings.socket_dir.clone().unwrap_or_else(|| settings.state_dir.join("sockets"))
}

/// Makes a directory that is there already or nobody else reads. What agents of other users are to reach they pass
/// through; each has a folder of its own behind it.
fn directory(path: &Path, shared: bool) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    if shared {
        let mode = fs::metadata(path)?.permissions().mode() | 0o011;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RunnerError + use<> {
    let path = path.to_owned();
    move |source| RunnerError::Io { path, source }
}

fn refused(status: &tonic::Status) -> RunnerError {
    match calls::failure(status) {
        CallError::Refused { code, message } => RunnerError::Refused { code, message },
        CallError::Unreachable(message) | CallError::OutcomeUnknown(message) => {
            RunnerError::Refused { code: "aborted".to_owned(), message }
        }
    }
}
