//! Launch profiles: which program is an agent, and how it is run. Checked once, when they are made.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
};

use compass_domain::AccountId;

use crate::RestartPolicy;

/// Environment names below this prefix are the runner's to set.
pub const CORE_PREFIX: &str = "COMPASS_AGENT_";
/// The runner's own token; no agent gets it.
const TOKEN: &str = "COMPASS_TOKEN";
/// Code points of a profile's name.
const NAME: usize = 64;
/// The most restarts in a row.
const RESTARTS: u32 = 1000;

/// What speaks for the agent's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HarnessKind {
    /// The program speaks JSON lines on its standard input and output, to an agent core beside it.
    #[default]
    JsonLines,
    /// The program is an agent of the Agent Client Protocol, with an agent core as its client.
    Acp,
    /// The program speaks with the runner's socket by itself.
    Socket,
}

impl HarnessKind {
    /// What the agent core between the program and the socket is told to speak; none if there is no core.
    pub fn core(self) -> Option<&'static str> {
        match self {
            Self::JsonLines => Some("json-lines"),
            Self::Acp => Some("acp"),
            Self::Socket => None,
        }
    }
}

/// What wakes a sleeping agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WakePolicy {
    /// A mention, an answer to an ask of its own, its home channel or a direct conversation.
    #[default]
    Mention,
    /// Everything it is delivered.
    Any,
    /// Nothing.
    Never,
}

/// A profile as it was written.
#[derive(Debug, Clone, Default)]
pub struct ProfileDraft {
    /// 32 lower-case hexadecimal digits.
    pub account_id: String,
    /// What the runner's log calls the agent.
    pub name: String,
    /// A path, or a name to look for in the `PATH` the agent gets.
    pub command: String,
    /// What the command is given.
    pub args: Vec<String>,
    /// Which user runs it; the runner's own if absent.
    pub user: Option<String>,
    /// Where it runs; an absolute path.
    pub directory: PathBuf,
    /// Names of the runner's environment that are passed on.
    pub env: Vec<String>,
    /// Environment that is set.
    pub set: BTreeMap<String, String>,
    /// When it is launched again.
    pub restart: RestartPolicy,
    /// Restarts in a row before the session is given up.
    pub restart_limit: u32,
    /// What wakes it.
    pub wake: WakePolicy,
    /// What speaks for it.
    pub harness: HarnessKind,
}

/// A profile that can be launched.
#[derive(Debug, Clone)]
pub struct LaunchProfile {
    account: AccountId,
    draft: ProfileDraft,
}

/// Which profile cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct ProfileError {
    /// Place of the profile among its siblings, from 0.
    pub index: usize,
    /// The field.
    pub field: &'static str,
    /// What is wrong, with the actual value.
    pub reason: String,
}

/// The profiles of one runner, one for each account.
#[derive(Debug, Clone, Default)]
pub struct Profiles {
    by_account: HashMap<AccountId, LaunchProfile>,
    order: Vec<AccountId>,
}

impl LaunchProfile {
    /// The agent.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// How to launch it.
    pub fn launch(&self) -> &ProfileDraft {
        &self.draft
    }
}

impl Profiles {
    /// Checks profiles.
    ///
    /// # Errors
    ///
    /// [`ProfileError`] of the first profile and field that cannot be used.
    pub fn new(drafts: Vec<ProfileDraft>) -> Result<Self, ProfileError> {
        let mut profiles = Self::default();
        let mut names = BTreeSet::new();
        for (index, draft) in drafts.into_iter().enumerate() {
            let wrong = |field, reason| ProfileError { index, field, reason };
            let account = check(&draft).map_err(|(field, reason)| wrong(field, reason))?;
            if profiles.by_account.contains_key(&account) {
                return Err(wrong("account_id", format!("{account} has another profile too")));
            }
            if !names.insert(draft.name.clone()) {
                return Err(wrong("name", format!("{:?} is the name of another agent too", draft.name)));
            }
            profiles.by_account.insert(account, LaunchProfile { account, draft });
            profiles.order.push(account);
        }
        Ok(profiles)
    }

    /// The profile of an agent.
    pub fn of(&self, account: AccountId) -> Option<&LaunchProfile> {
        self.by_account.get(&account)
    }

