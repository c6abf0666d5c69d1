//! Changes who is a member of a channel and who is subscribed, as one batch, and what the channel is called.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Channel, ChannelId, Classified, ErrorKind, Event, Handle,
    channel::{ChannelKind, ChannelName, ChannelNameError, Member},
};
use compass_ports::StorageError;

use super::{
    Before,
    members::{self, UnknownMember, find_all},
    resolve::{self, ChannelRef},
};
use crate::{Caller, Comms, family::Derived, ports::UnitOfWork};

/// A batch of member changes. Per account unsubscribe beats subscribe, and remove beats everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateMembers {
    /// Which channel.
    pub channel: ChannelRef,
    /// Members afterwards, not subscribed.
    pub add: Vec<AccountId>,
    /// No members afterwards.
    pub remove: Vec<AccountId>,
    /// Members afterwards, subscribed.
    pub subscribe: Vec<AccountId>,
    /// Members afterwards, not subscribed; refused on a mandatory channel.
    pub unsubscribe: Vec<AccountId>,
    /// As `add`, by handle.
    pub add_handles: Vec<String>,
    /// As `remove`, by handle.
    pub remove_handles: Vec<String>,
    /// As `subscribe`, by handle.
    pub subscribe_handles: Vec<String>,
    /// As `unsubscribe`, by handle.
    pub unsubscribe_handles: Vec<String>,
    /// Another name; a direct conversation needs one when somebody joins it, and takes none otherwise.
    pub new_name: Option<String>,
}

impl UpdateMembers {
    /// A batch that changes nothing yet.
    pub fn of(channel: ChannelRef) -> Self {
        Self {
            channel,
            add: Vec::new(),
            remove: Vec::new(),
            subscribe: Vec::new(),
            unsubscribe: Vec::new(),
            add_handles: Vec::new(),
            remove_handles: Vec::new(),
            subscribe_handles: Vec::new(),
            unsubscribe_handles: Vec::new(),
            new_name: None,
        }
    }
}

/// Why a batch is refused; none of it is applied then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The channel cannot be told from what was given.
    #[error(transparent)]
    Channel(#[from] resolve::Error),
    /// The channel does not exist, or the caller does not take part in it.
    #[error("channel not found")]
    ChannelNotFound,
    /// An entry names no account.
    #[error(transparent)]
    UnknownMember(UnknownMember),
    /// Nobody may unsubscribe from a mandatory channel.
    #[error("account {0} cannot be unsubscribed: the channel is mandatory")]
    Mandatory(Handle),
    /// An agent's owner stays as long as the agent.
    #[error("account {owner} cannot be removed while its agent {agent} is a member")]
    OwnsMember {
        /// The person.
        owner: Handle,
        /// The agent.
        agent: Handle,
    },
    /// The channel's owner is a member by rule.
    #[error("account {0} cannot be removed: it owns the channel")]
    OwnsChannel(Handle),
    /// The new name breaks a rule.
    #[error(transparent)]
    Name(#[from] ChannelNameError),
    /// The new name is taken in the channel's group.
    #[error("channel name {0:?} is taken in this group")]
    NameTaken(String),
    /// Only the owner of an owned channel gives it a name.
    #[error("only the channel's owner may rename it")]
    ForeignName,
    /// A direct conversation is one of two.
    #[error("account {0} cannot be removed: nobody leaves a direct conversation")]
    Direct(Handle),
    /// Somebody joins a direct conversation, which makes an ordinary channel of it.
    #[error(
        "new_name is empty: a direct conversation that somebody joins becomes a channel and needs a name"
    )]
    NameNeeded,
    /// A direct conversation of two is named by the server.
    #[error("new_name must be empty unless somebody joins the direct conversation")]
    NothingToName,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::ChannelNotFound => ErrorKind::NotFound,
            Self::UnknownMember(_)
            | Self::Mandatory(_)
            | Self::OwnsMember { .. }
            | Self::OwnsChannel(_)
            | Self::Name(_)
            | Self::Direct(_)
            | Self::NameNeeded
            | Self::NothingToName => ErrorKind::InvalidArgument,
            Self::ForeignName => ErrorKind::PermissionDenied,
            Self::NameTaken(_) => ErrorKind::Conflict,
            Self::Channel(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }
}

