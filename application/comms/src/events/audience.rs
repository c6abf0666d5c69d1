//! Who may see what, read once for all subscribers and again as soon as it may have changed.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use compass_domain::{Account, AccountId, Actor, ChannelId, Event, GroupId, TenantId};
use compass_ports::{EventBus, Published, StorageError};
use tokio::sync::OnceCell;

use super::visibility::{Access, is_internal, is_visible};
use crate::{Caller, ports::Storage};

/// Channels and accounts that are remembered of a tenant, at the most.
const REMEMBERED: usize = 4096;
/// Topics whose open asks are remembered of a tenant, at the most.
const COUNTED: usize = 256;

type Accounts = OnceCell<HashSet<AccountId>>;

/// What subscribers of one server ask in common. An answer is kept while the bus's access version stays, so it is
/// what a read at this moment would say.
#[derive(Default)]
pub struct Audiences {
    tenants: Mutex<HashMap<TenantId, Known>>,
}

#[derive(Default)]
struct Known {
    version: u64,
    channels: HashMap<ChannelId, Arc<OfChannel>>,
    mates: HashMap<AccountId, Arc<Accounts>>,
    accounts: HashMap<AccountId, Arc<OnceCell<Option<Account>>>>,
    /// By the seq of the event that shows the topic.
    open_asks: HashMap<u64, Arc<OnceCell<u32>>>,
}

#[derive(Default)]
struct OfChannel {
    participants: Accounts,
    /// Whether those see it, too, that take no part.
    open: OnceCell<bool>,
}

impl Audiences {
    /// True if the caller may see the event now.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if that cannot be read; the event must not be shown then.
    pub(crate) async fn may_see(
        &self,
        storage: &dyn Storage,
        bus: &dyn EventBus,
        caller: &Caller,
        event: &Event,
    ) -> Result<bool, StorageError> {
        if is_internal(event) {
            return Ok(false);
        }
        // Taken before anything is read, so that a change in between makes the answer one of the past.
        let version = bus.access_version(&caller.tenant);
        is_visible(&Asking { audiences: self, storage, caller, version }, caller.actor.id, event).await
    }

    /// Open asks of the topic an event shows, 0 for other events; counted once for all subscribers.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if they cannot be counted.
    pub async fn open_asks(&self, storage: &dyn Storage, published: &Published) -> Result<u32, StorageError> {
        let (Event::TopicUpserted(topic) | Event::TopicMerged { into: topic, .. }) = &published.event else {
            return Ok(0);
        };
        let counted = self.counted(&published.tenant, published.seq);
        let count = counted.get_or_try_init(async || {
            let mut unit = storage.read(&published.tenant).await?;
            Ok::<_, StorageError>(unit.find_topic(topic.id).await?.map_or(0, |summary| summary.open_asks))
        });
        Ok(*count.await?)
    }

    fn counted(&self, tenant: &TenantId, seq: u64) -> Arc<OnceCell<u32>> {
        let mut tenants = self.tenants();
        let known = tenants.entry(tenant.clone()).or_default();
        entry(&mut known.open_asks, seq, COUNTED)
    }

    fn of_channel(&self, tenant: &TenantId, version: u64, channel: ChannelId) -> Arc<OfChannel> {
        let mut tenants = self.tenants();
        match at(&mut tenants, tenant, version) {
            Some(known) => entry(&mut known.channels, channel, REMEMBERED),
            None => Arc::default(),
        }
    }

    fn mates_of(&self, tenant: &TenantId, version: u64, account: AccountId) -> Arc<Accounts> {
        let mut tenants = self.tenants();
        match at(&mut tenants, tenant, version) {
            Some(known) => entry(&mut known.mates, account, REMEMBERED),
            None => Arc::default(),
        }
    }

