//! `compass channels`: lists channels, makes and joins them, and changes their members, policy and board.

use compass_client::{
    ChannelName, MemberChanges, NewChannel, Policy,
    model::{Channel, Group},
};

use super::{
    context::{Context, channel_name},
    groups::group_name,
};
use crate::{config::Connection, directory::Directory, failure::Failure, output::Output, render};

/// Options of `compass channels`.
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
    /// Lists the channels you can see
    #[command(after_help = "Example:\n  compass channels list --json")]
    List {
        #[command(flatten)]
        connection: Connection,
    },
    /// Creates a channel that you are a member of
    #[command(after_help = "Example:\n  compass channels create releases --member ana --member deploy-bot")]
    Create(CreateArgs),
    /// Joins a channel of a shared group, subscribed
    #[command(after_help = "Example:\n  compass channels join releases")]
    Join {
        /// Name or id of the channel
        #[arg(value_name = "CHANNEL")]
        channel: String,
        #[command(flatten)]
        connection: Connection,
    },
    /// Shows who is in a channel, or changes it
    #[command(
        after_help = "Example:\n  compass channels members releases --subscribe deploy-bot --remove ben"
    )]
    Members(MembersArgs),
    /// Changes who may post, or whether every agent in it is delivered to
    #[command(after_help = "Example:\n  compass channels policy releases --owner ana --mandatory")]
    Policy(PolicyArgs),
    /// Pins a message, or takes one off the board
    #[command(after_help = "Example:\n  compass channels pin releases 0195e0c2a1b27c3d8e4f506172839405")]
    Pin(PinArgs),
}

#[derive(clap::Args, Debug)]
struct CreateArgs {
    /// Name of the channel
    #[arg(value_name = "NAME")]
    name: String,
    /// Handle of a member beside you; repeatable [default: none]
    #[arg(long = "member", value_name = "HANDLE")]
    members: Vec<String>,
    /// Name or id of its group [default: none]
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// Handle of an agent of yours: it and every agent below it take part [default: members alone]
    #[arg(long, value_name = "HANDLE")]
    tree: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Args, Debug)]
struct MembersArgs {
    /// Name or id of the channel
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Handle of a member to add, not subscribed; repeatable [default: none]
    #[arg(long, value_name = "HANDLE")]
    add: Vec<String>,
    /// Handle of a member to remove; an agent before its owner; repeatable [default: none]
    #[arg(long, value_name = "HANDLE")]
    remove: Vec<String>,
    /// Handle of an account to subscribe, added if it is no member; repeatable [default: none]
    #[arg(long, value_name = "HANDLE")]
    subscribe: Vec<String>,
    /// Handle of an account to unsubscribe; repeatable [default: none]
    #[arg(long, value_name = "HANDLE")]
    unsubscribe: Vec<String>,
    /// Another name; needed when somebody joins a direct conversation [default: the name stays]
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
struct PolicyArgs {
    /// Name or id of the channel
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Handle of the member that alone may post from now on [default: as it is]
    #[arg(long, value_name = "HANDLE", group = "change", conflicts_with = "open")]
    owner: Option<String>,
    /// Let every participant post [default: as it is]
    #[arg(long, group = "change")]
    open: bool,
    /// Deliver to every agent in it, subscribed or not [default: as it is]
    #[arg(long, group = "change", conflicts_with = "optional")]
    mandatory: bool,
    /// Deliver to subscribers alone [default: as it is]
    #[arg(long, group = "change")]
    optional: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::Args, Debug)]
struct PinArgs {
    /// Name or id of the channel
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Id of the message
    #[arg(value_name = "MESSAGE")]
    message: String,
    /// Id of the pinned message whose place it takes [default: none, it comes last]
    #[arg(long, value_name = "MESSAGE", conflicts_with = "off")]
    replace: Option<String>,
    /// Take it off the board [default: pin it]
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Runs the wanted part.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    match args.command.unwrap_or(Command::List { connection: args.connection }) {
        Command::List { connection } => list(&connection).await,
        Command::Create(args) => create(args).await,
        Command::Join { channel, connection } => join(&channel, &connection).await,
        Command::Members(args) => members(args).await,
        Command::Policy(args) => policy(args).await,
        Command::Pin(args) => pin(args).await,
    }
}

async fn list(connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let channels = context.client.channels().await?;
    let groups = if context.out.is_json() { Vec::new() } else { context.client.groups().await? };
    channels.iter().try_for_each(|channel| print(context.out, channel, &groups))
}

async fn create(args: CreateArgs) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let anchor_agent_id = match &args.tree {
        Some(handle) => Some(Directory::load(&context.client).await?.agent(handle)?.id.clone()),
        None => None,
    };
    let new = NewChannel {
        name: args.name,
        members: handles(&args.members),
        group: group_name(args.group.as_deref()),
        anchor_agent_id,
    };
    let channel = context.client.create_channel_as(new).await?;
    print(context.out, &channel, &[])
}

async fn join(channel: &str, connection: &Connection) -> Result<(), Failure> {
    let context = Context::open(connection).await?;
    let id = channel_id(&context, channel).await?;
    let channel = context.client.join_channel(&id).await?;
    print(context.out, &channel, &[])
}

