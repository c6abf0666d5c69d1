//! Changes who is a member of a channel and who is subscribed, as one batch.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Channel, ChannelId, Classified, ErrorKind, Event, channel::Member,
};
use compass_ports::StorageError;

use super::{
    members::{self, UnknownMember, find_all},
    resolve::{self, ChannelRef},
};
use crate::{Caller, Comms, ports::UnitOfWork};

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
    Mandatory(AccountId),
    /// An agent's owner stays as long as the agent.
    #[error("account {owner} cannot be removed while its agent {agent} is a member")]
    OwnsMember {
        /// The person.
        owner: AccountId,
        /// The agent.
        agent: AccountId,
    },
    /// The channel's owner is a member by rule.
    #[error("account {0} cannot be removed: it owns the channel")]
    OwnsChannel(AccountId),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::ChannelNotFound => ErrorKind::NotFound,
            Self::UnknownMember(_) | Self::Mandatory(_) | Self::OwnsMember { .. } | Self::OwnsChannel(_) => {
                ErrorKind::InvalidArgument
            }
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
/// is posted from now on.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it; nothing is stored then.
pub async fn update_members(comms: &Comms, caller: &Caller, update: UpdateMembers) -> Result<Channel, Error> {
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
        return Err(Error::Mandatory(change.account.id));
    }
    let mut batch = Batch { unit: &mut *unit, before: &before, removed: Vec::new() };
    for change in &changes {
        batch.apply(change).await?;
    }
    let removed = batch.losers().await?;
    let after = unit.channels().lock(id).await?.ok_or(Error::ChannelNotFound)?;
    let mut events = Vec::new();
    if after.members != before.members {
        events.push(Event::ChannelChanged { channel: Arc::new(after.clone()), removed });
    }
    comms.finish(&caller.tenant, unit, events).await?;
    Ok(after)
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
    removed: Vec<AccountId>,
}

impl Batch<'_> {
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
        let id = self.channel();
        let member = Member { account: account.id, subscribed };
        self.unit.channels().put_member(id, member).await?;
        let Some(owner) = members::owner(account) else { return Ok(()) };
        if !self.members().await?.iter().any(|member| member.account == owner) {
            let member = Member { account: owner, subscribed: false };
            self.unit.channels().put_member(id, member).await?;
        }
        if subscribed || self.before.mandatory {
            self.unit.cursors().seed(account.id, id).await?;
        }
        Ok(())
    }

    async fn remove(&mut self, account: &Account) -> Result<(), Error> {
        if self.before.policy.owner() == Some(account.id) {
            return Err(Error::OwnsChannel(account.id));
        }
        if matches!(account.kind, AccountKind::User { .. })
            && let Some(agent) = self.agent_of(account.id).await?
        {
            return Err(Error::OwnsMember { owner: account.id, agent });
        }
        if self.unit.channels().remove_member(self.before.id, account.id).await? {
            self.removed.push(account.id);
        }
        Ok(())
    }

    /// A member that is an agent of `owner`, by the rows as the batch has left them so far.
    async fn agent_of(&mut self, owner: AccountId) -> Result<Option<AccountId>, Error> {
        for member in self.members().await? {
            let found = self.unit.accounts().find(member.account).await?;
            if found.as_ref().and_then(members::owner) == Some(owner) {
                return Ok(Some(member.account));
            }
        }
        Ok(None)
    }

    async fn members(&mut self) -> Result<Vec<Member>, Error> {
        let id = self.channel();
        let channel = self.unit.channels().lock(id).await?.ok_or(Error::ChannelNotFound)?;
        Ok(channel.members)
    }

    /// Who lost participation: not who still takes part in a tree, nor an owner whose agent joined later on.
    async fn losers(mut self) -> Result<Vec<AccountId>, Error> {
        let mut losers = Vec::new();
        for account in std::mem::take(&mut self.removed) {
            if !self.unit.channels().participates(account, self.before.id).await? {
                losers.push(account);
            }
        }
        Ok(losers)
    }
}