impl From<members::LookupError> for Error {
    fn from(error: members::LookupError) -> Self {
        match error {
            members::LookupError::Unknown(member) => Self::UnknownMember(member),
            members::LookupError::Storage(error) => Self::Storage(error),
        }
    }
}

/// Applies a batch of member changes and returns the channel as it is afterwards.
///
/// Adding an agent adds its owner; an agent that gets subscribed, or joins a mandatory channel, is owed what
/// is posted from now on. Who takes part by standing in the tree of a channel gets no member row: only whether it is
/// subscribed is kept.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn update_members(comms: &Comms, caller: &Caller, update: UpdateMembers) -> Result<Channel, Error> {
    let name = update.new_name.as_deref().map(ChannelName::parse).transpose()?;
    let id = resolve::resolve(comms, caller, &update.channel).await?;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let before = unit.channels().lock(id).await?.ok_or(Error::ChannelNotFound)?;
    if !unit.channels().participates(caller.actor.id, id).await? {
        return Err(Error::ChannelNotFound);
    }
    let changes = changes(&mut *unit, &update).await?;
    if before.mandatory
        && let Some(change) = changes.iter().find(|change| change.effect == Effect::Unsubscribe)
    {
        return Err(Error::Mandatory(change.account.handle.clone()));
    }
    check_direct(&before, &changes, name.as_ref())?;
    let swept = Before::read(&mut *unit, vec![id]).await?;
    let mut batch = Batch::begin(&mut *unit, &before).await?;
    for change in &changes {
        batch.apply(change).await?;
    }
    let (derived, removed, seeded) = (batch.derived, batch.removed, batch.seeded);
    unit.cursors().seed_all(&seeded).await?;
    swept.settle(&mut *unit).await?;
    if let Some(name) = name {
        rename(&mut *unit, caller, &before, &name).await?;
    }
    let after = unit.channels().lock(id).await?.ok_or(Error::ChannelNotFound)?;
    let mut events = Vec::new();
    if after != before {
        // Not who still takes part in a tree, nor an owner whose agent joined later on.
        let is_lost = |account: &AccountId| !after.has_member(*account) && !derived.holds(*account);
        let removed = removed.into_iter().filter(is_lost).collect();
        events.push(Event::ChannelChanged { channel: Arc::new(after.clone()), removed });
    }
    comms.finish(&caller.tenant, unit, events).await?;
    Ok(after)
}

/// Two stay two as long as nobody joins them; then it is a channel with a name.
fn check_direct(channel: &Channel, changes: &[Change], name: Option<&ChannelName>) -> Result<(), Error> {
    if channel.kind != ChannelKind::Dm {
        return Ok(());
    }
    let is_member = |change: &&Change| channel.has_member(change.account.id);
    let mut removals = changes.iter().filter(|change| change.effect == Effect::Remove);
    if let Some(removal) = removals.find(is_member) {
        return Err(Error::Direct(removal.account.handle.clone()));
    }
    let joins = changes.iter().any(|change| change.effect != Effect::Remove && !is_member(&change));
    match (joins, name) {
        (true, None) => Err(Error::NameNeeded),
        (false, Some(_)) => Err(Error::NothingToName),
        _ => Ok(()),
    }
}

async fn rename(
    unit: &mut dyn UnitOfWork,
    caller: &Caller,
    channel: &Channel,
    name: &ChannelName,
) -> Result<(), Error> {
    if channel.policy.owner().is_some_and(|owner| owner != caller.actor.id) {
        return Err(Error::ForeignName);
    }
    if channel.kind == ChannelKind::Dm {
        unit.settings().convert(channel.id).await?;
    }
    if channel.name == *name {
        return Ok(());
    }
    unit.settings().rename(channel.id, name).await.map_err(|error| match error {
        StorageError::Conflict(_) => Error::NameTaken(name.as_str().to_owned()),
        other => other.into(),
    })
}

/// What happens to one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Add,
    Subscribe,
    Unsubscribe,
    Remove,
}

struct Change {
    account: Account,
    effect: Effect,
}

