//! A runner's configuration: read, checked, and told about by file, table and field.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use compass_runner::{HarnessKind, ProfileDraft, Profiles, RestartPolicy, WakePolicy};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Restarts in a row before a session is given up, unless the profile says otherwise.
const RESTARTS: u32 = 10;

/// What a file says.
#[derive(Debug)]
pub(super) struct Configuration {
    pub(super) socket_dir: Option<PathBuf>,
    pub(super) profiles: Profiles,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    socket_dir: Option<PathBuf>,
    #[serde(default)]
    agent: Vec<Agent>,
}

/// One `[[agent]]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    pub(super) account_id: String,
    pub(super) name: String,
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    pub(super) directory: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) env: Vec<String>,
    #[serde(default)]
    pub(super) restart: Restart,
    #[serde(default = "restarts")]
    pub(super) restart_limit: u32,
    #[serde(default)]
    pub(super) wake: Wake,
    #[serde(default)]
    pub(super) harness: Harness,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) set: BTreeMap<String, String>,
}

/// When a program is launched again.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Restart {
    /// Never.
    Never,
    /// If it failed.
    #[default]
    OnFailure,
    /// Whenever it ended.
    Always,
}

/// What wakes an agent that has no session.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wake {
    /// A mention, an answer, its home channel, a direct conversation.
    #[default]
    Mention,
    /// Every message it gets.
    Any,
    /// Nothing.
    Never,
}

/// What the program speaks.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Harness {
    /// JSON lines on standard input and output.
    #[default]
    JsonLines,
    /// The Agent Client Protocol on standard input and output.
    Acp,
    /// The runner's socket, by itself.
    Socket,
}

fn restarts() -> u32 {
    RESTARTS
}

impl Agent {
    /// An agent with everything that has a default left at it.
    pub(super) fn new(account_id: String, name: String, directory: PathBuf, command: String) -> Self {
        Self {
            account_id,
            name,
            command,
            args: Vec::new(),
            directory,
            user: None,
            env: Vec::new(),
            restart: Restart::default(),
            restart_limit: RESTARTS,
            wake: Wake::default(),
            harness: Harness::default(),
            set: BTreeMap::new(),
        }
    }
}

impl From<Agent> for ProfileDraft {
    fn from(agent: Agent) -> Self {
        Self {
            account_id: agent.account_id,
            name: agent.name,
            command: agent.command,
            args: agent.args,
            user: agent.user,
            directory: agent.directory,
            env: agent.env,
            set: agent.set,
            restart: match agent.restart {
                Restart::Never => RestartPolicy::Never,
                Restart::OnFailure => RestartPolicy::OnFailure,
                Restart::Always => RestartPolicy::Always,
            },
            restart_limit: agent.restart_limit,
            wake: match agent.wake {
                Wake::Mention => WakePolicy::Mention,
                Wake::Any => WakePolicy::Any,
                Wake::Never => WakePolicy::Never,
            },
            harness: match agent.harness {
                Harness::JsonLines => HarnessKind::JsonLines,
                Harness::Acp => HarnessKind::Acp,
                Harness::Socket => HarnessKind::Socket,
            },
        }
    }
}

/// Reads a configuration.
///
/// # Errors
///
/// [`Failure::Usage`] that names the file, the table and the field.
pub(super) fn read(path: &Path) -> Result<Configuration, Failure> {
    let text = fs::read_to_string(path).map_err(|error| at(path, &error))?;
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<Configuration, Failure> {
    let deserializer = toml::Deserializer::parse(text).map_err(|error| at(path, &error.message()))?;
    let file: File = serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let field = error.path().to_string();
        // The parser's long form quotes the line, which may hold a secret of an agent.
        let reason = error.into_inner().message().to_owned();
        if field == "." { at(path, &reason) } else { at(path, &format!("{field}: {reason}")) }
    })?;
    let drafts = file.agent.into_iter().map(ProfileDraft::from).collect();
    let profiles =
        Profiles::new(drafts).map_err(|error| wrong(path, error.index, error.field, &error.reason))?;
    Ok(Configuration { socket_dir: file.socket_dir, profiles })
}