async fn members(args: MembersArgs) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let changes = MemberChanges {
        add: handles(&args.add),
        remove: handles(&args.remove),
        subscribe: handles(&args.subscribe),
        unsubscribe: handles(&args.unsubscribe),
        new_name: args.rename,
    };
    // Without a change it shows the channel as it is, also to who only sees it.
    let channel = if changes == MemberChanges::default() {
        seen(&context, &args.channel).await?
    } else {
        context.client.update_members(&channel_name(&args.channel), changes).await?
    };
    if context.out.is_json() {
        return context.out.json(&channel);
    }
    let names = Directory::load(&context.client).await?;
    member_rows(&channel, &names).iter().try_for_each(|row| context.out.line(row))
}

async fn policy(args: PolicyArgs) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let now = seen(&context, &args.channel).await?;
    let owner_account_id = match &args.owner {
        Some(handle) => Some(Directory::load(&context.client).await?.by_handle(handle)?.id.clone()),
        None => now.owner_account_id.filter(|_| !args.open),
    };
    let mandatory_subscription = args.mandatory || (now.mandatory_subscription && !args.optional);
    let policy = Policy { owner_account_id, mandatory_subscription };
    let channel = context.client.set_policy(&now.id, policy).await?;
    print(context.out, &channel, &[])
}

async fn pin(args: PinArgs) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let id = channel_id(&context, &args.channel).await?;
    let channel = if args.off {
        context.client.unpin(&id, &args.message).await?
    } else {
        context.client.pin(&id, &args.message, args.replace.as_deref()).await?
    };
    if context.out.is_json() {
        return context.out.json(&channel);
    }
    let entries = channel.pinned_message_ids.iter().zip(1..);
    entries
        .into_iter()
        .try_for_each(|(id, place)| context.out.line(&format!("{place}  {}", render::line(id))))
}

/// A channel that you can see, given by name or id.
async fn seen(context: &Context, channel: &str) -> Result<Channel, Failure> {
    let id = channel_id(context, channel).await?;
    let found = context.client.channels().await?.into_iter().find(|seen| seen.id == id);
    found.ok_or_else(|| Failure::Usage(format!("no channel {channel:?} that you can see")))
}

/// The id of a channel that you can see, given by name or id.
async fn channel_id(context: &Context, channel: &str) -> Result<String, Failure> {
    match channel_name(channel) {
        ChannelName::Id(id) => Ok(id),
        ChannelName::Name(name) => Directory::load(&context.client).await?.channel_id(&name),
    }
}

fn handles(given: &[String]) -> Vec<String> {
    given.iter().map(|handle| handle.trim_start_matches('@').to_owned()).collect()
}

fn print(out: Output, channel: &Channel, groups: &[Group]) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(channel);
    }
    out.line(&row(channel, groups))
}

fn row(channel: &Channel, groups: &[Group]) -> String {
    let members = channel.member_account_ids.len();
    let (id, name) = (render::line(&channel.id), render::line(&channel.name));
    let group = groups.iter().find(|group| Some(&group.id) == channel.group_id.as_ref());
    let group = group.map(|group| format!("{} / ", render::line(&group.name))).unwrap_or_default();
    let mut notes = String::new();
    for (holds, note) in [
        (channel.anchor_agent_id.is_some(), "tree"),
        (channel.owner_account_id.is_some(), "owner posts"),
        (channel.mandatory_subscription, "mandatory"),
    ] {
        if holds {
            notes.push_str("  ");
            notes.push_str(note);
        }
    }
    format!("{id}  {members:>3} members  {}  {group}#{name}{notes}", channel.kind)
}

/// Members, then who takes part by the tree and subscribed.
fn member_rows(channel: &Channel, names: &Directory) -> Vec<String> {
    let subscribed = |id: &String| channel.subscriber_account_ids.contains(id);
    let by_row = channel.member_account_ids.iter().map(|id| {
        let state = if subscribed(id) { "subscribed    " } else { "not subscribed" };
        format!("{state}  {}", names.account(id))
    });
    let derived = channel.subscriber_account_ids.iter().filter(|id| !channel.member_account_ids.contains(id));
    let derived = derived.map(|id| format!("subscribed      {}  by the tree", names.account(id)));
    by_row.chain(derived).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        Channel {
            id: "c".into(),
            name: "news".into(),
            group_id: Some("g".into()),
            kind: "channel",
            member_account_ids: vec!["a".into(), "b".into()],
            subscriber_account_ids: vec!["b".into(), "t".into()],
            anchor_agent_id: Some("t".into()),
            owner_account_id: None,
            mandatory_subscription: true,
            pinned_message_ids: Vec::new(),
        }
    }

    #[test]
    fn a_row_names_the_group_and_what_is_special() {
        let group = Group {
            id: "g".into(),
            name: "ops".into(),
            parent_group_id: None,
            owner_account_id: "a".into(),
            shared: true,
        };
        assert_eq!(row(&channel(), &[group]), "c    2 members  channel  ops / #news  tree  mandatory");
        let plain = Channel { anchor_agent_id: None, mandatory_subscription: false, ..channel() };
        assert_eq!(row(&plain, &[]), "c    2 members  channel  #news");
    }

    #[test]
    fn who_subscribes_by_the_tree_is_listed_after_the_members() {
        let rows = member_rows(&channel(), &Directory::default());
        let expected = [
            "not subscribed  (account a)",
            "subscribed      (account b)",
            "subscribed      (account t)  by the tree",
        ];
        assert_eq!(rows, expected);
    }
}
