//! The SQL twin equals the domain's predicate on random worlds, cycles included, also after agents moved.

use std::collections::{BTreeMap, BTreeSet};

use compass_domain::{
    AccountId, ChannelId, TenantId,
    channel::MembershipMode,
    participation::{AgentNode, AgentTree, participates},
};

use super::*;
use crate::{
    ids::{id, optional_id, tenant},
    rows::Columns as _,
    testing::Db,
    transaction::{Access, Tx},
};

const WORLDS: u64 = 1000;
const PEOPLE: usize = 3;
const AGENTS: usize = 7;
const CHANNELS: usize = 4;

/// Numbers that a seed decides.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn id(&mut self) -> [u8; 16] {
        std::array::from_fn(|_| u8::try_from(self.below(256)).expect("a byte"))
    }
}

struct World {
    people: Vec<AccountId>,
    agents: Vec<AccountId>,
    nodes: BTreeMap<AccountId, AgentNode>,
    channels: Vec<(ChannelId, MembershipMode)>,
    members: BTreeSet<(ChannelId, AccountId)>,
}

impl World {
    fn draw(draws: &mut Draws) -> Self {
        let people: Vec<AccountId> = (0..PEOPLE).map(|_| AccountId::from_bytes(draws.id())).collect();
        let agents: Vec<AccountId> = (0..AGENTS).map(|_| AccountId::from_bytes(draws.id())).collect();
        let mut world =
            Self { people, agents, nodes: BTreeMap::new(), channels: vec![], members: BTreeSet::new() };
        world.move_agents(draws);
        for _ in 0..CHANNELS {
            let channel = ChannelId::from_bytes(draws.id());
            let mode = match draws.below(3) {
                0 => MembershipMode::Flat,
                _ => MembershipMode::Tree { anchor: world.agents[draws.below(AGENTS)] },
            };
            world.channels.push((channel, mode));
            for account in world.accounts() {
                if draws.below(5) == 0 {
                    world.members.insert((channel, account));
                }
            }
        }
        world
    }

    /// Gives every agent another owner and parent; cycles may come about.
    fn move_agents(&mut self, draws: &mut Draws) {
        for &agent in &self.agents {
            let parent = (draws.below(4) > 0).then(|| self.agents[draws.below(AGENTS)]);
            let owner = self.people[draws.below(PEOPLE)];
            self.nodes.insert(agent, AgentNode { owner, parent });
        }
    }

    fn accounts(&self) -> Vec<AccountId> {
        self.people.iter().chain(&self.agents).copied().collect()
    }

    async fn store(&self, tx: &mut Tx, of: &TenantId) {
        let account =
            "INSERT INTO accounts (id, tenant, handle, display_name, kind, owner, home_channel, parent)
                       VALUES ($1, $2, $3, '', $4, $5, $6, $7)";
        for &person in &self.people {
            let none = optional_id(None::<AccountId>);
            let values = vec![
                id(person),
                tenant(of),
                person.to_string().into(),
                0i16.into(),
                none.clone(),
                none.clone(),
                none,
            ];
            tx.execute(account, values).await.expect("a person");
        }
        for (&agent, node) in &self.nodes {
            let home = Some(self.channels[0].0);
            let values = vec![
                id(agent),
                tenant(of),
                agent.to_string().into(),
                1i16.into(),
                id(node.owner),
                optional_id(home),
                optional_id(node.parent),
            ];
            tx.execute(account, values).await.expect("an agent");
        }
        let row = "INSERT INTO channels
                   (id, tenant, name, name_key, kind, membership_mode, anchor, post_policy, mandatory)
                   VALUES ($1, $2, 'c', 'c', 0, $3, $4, 0, false)";
        for &(channel, mode) in &self.channels {
            let (mode, anchor) = match mode {
                MembershipMode::Flat => (0i16, None),
                MembershipMode::Tree { anchor } => (1, Some(anchor)),
            };
            let values = vec![id(channel), tenant(of), mode.into(), optional_id(anchor)];
            tx.execute(row, values).await.expect("a channel");
        }
        let row = "INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
                   VALUES ($1, $2, $3, false, 1)";
        for &(channel, member) in &self.members {
            tx.execute(row, vec![id(channel), id(member), tenant(of)]).await.expect("a member");
        }
    }