    fn account(&self, tenant: &TenantId, version: u64, account: AccountId) -> Arc<OnceCell<Option<Account>>> {
        let mut tenants = self.tenants();
        match at(&mut tenants, tenant, version) {
            Some(known) => entry(&mut known.accounts, account, REMEMBERED),
            None => Arc::default(),
        }
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<TenantId, Known>> {
        // Whatever a panic left behind is at worst an answer too few.
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known at `version`; none if something newer is, which does not answer a question asked before.
fn at<'a>(
    tenants: &'a mut HashMap<TenantId, Known>,
    tenant: &TenantId,
    version: u64,
) -> Option<&'a mut Known> {
    let known = tenants.entry(tenant.clone()).or_default();
    if version > known.version {
        known.version = version;
        known.channels.clear();
        known.mates.clear();
        known.accounts.clear();
    }
    (version == known.version).then_some(known)
}

fn entry<K: std::hash::Hash + Eq, V: Default>(of: &mut HashMap<K, Arc<V>>, key: K, most: usize) -> Arc<V> {
    if of.len() >= most && !of.contains_key(&key) {
        of.clear();
    }
    Arc::clone(of.entry(key).or_default())
}

/// One caller's question.
struct Asking<'a> {
    audiences: &'a Audiences,
    storage: &'a dyn Storage,
    caller: &'a Caller,
    version: u64,
}

/// Why a viewer's own look does not tell what the others see.
enum NotForAll {
    /// It takes part by now.
    TakesPart,
    Storage(StorageError),
}

impl From<StorageError> for NotForAll {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl Access for Asking<'_> {
    async fn participates(&self, channel: ChannelId) -> Result<bool, StorageError> {
        let of = self.audiences.of_channel(&self.caller.tenant, self.version, channel);
        let participants = of.participants.get_or_try_init(async || {
            let mut unit = self.storage.read(&self.caller.tenant).await?;
            Ok::<_, StorageError>(unit.participants(channel).await?.into_iter().collect())
        });
        Ok(participants.await?.contains(&self.caller.actor.id))
    }

    async fn sees_channel(&self, channel: ChannelId) -> Result<bool, StorageError> {
        if self.participates(channel).await? {
            return Ok(true);
        }
        let of = self.audiences.of_channel(&self.caller.tenant, self.version, channel);
        // Whoever takes no part sees what everyone sees who takes none.
        let open = of.open.get_or_try_init(|| outsiders_see(self.storage, self.caller, channel)).await;
        match open {
            Ok(open) => Ok(*open),
            Err(NotForAll::TakesPart) => Ok(true),
            Err(NotForAll::Storage(error)) => Err(error),
        }
    }

    async fn sees_group(&self, group: GroupId) -> Result<bool, StorageError> {
        // Groups change rarely, and who sees one depends on the viewer's owner.
        let mut unit = self.storage.read(&self.caller.tenant).await?;
        unit.sees_group(self.caller.actor, group).await
    }

    async fn shares_channel(&self, account: AccountId) -> Result<bool, StorageError> {
        let mates = self.audiences.mates_of(&self.caller.tenant, self.version, account);
        let mates = mates.get_or_try_init(async || {
            let mut unit = self.storage.read(&self.caller.tenant).await?;
            Ok::<_, StorageError>(unit.channel_mates(account).await?.into_iter().collect())
        });
        Ok(mates.await?.contains(&self.caller.actor.id))
    }

    async fn sees_account(&self, account: AccountId) -> Result<bool, StorageError> {
        let of = self.audiences.account(&self.caller.tenant, self.version, account);
        let found = of.get_or_try_init(async || {
            let mut unit = self.storage.read(&self.caller.tenant).await?;
            unit.find_account(account).await
        });
        let Some(found) = found.await? else { return Ok(false) };
        let viewer = self.caller.actor.id;
        if found.is_visible_to(viewer, || false) {
            return Ok(true);
        }
        let shares = self.shares_channel(account).await?;
        Ok(found.is_visible_to(viewer, || shares))
    }
}

/// One snapshot for both questions, or a viewer that joins in between would open the channel for everyone.
async fn outsiders_see(
    storage: &dyn Storage,
    caller: &Caller,
    channel: ChannelId,
) -> Result<bool, NotForAll> {
    let viewer: Actor = caller.actor;
    let mut unit = storage.read(&caller.tenant).await?;
    if !unit.participating(viewer.id, &[channel]).await?.is_empty() {
        return Err(NotForAll::TakesPart);
    }
    Ok(unit.sees_channel(viewer, channel).await?)
}

impl fmt::Debug for Audiences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audiences").finish_non_exhaustive()
    }
}
