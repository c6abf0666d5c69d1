//! `compass groups`: lists groups of channels, and makes one.

use std::collections::HashMap;

use compass_client::{GroupName, model::Group};

use super::context::{Context, is_id};
use crate::{config::Connection, directory::Directory, failure::Failure, render};

/// Options of `compass groups`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Lists the groups you can see
    #[command(after_help = "Example:\n  compass groups list --json")]
    List {
        #[command(flatten)]
        connection: Connection,
    },
    /// Creates a group of yours
    #[command(after_help = "Example:\n  compass groups create releases --shared")]
    Create {
        /// Name of the group
        #[arg(value_name = "NAME")]
        name: String,
        /// Name or id of the group it stands in [default: none]
        #[arg(long, value_name = "GROUP")]
        parent: Option<String>,
        /// Let everyone see it, and its channels [default: you and your agents alone]
        #[arg(long)]
        shared: bool,
        #[command(flatten)]
        connection: Connection,
    },
}

/// Lists or creates.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command.unwrap_or(Command::List { connection: args.connection }) {
        Command::List { connection } => list(&connection).await,
        Command::Create { name, parent, shared, connection } => {
            create(&connection, &name, parent.as_deref(), shared).await
        }
    }
}

/// A group given on the command line: an id if it looks like one, otherwise a name.
pub(crate) fn group_name(text: Option<&str>) -> GroupName {
    match text {
        None => GroupName::None,
        Some(id) if is_id(id) => GroupName::Id(id.to_owned()),
        Some(name) => GroupName::Name(name.to_owned()),
    }
}

async fn list(connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let groups = context.client.groups().await?;
    if context.out.is_json() {
        return groups.iter().try_for_each(|group| context.out.json(group));
    }
    let names = Directory::load(&context.client).await?;
    let by_id: HashMap<&str, &Group> = groups.iter().map(|group| (group.id.as_str(), group)).collect();
    groups.iter().try_for_each(|group| context.out.line(&row(group, &by_id, &names)))
}

async fn create(
    connection: &Connection,
    name: &str,
    parent: Option<&str>,
    shared: bool,
) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let group = context.client.create_group(name, group_name(parent), shared).await?;
    if context.out.is_json() {
        return context.out.json(&group);
    }
    let (id, name) = (render::line(&group.id), render::line(&group.name));
    context.out.line(&format!("created group {name}, id {id}"))
}

fn row(group: &Group, groups: &HashMap<&str, &Group>, names: &Directory) -> String {
    let seen = if group.shared { "shared" } else { "owner " };
    let owner = names.account(&group.owner_account_id);
    let (id, path) = (render::line(&group.id), path(group, groups));
    format!("{id}  {seen}  {owner:<16}  {path}")
}

/// The names of the groups around it that can be seen, from the outside in.
fn path(group: &Group, groups: &HashMap<&str, &Group>) -> String {
    let mut names = vec![render::line(&group.name)];
    let mut above = group.parent_group_id.as_deref();
    while let Some(parent) = above.and_then(|id| groups.get(id)).filter(|_| names.len() <= groups.len()) {
        names.push(render::line(&parent.name));
        above = parent.parent_group_id.as_deref();
    }
    names.reverse();
    names.join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(id: &str, parent: Option<&str>) -> Group {
        Group {
            id: id.into(),
            name: format!("name-{id}"),
            parent_group_id: parent.map(str::to_owned),
            owner_account_id: "o".into(),
            shared: true,
        }
    }

    #[test]
    fn a_path_goes_from_the_outside_in_and_ends_where_nothing_is_seen() {
        let all =
            [group("a", Some("hidden")), group("b", Some("a")), group("c", Some("d")), group("d", Some("c"))];
        let by_id = all.iter().map(|group| (group.id.as_str(), group)).collect();
        assert_eq!(path(&all[1], &by_id), "name-a / name-b");
        assert!(path(&all[2], &by_id).ends_with("name-d / name-c"), "a cycle ends");
    }

    #[test]
    fn a_group_is_named_by_id_or_name() {
        assert_eq!(group_name(None), GroupName::None);
        assert_eq!(group_name(Some("ops")), GroupName::Name("ops".into()));
        let id = "0".repeat(32);
        assert_eq!(group_name(Some(&id)), GroupName::Id(id.clone()));
    }
}
