//! All rows of a store, as maps that share their structure with their copies.

mod accounts;
mod apply;
mod channels;
mod delivery;
mod groups;
mod load;
mod messages;
mod participants;
mod read_positions;
mod tokens;
mod topics;

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use compass_comms::ports::{TokenHash, TopicSummary};
use compass_domain::{
    AccountId, NodeId, Position, ReadPosition, Seq, TenantId, TokenId, Topic, TopicId, UnixMillis,
};
use compass_hub::ports::Placement;

pub(crate) use accounts::Accounts;
pub(crate) use channels::Channels;
pub(crate) use delivery::Deliveries;
pub(crate) use groups::Groups;
pub(crate) use load::load;
pub(crate) use messages::{MessageRow, Messages};
pub(crate) use read_positions::ReadPlaces;
pub(crate) use tokens::Tokens;
pub(crate) use topics::Topics;

/// Rows found by one key.
pub(crate) type Map<K, V> = rpds::HashTrieMapSync<K, V>;
/// Rows found by ranges of keys.
pub(crate) type Tree<K, V> = rpds::RedBlackTreeMapSync<K, V>;
/// Keys found by ranges.
pub(crate) type Index<K> = rpds::RedBlackTreeSetSync<K>;

/// The lowest and the highest 16 bytes an id can hold.
pub(crate) const LOWEST: [u8; 16] = [0; 16];
pub(crate) const HIGHEST: [u8; 16] = [0xff; 16];

/// Everything a store holds. Copying it copies roots, not rows.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) tenants: BTreeMap<TenantId, TenantRows>,
    pub(crate) token_hashes: Map<TokenHash, (TenantId, TokenId)>,
    /// When each node's lease runs out.
    pub(crate) leases: Map<NodeId, UnixMillis>,
    pub(crate) last_position: Position,
}

/// The rows of one tenant.
#[derive(Clone, Default)]
pub(crate) struct TenantRows {
    pub(crate) accounts: Accounts,
    pub(crate) groups: Groups,
    pub(crate) channels: Channels,
    pub(crate) topics: Topics,
    pub(crate) messages: Messages,
    pub(crate) deliveries: Deliveries,
    pub(crate) tokens: Tokens,
    pub(crate) read_places: ReadPlaces,
    /// Where agents are placed, by agent.
    pub(crate) placements: Map<AccountId, Placement>,
}

impl TenantRows {
    /// A topic with its open asks.
    pub(crate) fn summary(&self, topic: &Arc<Topic>) -> TopicSummary {
        let open = self.messages.open_in(topic.channel).filter(|row| row.message.topic() == topic.id).count();
        TopicSummary { topic: Arc::clone(topic), open_asks: u32::try_from(open).unwrap_or(u32::MAX) }
    }

    /// How far an account has read a topic.
    pub(crate) fn read_position(&self, account: AccountId, topic: TopicId) -> ReadPosition {
        let seq = self.read_places.find(account, topic).unwrap_or(Seq(0));
        let others = self.messages.above_in_topic(topic, seq).filter(|row| row.message.author() != account);
        let unread = u32::try_from(others.count()).unwrap_or(u32::MAX);
        let newest = self.topics.find(topic).map_or(Seq(0), |row| row.last_seq);
        ReadPosition { topic, seq, unread, newest }
    }
}

impl World {
    /// A fresh install: one tenant without rows.
    pub(crate) fn new() -> Self {
        Self {
            tenants: BTreeMap::from([(TenantId::default_tenant(), TenantRows::default())]),
            token_hashes: Map::new_sync(),
            leases: Map::new_sync(),
            last_position: Position(0),
        }
    }

    pub(crate) fn tenant(&self, tenant: &TenantId) -> TenantRows {
        self.tenants.get(tenant).cloned().unwrap_or_default()
    }

    pub(crate) fn tenant_mut(&mut self, tenant: &TenantId) -> &mut TenantRows {
        self.tenants.entry(tenant.clone()).or_default()
    }
}

/// All pairs that start with `first`.
pub(crate) fn pairs<A: Copy, B>(first: A, lowest: B, highest: B) -> RangeInclusive<(A, B)> {
    (first, lowest)..=(first, highest)
}
