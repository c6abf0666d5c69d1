//! Where a command finds the server and who it acts as: flags, environment, saved login, defaults.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use compass_client::Client;
use directories::ProjectDirs;
use serde::{Deserialize, Serialize};

use crate::{defaults, failure::Failure};

/// Options of every command that talks to a server.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Connection {
    #[arg(
        long,
        env = "COMPASS_URL",
        value_name = "URL",
        help = format!("Address of the server [default: that of the saved login, else {}]", defaults::URL)
    )]
    pub(crate) url: Option<String>,
    /// Token to act with [default: that of the saved login]
    #[arg(long, env = "COMPASS_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Print JSON, one value a line [default: text]
    #[arg(long)]
    pub(crate) json: bool,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("url", &self.url).field("json", &self.json).finish_non_exhaustive()
    }
}

/// The saved login; the file is readable by its owner only.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// The server the tokens are of; they are sent nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The person's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    /// The agent that commands of agents act as unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// Tokens of agents, by handle.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) agents: BTreeMap<String, String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("url", &self.url).field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// What holds for one command.
#[derive(Clone)]
pub(crate) struct Config {
    /// Address of the server.
    pub(crate) url: String,
    token: Option<String>,
    login: Login,
    path: PathBuf,
}

impl Config {
    /// Merges flags and environment (which clap has merged already) with the saved login and the defaults.
    pub(crate) fn load(connection: &Connection) -> Result<Self, Failure> {
        Self::load_from(connection, login_path()?)
    }

    fn load_from(connection: &Connection, path: PathBuf) -> Result<Self, Failure> {
        let login = read_login(&path)?;
        let url = filled(connection.url.as_deref())
            .or_else(|| login.url.clone())
            .unwrap_or_else(|| defaults::URL.to_owned());
        let given = filled(connection.token.as_deref());
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { url, token: given, login, path })
    }

    /// Connects as the person, or as whoever the given token belongs to.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let token = self.token.as_deref().or_else(|| self.saved_person());
        let Some(token) = token else {
            return Err(Failure::Usage(format!("no login for {}; run `compass login` first", self.url)));
        };
        Ok(Client::connect(&self.url, Some(token)).await?)
    }

    /// Connects without a token, for signing in.
    pub(crate) async fn anonymous(&self) -> Result<Client, Failure> {
        Ok(Client::connect(&self.url, None).await?)
    }

    /// The token given by flag or environment.
    pub(crate) fn given_token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The person's saved token for this server.
    pub(crate) fn saved_person(&self) -> Option<&str> {
        self.saved(self.login.token.as_deref())
    }

    /// The saved agent to act as: the wanted one, else the default one, with its token if there is one.
    pub(crate) fn agent(&self, wanted: Option<&str>) -> Option<(String, Option<String>)> {
        let handle = filled(wanted).or_else(|| self.login.agent.clone())?;
        let token = self.saved(self.login.agents.get(&handle).map(String::as_str)).map(str::to_owned);
        Some((handle, token))
    }

    /// Saves the person's token for this server; tokens of another server are forgotten.
    pub(crate) fn save_person(&mut self, token: &str) -> Result<&Path, Failure> {
        self.save(|login| login.token = Some(token.to_owned()))
    }

    /// Saves an agent's token for this server; the first one becomes the default agent.
    pub(crate) fn save_agent(&mut self, handle: &str, token: &str) -> Result<&Path, Failure> {
        self.save(|login| {
            login.agents.insert(handle.to_owned(), token.to_owned());
            login.agent.get_or_insert_with(|| handle.to_owned());
        })
    }

    /// Changes the login as it is now: other processes may have saved tokens since it was loaded.
    fn save(&mut self, change: impl FnOnce(&mut Login)) -> Result<&Path, Failure> {
        let _locked = lock(&self.path)?;
        self.login = read_login(&self.path)?;
        if self.login.url.as_deref() != Some(self.url.as_str()) {
            self.login = Login { url: Some(self.url.clone()), ..Login::default() };
        }
        change(&mut self.login);
        write_login(&self.path, &self.login)?;
        Ok(&self.path)
    }

    /// A saved token is only for the server it came from.
    fn saved<'a>(&self, token: Option<&'a str>) -> Option<&'a str> {
        token.filter(|_| self.login.url.as_deref() == Some(self.url.as_str()))
    }
}

