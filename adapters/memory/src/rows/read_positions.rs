//! How far people have read topics.

use compass_domain::{AccountId, Seq, TopicId};

use super::{HIGHEST, LOWEST, Tree, pairs};

/// The stored places of a tenant's people.
#[derive(Clone, Default)]
pub(crate) struct ReadPlaces {
    places: Tree<(TopicId, AccountId), Seq>,
}

impl ReadPlaces {
    pub(crate) fn find(&self, account: AccountId, topic: TopicId) -> Option<Seq> {
        self.places.get(&(topic, account)).copied()
    }

    pub(crate) fn put(&mut self, account: AccountId, topic: TopicId, seq: Seq) {
        self.places.insert_mut((topic, account), seq);
    }

    /// Everyone's place in a topic, by account.
    pub(crate) fn of(&self, topic: TopicId) -> impl Iterator<Item = (AccountId, Seq)> + '_ {
        let (lowest, highest) = (AccountId::from_bytes(LOWEST), AccountId::from_bytes(HIGHEST));
        self.places.range(pairs(topic, lowest, highest)).map(|((_, account), seq)| (*account, *seq))
    }

    pub(crate) fn remove_all(&mut self, topic: TopicId) {
        let accounts: Vec<AccountId> = self.of(topic).map(|(account, _)| account).collect();
        for account in accounts {
            self.places.remove_mut(&(topic, account));
        }
    }
}