    /// All profiles, in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = &LaunchProfile> {
        self.order.iter().filter_map(|account| self.by_account.get(account))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

type Wrong = (&'static str, String);

fn check(draft: &ProfileDraft) -> Result<AccountId, Wrong> {
    let id = &draft.account_id;
    let account = id.parse::<AccountId>().map_err(|error| ("account_id", format!("{id:?}: {error}")))?;
    let length = draft.name.chars().count();
    if length == 0 || length > NAME {
        return Err(("name", format!("needs 1 to {NAME} characters, has {length}")));
    }
    if draft.name.chars().any(char::is_control) {
        return Err(("name", format!("{:?} has control characters", draft.name)));
    }
    if draft.command.is_empty() {
        return Err(("command", "is empty".to_owned()));
    }
    no_nul("command", &draft.command)?;
    draft.args.iter().try_for_each(|arg| no_nul("args", arg))?;
    if draft.user.as_deref() == Some("") {
        return Err(("user", "is empty; leave it out for the runner's own user".to_owned()));
    }
    if !draft.directory.is_absolute() {
        return Err(("directory", format!("{} is not an absolute path", draft.directory.display())));
    }
    draft.env.iter().try_for_each(|name| environment_name("env", name))?;
    for (name, value) in &draft.set {
        environment_name("set", name)?;
        no_nul("set", value)?;
    }
    if draft.restart_limit > RESTARTS {
        return Err(("restart_limit", format!("{} is more than {RESTARTS}", draft.restart_limit)));
    }
    Ok(account)
}

fn environment_name(field: &'static str, name: &str) -> Result<(), Wrong> {
    if name.is_empty() || name.contains('=') {
        return Err((field, format!("{name:?} is not the name of a variable")));
    }
    no_nul(field, name)?;
    if name == TOKEN || name.starts_with(CORE_PREFIX) {
        return Err((field, format!("{name} is the runner's and cannot be passed or set")));
    }
    Ok(())
}

fn no_nul(field: &'static str, text: &str) -> Result<(), Wrong> {
    if text.contains('\0') { Err((field, format!("{text:?} holds a NUL character"))) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(id: char) -> ProfileDraft {
        ProfileDraft {
            account_id: String::from(id).repeat(32),
            name: format!("agent {id}"),
            command: "run".into(),
            directory: "/".into(),
            restart_limit: 5,
            ..ProfileDraft::default()
        }
    }

    #[test]
    fn profiles_are_found_by_account_and_keep_their_order() {
        let profiles = Profiles::new(vec![draft('b'), draft('a')]).unwrap();
        let names: Vec<_> = profiles.iter().map(|profile| profile.launch().name.as_str()).collect();
        assert_eq!(names, ["agent b", "agent a"]);
        let account = "a".repeat(32).parse().unwrap();
        assert_eq!(profiles.of(account).unwrap().account(), account);
        assert!(profiles.of("c".repeat(32).parse().unwrap()).is_none());
    }

    #[test]
    fn an_error_names_the_profile_the_field_and_the_value() {
        type Edit = fn(&mut ProfileDraft);
        let cases: [(Edit, &str, &str); 14] = [
            (|draft| draft.account_id = "A1".into(), "account_id", "\"A1\""),
            (|draft| draft.account_id = "../etc/passwd".into(), "account_id", "passwd"),
            (|draft| draft.name = String::new(), "name", "has 0"),
            (|draft| draft.name = "x".repeat(65), "name", "has 65"),
            (|draft| draft.name = "a\nb".into(), "name", "control"),
            (|draft| draft.command = String::new(), "command", "empty"),
            (|draft| draft.args = vec!["a\0".into()], "args", "NUL"),
            (|draft| draft.user = Some(String::new()), "user", "empty"),
            (|draft| draft.directory = "work".into(), "directory", "work is not"),
            (|draft| draft.env = vec!["A=B".into()], "env", "A=B"),
            (|draft| draft.env = vec!["COMPASS_TOKEN".into()], "env", "COMPASS_TOKEN"),
            (|draft| drop(draft.set.insert("COMPASS_AGENT_SOCKET".into(), "x".into())), "set", "runner's"),
            (|draft| drop(draft.set.insert("A".into(), "\0".into())), "set", "NUL"),
            (|draft| draft.restart_limit = 1001, "restart_limit", "1001"),
        ];
        for (edit, field, value) in cases {
            let mut wrong = draft('b');
            edit(&mut wrong);
            let error = Profiles::new(vec![draft('a'), wrong]).unwrap_err();
            assert_eq!((error.index, error.field), (1, field), "{error}");
            assert!(error.to_string().contains(value), "{error}");
        }
    }

    #[test]
    fn accounts_and_names_are_unique() {
        let error = Profiles::new(vec![draft('a'), ProfileDraft { name: "other".into(), ..draft('a') }]);
        assert_eq!(error.unwrap_err().field, "account_id");
        let error = Profiles::new(vec![draft('a'), ProfileDraft { name: "agent a".into(), ..draft('b') }]);
        assert_eq!(error.unwrap_err().field, "name");
    }
}