/// The directory the server keeps its data in unless told otherwise.
pub(crate) fn data_dir() -> Result<PathBuf, Failure> {
    Ok(project()?.data_dir().to_owned())
}

/// The directory of what agents on this machine must not forget.
pub(crate) fn state_dir() -> Result<PathBuf, Failure> {
    let project = project()?;
    Ok(project.state_dir().unwrap_or_else(|| project.data_local_dir()).to_owned())
}

/// Reads a sign-in secret or a token from a file.
pub(crate) fn read_secret(path: &Path) -> Result<String, Failure> {
    let fail = |error: &dyn fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
    let secret = fs::read_to_string(path).map_err(|error| fail(&error))?.trim().to_owned();
    if secret.is_empty() { Err(fail(&"there is no secret in it")) } else { Ok(secret) }
}

/// Where the login is saved.
pub(crate) fn login_path() -> Result<PathBuf, Failure> {
    Ok(project()?.config_dir().join(defaults::LOGIN_FILE))
}

fn project() -> Result<ProjectDirs, Failure> {
    ProjectDirs::from("", "", defaults::PROGRAM)
        .ok_or_else(|| Failure::Local("no home directory; set HOME".to_owned()))
}

fn filled(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn read_login(path: &Path) -> Result<Login, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Login::default()),
        Err(error) => return Err(Failure::Local(format!("{}: {error}", path.display()))),
    };
    refuse_shared(path)?;
    toml::from_str(&text).map_err(|error| {
        // The parser's long form quotes the line, which may hold a token.
        Failure::Usage(format!("{}: {}", path.display(), error.message()))
    })
}

/// Keeps every other process from changing the login until the file is dropped.
fn lock(path: &Path) -> Result<fs::File, Failure> {
    let parent =
        path.parent().ok_or_else(|| Failure::Local(format!("{}: it has no directory", path.display())))?;
    create_private_dir(parent).map_err(|error| Failure::Local(format!("{}: {error}", parent.display())))?;
    let path = path.with_extension("lock");
    let fail = |error: std::io::Error| Failure::Local(format!("{}: {error}", path.display()));
    let file = fs::File::options().write(true).create(true).truncate(false).open(&path).map_err(fail)?;
    file.lock().map_err(fail)?;
    Ok(file)
}

fn write_login(path: &Path, login: &Login) -> Result<(), Failure> {
    let fail = |error: &dyn fmt::Display| Failure::Local(format!("{}: {error}", path.display()));
    let text = toml::to_string(login).map_err(|error| fail(&error))?;
    let parent = path.parent().ok_or_else(|| fail(&"it has no directory"))?;
    // Temporary files are made with mode 0600 and renamed, so no reader ever sees half a login.
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(|error| fail(&error))?;
    file.write_all(text.as_bytes()).map_err(|error| fail(&error))?;
    file.as_file().sync_all().map_err(|error| fail(&error))?;
    file.persist(path).map_err(|error| fail(&error))?;
    Ok(())
}

#[cfg(unix)]
fn create_private_dir(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private_dir(path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(path)
}

fn refuse_shared(path: &Path) -> Result<(), Failure> {
    sharing(path)?.map_or(Ok(()), |remark| Err(Failure::Usage(remark)))
}

/// A remark if others may read a file.
///
/// # Errors
///
/// The file's mode cannot be read.
#[cfg(unix)]
pub(crate) fn sharing(path: &Path) -> std::io::Result<Option<String>> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = fs::metadata(path)?;
    let mode = found.permissions().mode() & 0o777;
    if mode.trailing_zeros() >= 6 || !found.is_file() {
        return Ok(None);
    }
    let shown = path.display();
    Ok(Some(format!("{shown} has mode {mode:04o}, others may read it; run `chmod 600 {shown}`")))
}