    async fn store_moves(&self, tx: &mut Tx) {
        for (&agent, node) in &self.nodes {
            let values = vec![id(agent), id(node.owner), optional_id(node.parent)];
            let sql = "UPDATE accounts SET owner = $2, parent = $3 WHERE id = $1";
            tx.execute(sql, values).await.expect("an agent moves");
        }
    }

    fn expected(&self) -> BTreeSet<(ChannelId, AccountId)> {
        let tree = AgentTree::new(self.nodes.iter().map(|(&agent, &node)| (agent, node)));
        let pairs = self.channels.iter().flat_map(|&(channel, mode)| {
            self.accounts().into_iter().map(move |account| (channel, mode, account))
        });
        pairs
            .filter(|&(channel, mode, account)| {
                participates(account, mode, self.members.contains(&(channel, account)), &tree)
            })
            .map(|(channel, _, account)| (channel, account))
            .collect()
    }

    async fn check(&self, tx: &mut Tx, what: &str) {
        let expected = self.expected();
        let dialect = tx.dialect();
        let channels = || dialect.id_list(self.channels.iter().map(|(channel, _)| *channel));
        let accounts = dialect.id_list(self.accounts());
        let sql = format!(
            "SELECT channel.id AS channel, account.id AS account FROM channels channel, accounts account
             WHERE channel.id {} AND account.id {} AND {}",
            dialect.any_id(1),
            dialect.any_id(2),
            takes_part("account.id", "channel"),
        );
        assert_eq!(pairs(tx, &sql, vec![channels(), accounts]).await, expected, "{what}: one question");

        let sql = format!(
            "WITH RECURSIVE wanted (channel) AS (SELECT c.id FROM channels c WHERE c.id {}), {}
             SELECT channel, account FROM part",
            dialect.any_id(1),
            participants_of("part", "wanted"),
        );
        assert_eq!(pairs(tx, &sql, vec![channels()]).await, expected, "{what}: participants");

        let sql = format!("WITH RECURSIVE {} SELECT channel FROM mine", channels_of("mine", "$1"));
        let mut found = BTreeSet::new();
        for account in self.accounts() {
            for row in tx.all(&sql, vec![id(account)]).await.expect("channels") {
                found.insert((row.id("channel").expect("a channel"), account));
            }
        }
        assert_eq!(found, expected, "{what}: channels");
    }
}

async fn pairs(tx: &mut Tx, sql: &str, values: Vec<sea_orm::Value>) -> BTreeSet<(ChannelId, AccountId)> {
    let rows = tx.all(sql, values).await.expect("pairs");
    let count = rows.len();
    let pairs: BTreeSet<_> = rows
        .iter()
        .map(|row| (row.id("channel").expect("a channel"), row.id("account").expect("an account")))
        .collect();
    assert_eq!(pairs.len(), count, "each pair once");
    pairs
}

#[tokio::test]
async fn every_form_of_the_predicate_equals_the_domains_on_random_worlds() {
    let of = TenantId::default_tenant();
    for db in Db::both().await {
        for seed in 0..WORLDS {
            // Never kept, so that every world is alone.
            let mut tx = db.storage.pools.tenant(&of, Access::Write).await.expect("a transaction");
            let dialect = tx.dialect();
            let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut world = World::draw(&mut draws);
            world.store(&mut tx, &of).await;
            world.check(&mut tx, &format!("{dialect:?} seed {seed}")).await;
            world.move_agents(&mut draws);
            world.store_moves(&mut tx).await;
            world.check(&mut tx, &format!("{dialect:?} seed {seed} after moving")).await;
        }
    }
}
