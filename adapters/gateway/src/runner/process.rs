//! The process of an agent: started in a group of its own, read to its last line, ended with all it started.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use compass_runner::{Exit, LaunchProfile, ProfileDraft};
use nix::{sys::signal::Signal, unistd};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
    task::JoinHandle,
};
use tokio_util::task::TaskTracker;

use super::{child::kill_group, life::locked, lines::Lines};

/// How long a program has to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);
/// How long its last output has to come after its end.
const DRAIN: Duration = Duration::from_secs(5);
/// What the environment holds unless a profile lists names.
const PASSED: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];

/// How this program runs its parts.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The program's own file.
    pub program: PathBuf,
    /// Its arguments that lead to [`super::exec`]; the parent's id and the command follow.
    pub exec: Vec<String>,
    /// Its arguments that lead to [`super::guard`].
    pub guard: Vec<String>,
    /// Its arguments that lead to an agent core; what that is to speak and the command follow.
    pub core: Vec<String>,
}

/// Another user than the runner's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Owner {
    /// The runner's own user.
    pub(super) fn own() -> Self {
        Self { uid: unistd::geteuid().as_raw(), gid: unistd::getegid().as_raw() }
    }
}

/// Why a profile cannot be launched on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct LaunchError {
    /// The profile's field.
    pub field: &'static str,
    /// What is wrong.
    pub reason: String,
}

/// A profile with everything this machine says about it.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) owner: Option<Owner>,
    environment: Vec<(OsString, OsString)>,
}

/// Checks that a profile can be launched on this machine, without launching it.
///
/// # Errors
///
/// [`LaunchError`] that names the field.
pub fn check(profile: &LaunchProfile) -> Result<(), LaunchError> {
    Launch::of(profile).map(drop)
}

impl Launch {
    pub(super) fn of(profile: &LaunchProfile) -> Result<Self, LaunchError> {
        let draft = profile.launch();
        let user = user(draft)?;
        let wrong = |field, reason| Err(LaunchError { field, reason });
        if !draft.directory.is_dir() {
            return wrong("directory", format!("{} is not a directory", draft.directory.display()));
        }
        let environment = environment(draft, user.as_ref());
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
        if !resolves(&draft.command, &draft.directory, path) {
            return wrong("command", format!("{:?} is not a program that can be run", draft.command));
        }
        let owner = user.map(|user| Owner { uid: user.uid.as_raw(), gid: user.gid.as_raw() });
        Ok(Self { owner, environment })
    }
}

/// The user of a profile, if it is another one than the runner's.
fn user(draft: &ProfileDraft) -> Result<Option<unistd::User>, LaunchError> {
    let Some(name) = draft.user.as_deref() else { return Ok(None) };
    let wrong = |reason| LaunchError { field: "user", reason };
    let found = unistd::User::from_name(name)
        .map_err(|error| wrong(format!("{name:?} cannot be looked up: {error}")))?
        .ok_or_else(|| wrong(format!("there is no user {name:?}")))?;
    let own = unistd::geteuid();
    if found.uid == own {
        return Ok(None);
    }
    if !own.is_root() {
        let reason = format!("{name:?} is another user than the runner's, which only root may do");
        return Err(wrong(reason));
    }
    Ok(Some(found))
}

fn environment(draft: &ProfileDraft, user: Option<&unistd::User>) -> Vec<(OsString, OsString)> {
    let default: Vec<String> = PASSED.iter().map(ToString::to_string).collect();
    let names = if draft.env.is_empty() { &default } else { &draft.env };
    let mut environment: Vec<(OsString, OsString)> =
        names.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
    if let Some(user) = user {
        environment.retain(|(name, _)| name != "HOME");
        let own =
            [("HOME", user.dir.as_os_str()), ("USER", user.name.as_ref()), ("LOGNAME", user.name.as_ref())];
        environment.extend(own.map(|(name, value)| (name.into(), value.to_owned())));
    }
    environment.retain(|(name, _)| !name.to_str().is_some_and(|name| draft.set.contains_key(name)));
    environment.extend(draft.set.iter().map(|(name, value)| (name.into(), value.into())));
    environment
}