#[cfg(not(unix))]
pub(crate) fn sharing(_: &Path) -> std::io::Result<Option<String>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(url: &str, token: &str) -> Connection {
        Connection { url: Some(url.into()), token: Some(token.into()), json: false }
    }

    fn load(directory: &tempfile::TempDir, connection: &Connection) -> Result<Config, Failure> {
        Config::load_from(connection, directory.path().join("compass/login.toml"))
    }

    #[test]
    fn without_anything_the_default_address_holds() {
        let directory = tempfile::tempdir().unwrap();
        let config = load(&directory, &connection("", " ")).unwrap();
        assert_eq!((config.url.as_str(), config.given_token()), (defaults::URL, None));
    }

    #[test]
    fn a_saved_token_goes_to_its_own_server_only() {
        let directory = tempfile::tempdir().unwrap();
        let mut config = load(&directory, &connection("http://one", "")).unwrap();
        config.save_person("secret").unwrap();
        config.save_agent("bot", "bot-secret").unwrap();
        let same = load(&directory, &Connection::default()).unwrap();
        assert_eq!(same.url, "http://one");
        assert_eq!(same.saved(same.login.token.as_deref()), Some("secret"));
        assert_eq!(same.agent(None), Some(("bot".into(), Some("bot-secret".into()))));
        let mut other = load(&directory, &connection("http://two", "")).unwrap();
        assert_eq!(other.saved(other.login.token.as_deref()), None);
        assert_eq!(other.agent(Some("bot")), Some(("bot".into(), None)));
        other.save_person("two").unwrap();
        let two = load(&directory, &Connection::default()).unwrap();
        assert_eq!((two.url.as_str(), two.login.agents.len()), ("http://two", 0));
    }

    #[test]
    fn what_several_processes_save_at_once_is_all_kept() {
        for _ in 0..20 {
            let directory = tempfile::tempdir().unwrap();
            let barrier = std::sync::Barrier::new(8);
            std::thread::scope(|scope| {
                for number in 0..8 {
                    let mut config = load(&directory, &connection("http://one", "")).unwrap();
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        config.save_agent(&format!("bot{number}"), "secret").unwrap();
                    });
                }
            });
            let login = load(&directory, &connection("http://one", "")).unwrap().login;
            assert_eq!(login.agents.len(), 8);
        }
    }

    #[test]
    fn flags_win_over_the_saved_login() {
        let directory = tempfile::tempdir().unwrap();
        load(&directory, &connection("http://one/", "")).unwrap().save_person("secret").unwrap();
        let config = load(&directory, &connection("http://one", "given")).unwrap();
        assert_eq!(config.given_token(), Some("given"));
        assert_eq!(config.login.url.as_deref(), Some("http://one"));
    }

    #[test]
    fn an_unknown_key_is_refused_without_quoting_the_file() {
        let directory = tempfile::tempdir().unwrap();
        load(&directory, &connection("http://one", "")).unwrap().save_person("x").unwrap();
        let path = directory.path().join("compass/login.toml");
        fs::write(&path, "tokem = \"secret\"\n").unwrap();
        let failure = load(&directory, &Connection::default()).err().unwrap();
        let text = failure.to_string();
        assert!(text.contains("tokem") && !text.contains("secret"), "{text}");
        assert_eq!(failure.code(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn the_login_is_its_owners_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        load(&directory, &connection("http://one", "")).unwrap().save_person("x").unwrap();
        let path = directory.path().join("compass/login.toml");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(load(&directory, &Connection::default()).err().unwrap().to_string().contains("chmod 600"));
    }
}
