//! Channels: rows, names, participation.

use compass_domain::{
    Account, AccountId, AccountKind, ChannelId,
    channel::{Member, MembershipMode, PostPolicy},
    participation::{AgentNode, AgentTree, participates},
};

use crate::{ChannelSpec, Fixture, Scene, ids::scatter};

/// CH-6: everything a channel row says, members in the order they were added.
pub async fn a_channel_is_read_back_as_it_was_stored(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (zoe, ana) = (scene.user("zoe").await, scene.user("ana").await);
    let bot = scene.agent("bot", &ana).await;
    let spec = ChannelSpec {
        policy: PostPolicy::OwnerOnly { owner: zoe.id },
        mandatory: true,
        ..ChannelSpec::new("  Straße 7 ", &[&zoe, &ana, &bot])
    };
    let id = scene.channel_with(spec.tree(&bot)).await;
    let mut unit = scene.begin().await;
    let locked = unit.channels().lock(id).await.unwrap().expect("the channel exists");
    drop(unit);
    let read = scene.read().await.find_channel(id).await.unwrap().expect("the channel exists");
    assert_eq!(read, locked);
    assert_eq!((read.name.as_str(), read.name.key()), ("Straße 7", "straße 7"));
    assert_eq!(read.policy, PostPolicy::OwnerOnly { owner: zoe.id });
    assert_eq!(read.mode, MembershipMode::Tree { anchor: bot.id });
    assert!(read.mandatory);
    let members: Vec<AccountId> = read.members.iter().map(|member| member.account).collect();
    assert_eq!(members, [zoe.id, ana.id, bot.id]);
    let unknown = scene.new_account("x", AccountKind::System);
    let unknown = ChannelId::from_bytes(*unknown.id.as_bytes());
    assert_eq!(scene.read().await.find_channel(unknown).await.unwrap(), None);
}

/// CH-17, M7: by the key of the name.
pub async fn channels_are_listed_by_name_where_the_viewer_takes_part(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    for name in ["delta", "Alpha", "charlie", "BRAVO"] {
        scene.channel(name, &[&ana]).await;
    }
    scene.channel("hidden", &[&ben]).await;
    let listed = scene.read().await.list_channels(ana.actor()).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|channel| channel.name.as_str()).collect();
    assert_eq!(names, ["Alpha", "BRAVO", "charlie", "delta"]);
}

/// CH-7: ungrouped names are free to repeat; only the viewer's own count.
pub async fn channels_are_found_by_the_key_of_their_name(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let mut expected = vec![scene.channel("Ops", &[&ana]).await, scene.channel("OPS", &[&ana, &ben]).await];
    scene.channel("ops", &[&ben]).await;
    scene.channel("ops2", &[&ana]).await;
    let found = scene.read().await.find_channels_named(ana.actor(), "ops").await.unwrap();
    expected.sort_unstable();
    assert_eq!(found.iter().map(|channel| channel.id).collect::<Vec<_>>(), expected, "by id");
    assert!(found.iter().all(|channel| channel.name.key() == "ops" && channel.group.is_none()));
    assert_eq!(scene.read().await.find_channels_named(ana.actor(), "op").await.unwrap(), []);
}

/// CH-21, CH-22.
pub async fn a_tree_lets_in_the_anchor_its_subtree_and_its_owner(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let root = scene.agent("root", &ana).await;
    let anchor = scene.child("anchor", &root).await;
    let (child, sibling) = (scene.child("child", &anchor).await, scene.child("sibling", &root).await);
    let grandchild = scene.child("grandchild", &child).await;
    let foreign = scene.agent("foreign", &ben).await;
    let tree = scene.tree("tree", &anchor).await;
    for (account, expected) in [
        (&anchor, true),
        (&child, true),
        (&grandchild, true),
        (&ana, true),
        (&root, false),
        (&sibling, false),
        (&ben, false),
        (&foreign, false),
    ] {
        check(&scene, account, tree, expected).await;
    }
    scene.put_member(tree, &foreign, false).await;
    check(&scene, &foreign, tree, true).await;
}

async fn check(scene: &Scene, account: &Account, channel: ChannelId, expected: bool) {
    let mut read = scene.read().await;
    let by_list = read.participating(account.id, &[channel]).await.unwrap() == [channel];
    let sees = read.sees_channel(account.actor(), channel).await.unwrap();
    let listed = read.list_channels(account.actor()).await.unwrap().iter().any(|row| row.id == channel);
    drop(read);
    let mut unit = scene.begin().await;
    let in_unit = unit.channels().participates(account.id, channel).await.unwrap();
    drop(unit);
    let handle = &account.handle;
    assert_eq!([by_list, sees, listed, in_unit], [expected; 4], "{handle}");
}

