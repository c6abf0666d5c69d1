//! `compass accounts`: the people and agents you can see.

use compass_client::model::{Account, AccountKind};

use super::context::Context;
use crate::{config::Connection, directory::Directory, failure::Failure, render, table};

/// Options of `compass accounts`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    connection: Connection,
}

/// Lists, by handle.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let accounts = context.client.accounts().await?;
    if context.out.is_json() {
        return accounts.iter().try_for_each(|account| context.out.json(account));
    }
    let mut names = Directory::default();
    for account in &accounts {
        names.put_account(account.clone());
    }
    let rows: Vec<_> = accounts.iter().map(|account| row(account, &names)).collect();
    for line in table::lines(["HANDLE", "KIND", "NAME", "OWNER", "REPORTS TO", "ID"], &rows) {
        context.out.line(&line)?;
    }
    Ok(())
}

fn row(account: &Account, names: &Directory) -> [String; 6] {
    let (kind, owner, parent) = match &account.kind {
        AccountKind::Person { admin: true } => ("admin", None, None),
        AccountKind::Person { admin: false } => ("person", None, None),
        AccountKind::Agent { owner_account_id, parent_agent_id, .. } => {
            ("agent", Some(owner_account_id), parent_agent_id.as_ref())
        }
        AccountKind::System => ("system", None, None),
        AccountKind::Unknown => ("unknown", None, None),
    };
    let name = |id: Option<&String>| id.map(|id| names.account(id)).unwrap_or_default();
    [
        format!("@{}", render::line(&account.handle)),
        kind.to_owned(),
        render::line(&account.display_name),
        name(owner),
        name(parent),
        render::line(&account.id),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_shows_whom_it_works_for_and_a_hostile_name_stays_in_its_cell() {
        let account = |id: &str, handle: &str, kind| Account {
            id: id.into(),
            handle: handle.into(),
            display_name: "A\u{202e}B".into(),
            kind,
        };
        let mut names = Directory::default();
        names.put_account(account("1", "ana", AccountKind::Person { admin: true }));
        let kind = AccountKind::Agent {
            owner_account_id: "1".into(),
            home_channel_id: "2".into(),
            parent_agent_id: Some("9".into()),
        };
        let shown = row(&account("3", "bot", kind), &names);
        assert_eq!(shown, ["@bot", "agent", "A‹U+202E›B", "@ana", "(account 9)", "3"]);
    }
}