fn resolves(command: &str, directory: &Path, path: Option<&OsStr>) -> bool {
    let runs = |file: &Path| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if command.contains('/') {
        return runs(&directory.join(command));
    }
    path.is_some_and(|path| std::env::split_paths(path).any(|folder| runs(&folder.join(command))))
}

/// A running program.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: i32,
    drains: Vec<JoinHandle<()>>,
    guard: Arc<Guard>,
}

/// Where a program finds its core.
pub(super) struct CoreAt<'a> {
    pub(super) socket: &'a Path,
    pub(super) state_dir: &'a Path,
}

impl Process {
    /// Starts the program of a profile.
    pub(super) fn start(
        profile: &LaunchProfile,
        launch: &Launch,
        core: &CoreAt<'_>,
        parts: &Parts,
        guard: &Arc<Guard>,
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        let draft = profile.launch();
        let mut command = Command::new(&parts.program);
        command.args(&parts.exec).arg(std::process::id().to_string()).arg("--");
        if let Some(speaks) = draft.harness.core() {
            command.arg(&parts.program).args(&parts.core).arg(speaks).arg("--");
        }
        command.arg(&draft.command).args(&draft.args);
        command.env_clear().envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command
            .env("COMPASS_AGENT_SOCKET", core.socket)
            .env("COMPASS_AGENT_STATE_DIR", core.state_dir)
            .env("COMPASS_AGENT_ACCOUNT_ID", profile.account().to_string());
        command.current_dir(&draft.directory).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(owner) = launch.owner {
            command.uid(owner.uid).gid(owner.gid);
        }
        let mut child = command.spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let group = group.ok_or_else(|| io::Error::other("the program ended before it had an id"))?;
        guard.note(group);
        let mut drains = Vec::new();
        if let Some(out) = child.stdout.take() {
            drains.push(tasks.spawn(drain(out, draft.name.clone(), "stdout")));
        }
        if let Some(out) = child.stderr.take() {
            drains.push(tasks.spawn(drain(out, draft.name.clone(), "stderr")));
        }
        Ok(Self { child, group, drains, guard: Arc::clone(guard) })
    }

    /// Waits for the program's end; may be dropped and called again.
    pub(super) async fn ended(&mut self) -> Exit {
        exit(self.child.wait().await)
    }

    /// Asks the program to end, waits a while, then kills all of its group; reaps and reads to the end.
    pub(super) async fn stop(mut self) {
        self.signal(Signal::SIGTERM);
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            tracing::warn!(group = self.group, "a program did not end when asked and is killed");
            self.signal(Signal::SIGKILL);
        }
        self.clean_up().await;
    }

    /// Ends what the program left behind when it ended by itself.
    pub(super) async fn clean_up(mut self) {
        self.signal(Signal::SIGKILL);
        if let Err(error) = self.child.wait().await {
            tracing::warn!(group = self.group, %error, "a program was not reaped");
        }
        self.guard.forget(self.group);
        let deadline = tokio::time::Instant::now() + DRAIN;
        for mut drain in self.drains.drain(..) {
            // Who left the group and keeps the pipe open is not waited for.
            if tokio::time::timeout_at(deadline, &mut drain).await.is_err() {
                drain.abort();
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let Err(error) = kill_group(self.group, signal) {
            tracing::warn!(group = self.group, %error, "a program was not signalled");
        }
    }
}

fn exit(status: io::Result<ExitStatus>) -> Exit {
    match status {
        Ok(status) if status.success() => Exit::Success,
        Ok(status) => Exit::Failure(format!("it ended with {status}")),
        Err(error) => Exit::Failure(format!("its end cannot be seen: {error}")),
    }
}

async fn drain(mut out: impl AsyncRead + Unpin, agent: String, stream: &'static str) {
    let mut lines = Lines::default();
    let mut tell = |line: &str| tracing::info!(agent, stream, "{line}");
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match out.read(&mut buffer).await {
            Ok(0) => break,
            Ok(read) => lines.take(buffer.get(..read).unwrap_or_default(), &mut tell),
            Err(error) => {
                tracing::warn!(agent, stream, %error, "output was lost");
                break;
            }
        }
    }
    lines.finish(&mut tell);
}

/// The process that ends the groups of a runner which was killed.
#[derive(Debug)]
pub(super) struct Guard {
    parts: Parts,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    groups: std::collections::BTreeSet<i32>,
    process: Option<std::process::Child>,
}