/// I5: the rule exists twice, and both must be one.
pub async fn participation_equals_the_domain_predicate_on_random_worlds(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let world = RandomWorld::build(&scene, 7).await;
    for account in &world.accounts {
        let mut read = scene.read().await;
        let ids: Vec<ChannelId> = world.channels.iter().map(|(id, _)| *id).collect();
        let mut stored = read.participating(account.id, &ids).await.unwrap();
        stored.sort_unstable();
        let mut expected = world.of(account.id);
        expected.sort_unstable();
        assert_eq!(stored, expected, "seed {}, account {}", world.seed, account.handle);
        let mates = read.channel_mates(account.id).await.unwrap();
        for other in &world.accounts {
            let share = expected.iter().any(|channel| world.of(other.id).contains(channel));
            let both = format!("seed {}, {} and {}", world.seed, account.handle, other.handle);
            assert_eq!(mates.contains(&other.id), share, "{both}");
            let seen = read.sees_account(account.actor(), other.id).await.unwrap();
            assert_eq!(seen, other.is_visible_to(account.id, || share), "{both}");
        }
    }
}

/// CH-29, CH-36.
pub async fn a_member_is_added_changed_and_removed(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana]).await;
    scene.put_member(room, &ben, false).await;
    scene.put_member(room, &ana, true).await;
    let member = |account: &Account, subscribed| Member { account: account.id, subscribed };
    let members = scene.read().await.find_channel(room).await.unwrap().unwrap().members;
    assert_eq!(members, [member(&ana, true), member(&ben, false)]);
    assert!(scene.remove(room, &ben).await);
    assert!(!scene.remove(room, &ben).await, "there was no row");
    check(&scene, &ben, room, false).await;
}

/// A world of people, agents and channels that a seed decides.
pub(super) struct RandomWorld {
    pub(super) seed: u64,
    pub(super) accounts: Vec<Account>,
    pub(super) channels: Vec<(ChannelId, ChannelSpec)>,
    tree: AgentTree,
}

impl RandomWorld {
    pub(super) async fn build(scene: &Scene, seed: u64) -> Self {
        let mut draws = Draws(seed);
        let mut accounts = vec![scene.user("u0").await, scene.user("u1").await, scene.user("u2").await];
        let mut agents: Vec<Account> = Vec::new();
        for number in 0..12 {
            let handle = format!("a{number}");
            let agent = match draws.below(3) {
                0 => scene.agent(&handle, &accounts[draws.below(3)]).await,
                _ if agents.is_empty() => scene.agent(&handle, &accounts[draws.below(3)]).await,
                _ => scene.child(&handle, &agents[draws.below(agents.len())]).await,
            };
            agents.push(agent);
        }
        accounts.extend(agents.iter().cloned());
        let mut channels = Vec::new();
        let mut nodes = Vec::new();
        for agent in &agents {
            let AccountKind::Agent { owner, parent, home_channel } = agent.kind else { continue };
            nodes.push((agent.id, AgentNode { owner, parent }));
            let member = |account, subscribed| Member { account, subscribed };
            let members = vec![member(owner, false), member(agent.id, true)];
            let home = ChannelSpec { members, ..ChannelSpec::new(agent.handle.as_str(), &[]) };
            channels.push((home_channel, home));
        }
        let tree = AgentTree::new(nodes);
        for number in 0..10 {
            let members: Vec<&Account> = accounts.iter().filter(|_| draws.below(5) == 0).collect();
            let mut spec = ChannelSpec::new(&format!("c{number}"), &members);
            spec.mandatory = draws.below(4) == 0;
            for member in &mut spec.members {
                member.subscribed = draws.below(2) == 0;
            }
            if draws.below(2) == 0 {
                spec = spec.tree(&agents[draws.below(agents.len())]);
            }
            channels.push((scene.channel_with(spec.clone()).await, spec));
        }
        Self { seed, accounts, channels, tree }
    }

    /// The forest of its agents.
    pub(super) fn tree(&self) -> &AgentTree {
        &self.tree
    }

    /// The channels of an account by the domain's predicate.
    pub(super) fn of(&self, account: AccountId) -> Vec<ChannelId> {
        let takes_part = |spec: &ChannelSpec| {
            let has_row = spec.members.iter().any(|member| member.account == account);
            participates(account, spec.mode, has_row, &self.tree)
        };
        self.channels.iter().filter(|(_, spec)| takes_part(spec)).map(|(id, _)| *id).collect()
    }
}

/// Numbers that a seed decides.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    /// One of the items, if there are any.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(&items[self.below(items.len())]) }
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 += 1;
        usize::try_from(scatter(self.0) % bound as u64).unwrap_or_default()
    }
}