/// One change per account, in the order of first mention, with the effect that beats the others.
async fn changes(unit: &mut dyn UnitOfWork, update: &UpdateMembers) -> Result<Vec<Change>, Error> {
    let lists = [
        (Effect::Add, "add_member", "add", &update.add, &update.add_handles),
        (Effect::Subscribe, "subscribe", "subscribe", &update.subscribe, &update.subscribe_handles),
        (Effect::Unsubscribe, "unsubscribe", "unsubscribe", &update.unsubscribe, &update.unsubscribe_handles),
        (Effect::Remove, "remove_member", "remove", &update.remove, &update.remove_handles),
    ];
    let mut changes: Vec<Change> = Vec::new();
    for (effect, ids_list, handles_list, ids, handles) in lists {
        let mut named = find_all(unit, ids_list, ids, &[]).await?;
        named.extend(find_all(unit, handles_list, &[], handles).await?);
        for account in named {
            match changes.iter_mut().find(|change| change.account.id == account.id) {
                Some(change) => change.effect = change.effect.max(effect),
                None => changes.push(Change { account, effect }),
            }
        }
    }
    Ok(changes)
}

struct Batch<'a> {
    unit: &'a mut dyn UnitOfWork,
    before: &'a Channel,
    derived: Derived,
    /// Accounts with a member row, as the batch has left them so far.
    rows: Vec<AccountId>,
    removed: Vec<AccountId>,
    seeded: Vec<(AccountId, ChannelId)>,
}

impl<'a> Batch<'a> {
    async fn begin(unit: &'a mut dyn UnitOfWork, before: &'a Channel) -> Result<Self, StorageError> {
        let rows = before.members.iter().map(|member| member.account).collect();
        let derived = Derived::of(unit, before.mode).await?;
        Ok(Self { unit, before, derived, rows, removed: Vec::new(), seeded: Vec::new() })
    }

    fn channel(&self) -> ChannelId {
        self.before.id
    }

    async fn apply(&mut self, change: &Change) -> Result<(), Error> {
        match change.effect {
            Effect::Remove => self.remove(&change.account).await,
            Effect::Subscribe => self.put(&change.account, true).await,
            Effect::Add | Effect::Unsubscribe => self.put(&change.account, false).await,
        }
    }

    async fn put(&mut self, account: &Account, subscribed: bool) -> Result<(), Error> {
        if account.is_agent() && (subscribed || self.before.mandatory) {
            self.seeded.push((account.id, self.channel()));
        }
        if self.derived.holds(account.id) && !self.rows.contains(&account.id) {
            self.unit.participants().put_subscription(self.before.id, account.id, subscribed).await?;
            return Ok(());
        }
        self.put_row(account.id, subscribed).await?;
        match members::owner(account) {
            Some(owner) if !self.rows.contains(&owner) && !self.derived.holds(owner) => {
                self.put_row(owner, false).await
            }
            _ => Ok(()),
        }
    }

    async fn put_row(&mut self, account: AccountId, subscribed: bool) -> Result<(), Error> {
        let id = self.channel();
        self.unit.channels().put_member(id, Member { account, subscribed }).await?;
        if !self.rows.contains(&account) {
            self.rows.push(account);
        }
        Ok(())
    }

    async fn remove(&mut self, account: &Account) -> Result<(), Error> {
        if self.before.policy.owner() == Some(account.id) {
            return Err(Error::OwnsChannel(account.handle.clone()));
        }
        if !self.rows.contains(&account.id) {
            return Ok(());
        }
        if matches!(account.kind, AccountKind::User { .. })
            && let Some(agent) = self.agent_of(account.id).await?
        {
            return Err(Error::OwnsMember { owner: account.handle.clone(), agent });
        }
        self.unit.channels().remove_member(self.before.id, account.id).await?;
        self.rows.retain(|row| *row != account.id);
        self.removed.push(account.id);
        Ok(())
    }

    /// A member that is an agent of `owner`, by the rows as the batch has left them so far.
    async fn agent_of(&mut self, owner: AccountId) -> Result<Option<Handle>, Error> {
        let agents = self.unit.accounts().list_agents(owner).await?;
        Ok(agents.into_iter().find(|agent| self.rows.contains(&agent.id)).map(|agent| agent.handle))
    }
}
