//! `compass doctor`: what the server finds wrong with itself, and what is unsafe on this machine.

use std::path::Path;

use compass_client::operator::{Diagnosis, Finding};

use super::context::Context;
use crate::{
    config::{self, Connection},
    directory::Directory,
    failure::Failure,
    output, render,
};

/// Options of `compass doctor`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    connection: Connection,
}

/// Asks the server and looks at this machine's files.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let found = context.client.diagnose().await?;
    if shares_a_user(&config::login_path()?, &config::state_dir()?) {
        output::remark(
            "agents on this machine run as the user whose saved login this is, so they can read it and act as that \
             person; give runners a user of their own",
        );
    }
    if context.out.is_json() {
        context.out.json(&found)?;
    } else {
        let names = Directory::load(&context.client).await?;
        for finding in &found.findings {
            context.out.line(&line(finding, |account| names.account(account)))?;
        }
    }
    verdict(&found, |text| if context.out.is_json() { Ok(()) } else { context.out.line(text) })
}

fn line(finding: &Finding, name: impl Fn(&str) -> String) -> String {
    let agent = finding.account_id.as_deref().map(|account| format!("  {}", name(account)));
    format!("{}{}  {}", finding.kind, agent.unwrap_or_default(), render::line(&finding.text))
}

/// Nothing wrong ends well; anything else ends the program with code 1.
fn verdict(found: &Diagnosis, say: impl FnOnce(&str) -> Result<(), Failure>) -> Result<(), Failure> {
    match found.findings.len() {
        0 => say(&format!("nothing is wrong; {} messages were examined", found.examined_messages)),
        1 => Err(Failure::Findings("1 finding".to_owned())),
        number => Err(Failure::Findings(format!("{number} findings"))),
    }
}

/// True if a login is saved and agents keep files here that belong to the same user.
#[cfg(unix)]
fn shares_a_user(login: &Path, state: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = |path: &Path| std::fs::metadata(path).ok().map(|found| found.uid());
    match (owner(login), owner(&state.join("agents"))) {
        (Some(login), Some(agents)) => login == agents,
        _ => false,
    }
}

/// True if a login is saved and agents keep files here.
#[cfg(not(unix))]
fn shares_a_user(login: &Path, state: &Path) -> bool {
    login.exists() && state.join("agents").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(account: Option<&str>) -> Finding {
        Finding {
            kind: "failing_wake",
            text: "2 starts on runner \u{1b}[31mnorth failed".to_owned(),
            account_id: account.map(str::to_owned),
            message_id: None,
        }
    }

    #[test]
    fn a_finding_is_one_safe_line() {
        let shown = line(&finding(Some("a")), |_| "@bot".to_owned());
        assert!(shown.starts_with("failing_wake  @bot  2 starts"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(line(&finding(None), |_| unreachable!()).starts_with("failing_wake  2 starts"));
    }

    #[test]
    fn only_a_clean_bill_ends_with_code_0() {
        let clean = Diagnosis { findings: Vec::new(), examined_messages: 3 };
        let mut said = String::new();
        let say = |text: &str| {
            text.clone_into(&mut said);
            Ok(())
        };
        verdict(&clean, say).unwrap();
        assert!(said.contains('3'), "{said}");
        let ill = Diagnosis { findings: vec![finding(None)], examined_messages: 3 };
        let failure = verdict(&ill, |_| unreachable!()).unwrap_err();
        assert_eq!((failure.code(), failure.to_string().as_str()), (1, "1 finding"));
    }

    #[test]
    fn a_login_beside_agents_of_the_same_user_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (login, state) = (dir.path().join("login.toml"), dir.path().join("state"));
        assert!(!shares_a_user(&login, &state));
        std::fs::write(&login, "").unwrap();
        assert!(!shares_a_user(&login, &state));
        std::fs::create_dir_all(state.join("agents")).unwrap();
        assert!(shares_a_user(&login, &state));
    }
}