/// Adds an agent at the end of a file, which is made if there is none; what was in it stays as it was.
///
/// # Errors
///
/// [`Failure::Usage`] if the file, with the agent, is not a configuration; it is left as it was.
pub(super) fn append(path: &Path, agent: &Agent) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Added<'a> {
        agent: [&'a Agent; 1],
    }
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(at(path, &error)),
    };
    let added = toml::to_string(&Added { agent: [agent] }).map_err(|error| at(path, &error))?;
    let gap = if before.is_empty() { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{end}{gap}{added}");
    parse(path, &text)?;
    let write = || -> io::Result<()> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(parent.unwrap_or(Path::new(".")))?;
        file.write_all(text.as_bytes())?;
        if let Ok(found) = fs::metadata(path) {
            file.as_file().set_permissions(found.permissions())?;
        }
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| Failure::Local(format!("{}: {error}", path.display())))
}

/// Names the file, the table and the field.
pub(super) fn wrong(path: &Path, index: usize, field: &str, reason: &str) -> Failure {
    at(path, &format!("agent[{index}].{field}: {reason}"))
}

pub(super) fn at(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("{}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
        socket_dir = "/run/compass"

        [[agent]]
        account_id = "0195e0c2a1b27c3d8e4f506172839405"
        name = "deploys"
        command = "./deploy-bot"
        args = ["--quiet"]
        directory = "/srv/deploys"
        user = "deploy"
        env = ["PATH", "LANG"]
        restart = "always"
        restart_limit = 3
        wake = "any"
        harness = "socket"
        set = { MODE = "careful" }

        [[agent]]
        account_id = "0195e0c2a1b27c3d8e4f506172839406"
        name = "reviews"
        command = "review"
        directory = "/srv"
        harness = "acp"
    "#;

    fn fails(text: &str) -> String {
        let failure = parse(Path::new("runner.toml"), text).unwrap_err();
        assert_eq!(failure.code(), 2);
        failure.to_string()
    }

    #[test]
    fn every_field_is_read_and_most_have_a_default() {
        let read = parse(Path::new("runner.toml"), WHOLE).unwrap();
        assert_eq!(read.socket_dir, Some("/run/compass".into()));
        let profiles: Vec<_> = read.profiles.iter().map(compass_runner::LaunchProfile::launch).collect();
        let [deploys, reviews] = profiles[..] else { panic!("{profiles:?}") };
        assert_eq!((deploys.restart, deploys.restart_limit), (RestartPolicy::Always, 3));
        assert_eq!((deploys.wake, deploys.harness), (WakePolicy::Any, HarnessKind::Socket));
        assert_eq!((deploys.set["MODE"].as_str(), deploys.user.as_deref()), ("careful", Some("deploy")));
        assert_eq!((reviews.restart, reviews.restart_limit), (RestartPolicy::OnFailure, RESTARTS));
        assert_eq!((reviews.wake, reviews.harness), (WakePolicy::Mention, HarnessKind::Acp));
    }

    #[test]
    fn the_example_of_the_documentation_is_read() {
        let page = include_str!("../../../../../docs/agents/runner.md");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let read = parse(Path::new("runner.md"), example).unwrap();
        let profile = read.profiles.iter().next().unwrap();
        assert_eq!(profile.launch().set["MODE"], "careful");
    }

    #[test]
    fn an_error_names_file_table_and_field() {
        for (from, to, place) in [
            ("\"always\"", "\"sometimes\"", "runner.toml: agent[0].restart: "),
            ("restart_limit = 3", "restart_limit = \"3\"", "runner.toml: agent[0].restart_limit: "),
            ("\"/srv\"", "\"srv\"", "runner.toml: agent[1].directory: "),
            ("9406", "9405", "runner.toml: agent[1].account_id: "),
            ("command = \"review\"", "", "runner.toml: agent[1]: "),
            ("user =", "usr =", "runner.toml: agent[0].usr: "),
            ("socket_dir", "sockets", "runner.toml: sockets: "),
        ] {
            let error = fails(&WHOLE.replace(from, to));
            assert!(error.starts_with(place), "{error}");
        }
    }

    #[test]
    fn an_error_quotes_no_line_of_the_file() {
        let error = fails(&WHOLE.replace("\"careful\" }", "\"careful\""));
        assert!(!error.contains("careful"), "{error}");
    }

    #[test]
    fn an_agent_is_added_behind_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runner.toml");
        let agent = |digit: char| {
            Agent::new(String::from(digit).repeat(32), digit.to_string(), "/".into(), "run".into())
        };
        append(&path, &agent('a')).unwrap();
        fs::write(&path, format!("# ours\n{}", fs::read_to_string(&path).unwrap())).unwrap();
        append(&path, &agent('b')).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# ours\n"), "{text}");
        let names: Vec<_> =
            read(&path).unwrap().profiles.iter().map(|profile| profile.launch().name.clone()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(append(&path, &agent('b')).unwrap_err().to_string().contains("agent[2].account_id"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
