//! `compass roster`: agents with their presence and what they say they do, once or as it changes.

use std::{collections::BTreeMap, time::Duration};

use compass_client::{
    Client, ClientError, RosterScope, Since,
    model::{Event, RosterEntry},
};
use tokio::time::Instant;

use super::{
    context::Context,
    tail::{FIRST_WAIT, next_wait},
};
use crate::{
    config::Connection, directory::Directory, failure::Failure, output, output::Output, render, table,
};

/// Changes gather for so long before the roster is read again.
const TOGETHER: Duration = Duration::from_millis(200);
/// Columns of a change that is printed below the table.
const WIDTHS: [usize; 5] = [20, 8, 24, 12, 0];

/// Options of `compass roster`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which agents: those of one owner, those around an agent, or those below it
    #[arg(long, value_enum, default_value_t = Scope::Owner, hide_possible_values = false)]
    scope: Scope,
    /// Handle of the agent it is seen from [default: you]
    #[arg(long, value_name = "HANDLE")]
    agent: Option<String>,
    /// Go on and print what changes [default: print once]
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Scope {
    Neighborhood,
    Subtree,
    Owner,
}

impl From<Scope> for RosterScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Neighborhood => Self::Neighborhood,
            Scope::Subtree => Self::Subtree,
            Scope::Owner => Self::Owner,
        }
    }
}

/// Prints the roster, and with `--watch` what changes until it is interrupted.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let agent = match &args.agent {
        Some(handle) => Some(Directory::load(&context.client).await?.agent(handle)?.id.clone()),
        None => None,
    };
    let mut roster = Roster {
        client: context.client,
        out: context.out,
        scope: args.scope.into(),
        agent,
        shown: BTreeMap::new(),
        since: Since::default(),
    };
    if !args.watch {
        return roster.print_all().await;
    }
    roster.print_all().await?;
    let mut wait = FIRST_WAIT;
    loop {
        match roster.follow(&mut wait).await {
            Ok(()) => {}
            Err(Failure::Call(error)) if error.is_transient() => {
                output::remark(&format!("{}; trying again", render::line(&error.to_string())));
            }
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(wait).await;
        wait = next_wait(wait);
    }
}

struct Roster {
    client: Client,
    out: Output,
    scope: RosterScope,
    agent: Option<String>,
    /// What was printed last, by agent.
    shown: BTreeMap<String, RosterEntry>,
    since: Since,
}

impl Roster {
    async fn read(&self) -> Result<Vec<RosterEntry>, ClientError> {
        let mut entries = self.client.roster(self.scope, self.agent.as_deref()).await?;
        entries.sort_by(|one, other| one.handle.cmp(&other.handle));
        Ok(entries)
    }

    async fn print_all(&mut self) -> Result<(), Failure> {
        let entries = self.read().await?;
        if self.out.is_json() {
            entries.iter().try_for_each(|entry| self.out.json(entry))?;
        } else {
            let now = self.client.server_time_unix_ms();
            let parents: BTreeMap<&str, &str> = entries
                .iter()
                .map(|entry| (entry.agent_account_id.as_str(), entry.handle.as_str()))
                .collect();
            let rows: Vec<_> = entries.iter().map(|entry| row(entry, &parents, now)).collect();
            for line in table::lines(["AGENT", "PRESENCE", "ACTIVITY", "SAID", "REPORTS TO"], &rows) {
                self.out.line(&line)?;
            }
        }
        self.shown = by_id(entries);
        Ok(())
    }

    /// Follows one stream until it ends.
    async fn follow(&mut self, wait: &mut Duration) -> Result<(), Failure> {
        let mut events = self.client.events(self.since).await?;
        let mut due: Option<Instant> = None;
        loop {
            let event = match due {
                None => events.next().await?,
                Some(at) => tokio::select! {
                    event = events.next() => event?,
                    () = tokio::time::sleep_until(at) => {
                        self.print_changes().await?;
                        due = None;
                        continue;
                    }
                },
            };
            let Some(event) = event else { return Ok(()) };
            *wait = FIRST_WAIT;
            self.since = events.since();
            if matters(&event) {
                due.get_or_insert_with(|| Instant::now() + TOGETHER);
            }
        }
    }

    async fn print_changes(&mut self) -> Result<(), Failure> {
        let entries = self.read().await?;
        let now = self.client.server_time_unix_ms();
        let parents: BTreeMap<&str, &str> =
            entries.iter().map(|entry| (entry.agent_account_id.as_str(), entry.handle.as_str())).collect();
        for entry in changed(&self.shown, &entries) {
            if self.out.is_json() {
                self.out.json(entry)?;
            } else {
                self.out.line(&table::line(&row(entry, &parents, now), &WIDTHS))?;
            }
        }
        self.shown = by_id(entries);
        Ok(())
    }
}

/// True for events after which the roster may be another.
fn matters(event: &Event) -> bool {
    matches!(
        event,
        Event::Started { .. }
            | Event::AgentPresenceChanged { .. }
            | Event::AccountChanged { .. }
            | Event::ChannelChanged { .. }
    )
}

/// Entries that are new or not as they were shown.
fn changed<'a>(shown: &BTreeMap<String, RosterEntry>, now: &'a [RosterEntry]) -> Vec<&'a RosterEntry> {
    now.iter().filter(|entry| shown.get(&entry.agent_account_id) != Some(*entry)).collect()
}

fn by_id(entries: Vec<RosterEntry>) -> BTreeMap<String, RosterEntry> {
    entries.into_iter().map(|entry| (entry.agent_account_id.clone(), entry)).collect()
}

fn row(entry: &RosterEntry, handles: &BTreeMap<&str, &str>, now: Option<i64>) -> [String; 5] {
    let handle = |handle: &str| format!("@{}", render::line(handle));
    let parent = entry.parent_agent_id.as_deref().map(|id| match handles.get(id) {
        Some(parent) => handle(parent),
        None => format!("(account {})", render::line(id)),
    });
    [
        handle(&entry.handle),
        entry.presence.to_owned(),
        render::line(entry.activity.as_deref().unwrap_or_default()),
        entry.activity_at_unix_ms.map(|at| render::age(now, at)).unwrap_or_default(),
        parent.unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, presence: &'static str, activity: Option<&str>) -> RosterEntry {
        RosterEntry {
            agent_account_id: id.into(),
            handle: format!("h{id}"),
            display_name: String::new(),
            parent_agent_id: None,
            presence,
            activity: activity.map(str::to_owned),
            activity_at_unix_ms: activity.map(|_| 1000),
        }
    }

    #[test]
    fn only_new_and_changed_entries_are_printed_again() {
        let shown = by_id(vec![entry("1", "idle", None), entry("2", "idle", None)]);
        let now = [entry("1", "idle", None), entry("2", "working", None), entry("3", "idle", Some("x"))];
        let changed: Vec<_> =
            changed(&shown, &now).into_iter().map(|entry| entry.agent_account_id.as_str()).collect();
        assert_eq!(changed, ["2", "3"]);
    }

    #[test]
    fn an_activity_stays_on_its_line_and_a_parent_out_of_sight_shows_its_id() {
        let mut one = entry("1", "waiting", Some("reading\nlogs"));
        one.parent_agent_id = Some("9".into());
        let shown = row(&one, &BTreeMap::from([("1", "h1")]), Some(61_000));
        assert_eq!(shown, ["@h1", "waiting", "reading‹U+000A›logs", "1 min ago", "(account 9)"]);
        one.parent_agent_id = Some("1".into());
        assert_eq!(row(&one, &BTreeMap::from([("1", "h1")]), None)[4], "@h1");
    }
}