impl Guard {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self { parts, noted: Mutex::default() })
    }

    fn note(&self, group: i32) {
        let mut noted = locked(&self.noted);
        noted.groups.insert(group);
        self.tell(&mut noted, &format!("+{group}\n"));
    }

    fn forget(&self, group: i32) {
        let mut noted = locked(&self.noted);
        noted.groups.remove(&group);
        self.tell(&mut noted, &format!("-{group}\n"));
    }

    /// Tells the process; a new one is started, and told everything, if there is none that listens.
    fn tell(&self, noted: &mut Noted, line: &str) {
        if say(noted.process.as_mut(), line).is_ok() {
            return;
        }
        if let Some(mut gone) = noted.process.take() {
            let _ = gone.kill();
            let _ = gone.wait();
        }
        let all = noted.groups.iter().fold(String::new(), |all, group| all + "+" + &group.to_string() + "\n");
        let started = self.start().and_then(|mut process| {
            say(Some(&mut process), &all)?;
            Ok(process)
        });
        match started {
            Ok(process) => noted.process = Some(process),
            Err(error) => tracing::error!(
                %error,
                "without a guard, what agents start themselves may outlive a runner that is killed"
            ),
        }
    }

    fn start(&self) -> io::Result<std::process::Child> {
        use std::os::unix::process::CommandExt as _;
        let mut command = std::process::Command::new(&self.parts.program);
        command.args(&self.parts.guard).env_clear();
        // A signal of the terminal is for the runner, which ends its agents and then its guard.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut noted = locked(&self.noted);
        if let Some(mut process) = noted.process.take() {
            drop(process.stdin.take());
            let _ = process.wait();
        }
    }
}

fn say(process: Option<&mut std::process::Child>, line: &str) -> io::Result<()> {
    let stdin = process.and_then(|process| process.stdin.as_mut());
    let stdin = stdin.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
    stdin.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use compass_runner::Profiles;

    use super::*;

    fn profile(edit: impl FnOnce(&mut ProfileDraft)) -> LaunchProfile {
        let mut draft = ProfileDraft {
            account_id: "a".repeat(32),
            name: "a".into(),
            command: "sh".into(),
            directory: "/".into(),
            ..ProfileDraft::default()
        };
        edit(&mut draft);
        Profiles::new(vec![draft]).unwrap().iter().next().unwrap().clone()
    }

    #[test]
    fn a_profile_that_cannot_run_here_says_which_field() {
        type Edit = fn(&mut ProfileDraft);
        let cases: [(Edit, &str); 4] = [
            (|draft| draft.command = "surely-no-such-program".into(), "command"),
            (|draft| draft.command = "/etc/passwd".into(), "command"),
            (|draft| draft.directory = "/surely/no/such/place".into(), "directory"),
            (|draft| draft.user = Some("surely-nobody".into()), "user"),
        ];
        for (edit, field) in cases {
            assert_eq!(check(&profile(edit)).unwrap_err().field, field);
        }
        assert_eq!(check(&profile(|_| {})), Ok(()));
    }

    #[test]
    fn b34_an_agent_gets_what_is_listed_and_what_is_set_and_nothing_else() {
        let listed = profile(|draft| {
            draft.env = vec!["PATH".into(), "SURELY_NOT_SET".into()];
            draft.set = BTreeMap::from([("MODE".to_owned(), "quiet".to_owned())]);
        });
        let names: Vec<_> = environment(listed.launch(), None).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "MODE"]);
        let replaced = profile(|draft| drop(draft.set.insert("PATH".into(), "/only".into())));
        let path: Vec<_> =
            environment(replaced.launch(), None).into_iter().filter(|(name, _)| name == "PATH").collect();
        assert_eq!(path, [("PATH".into(), "/only".into())]);
    }

    #[test]
    fn b34_another_user_has_a_home_of_its_own() {
        let user = unistd::User::from_name("root").unwrap().unwrap();
        let environment = environment(profile(|_| {}).launch(), Some(&user));
        let homes: Vec<_> = environment.iter().filter(|(name, _)| name == "HOME").collect();
        assert_eq!(homes, [&(OsString::from("HOME"), user.dir.clone().into_os_string())]);
        assert!(environment.contains(&("USER".into(), "root".into())));
    }
}
