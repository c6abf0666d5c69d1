//! Who follows the events of channels and groups ends where a fresh read begins, whatever happened.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use compass_comms::{
    Caller,
    accounts::{
        create_agent::{CreateAgent, create_agent},
        reparent_agent::{ReparentAgent, reparent_agent},
    },
    channels::{
        create_channel::{CreateChannel, Mode, create_channel},
        list_channels::list_channels,
        open_dm::{OpenDm, open_dm},
        resolve::ChannelRef,
        set_policy::{SetPolicy, set_policy},
        update_board::{BoardChange, UpdateBoard, update_board},
        update_members::{UpdateMembers, update_members},
    },
    events::{EventStream, StreamItem, SubscribeFrom, subscribe},
    groups::{
        create_group::{CreateGroup, create_group},
        list_groups::list_groups,
    },
};
use compass_domain::{
    AccountId, Channel, ChannelGroup, ChannelId, Event, GroupId, Presence, group::Visibility,
};

use crate::house::{House, new_channel};

const WORLDS: u64 = 40;
const STEPS: usize = 40;

/// Numbers that a seed decides.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A client that reads once and follows events from then on.
struct Follower {
    who: Caller,
    stream: EventStream,
    channels: BTreeMap<ChannelId, Channel>,
    groups: BTreeMap<GroupId, ChannelGroup>,
}

impl Follower {
    async fn start(house: &House, who: &Caller) -> Self {
        let start = SubscribeFrom { since_seq: 0, epoch: 0 };
        let mut stream = subscribe(&house.comms, &Arc::default(), who, start).await;
        assert!(matches!(stream.next().await, StreamItem::Boundary { .. }));
        let (channels, groups) = read(house, who).await;
        let mut follower = Self { who: who.clone(), stream, channels, groups };
        follower.follow(house).await;
        // What was retained from before the read is older than the read.
        (follower.channels, follower.groups) = read(house, who).await;
        follower
    }

    /// Applies what was told until now.
    async fn follow(&mut self, house: &House) {
        let agent = self.who.actor.id;
        let canary =
            Event::AgentPresenceChanged { agent, presence: Presence::Idle, activity: "canary".into() };
        house.comms.bus.publish(&house.tenant, vec![canary.clone()]);
        loop {
            let StreamItem::Event(published) = self.stream.next().await else { panic!("an event") };
            match &published.event {
                event if *event == canary => return,
                Event::ChannelChanged { channel, removed } if removed.contains(&agent) => {
                    self.channels.remove(&channel.id);
                }
                Event::ChannelChanged { channel, .. } => {
                    self.channels.insert(channel.id, Channel::clone(channel));
                }
                Event::ChannelGroupChanged(group) => {
                    self.groups.insert(group.id, ChannelGroup::clone(group));
                }
                _ => {}
            }
        }
    }

    async fn check(&mut self, house: &House, what: &str) {
        self.follow(house).await;
        let (channels, groups) = read(house, &self.who).await;
        assert_eq!(self.channels, channels, "{what}: channels of {}", self.who.actor.id);
        assert_eq!(self.groups, groups, "{what}: groups of {}", self.who.actor.id);
    }
}

async fn read(
    house: &House,
    who: &Caller,
) -> (BTreeMap<ChannelId, Channel>, BTreeMap<GroupId, ChannelGroup>) {
    let channels = list_channels(&house.comms, who).await.unwrap();
    let groups = list_groups(&house.comms, who).await.unwrap();
    (
        channels.into_iter().map(|channel| (channel.id, channel)).collect(),
        groups.into_iter().map(|group| (group.id, group)).collect(),
    )
}

/// What actions draw from.
struct World {
    people: Vec<Caller>,
    agents: Vec<Caller>,
    channels: Vec<ChannelId>,
}

impl World {
    fn anyone<'a>(&'a self, draws: &mut Draws) -> &'a Caller {
        match draws.below(2) {
            0 => draws.one(&self.people),
            _ => draws.one(&self.agents),
        }
    }

    fn some(&self, draws: &mut Draws) -> Vec<AccountId> {
        (0..draws.below(3)).map(|_| self.anyone(draws).actor.id).collect()
    }
}

/// Does one thing; what is refused is part of the game. Returns what it was.
async fn act(house: &House, world: &mut World, draws: &mut Draws, step: usize) -> (&'static str, bool) {
    let comms = &house.comms;
    let by = world.anyone(draws).clone();
    let channel = *draws.one(&world.channels);
    match draws.below(10) {
        0 => {
            let mode = match draws.below(2) {
                0 => Mode::Flat,
                _ => Mode::Tree { anchor: draws.one(&world.agents).actor.id },
            };
            let members = world.some(draws);
            let create = CreateChannel { members, mode, ..new_channel(&format!("c{step}"), &[]) };
            let made = create_channel(comms, &by, create).await;
            let done = made.is_ok();
            world.channels.extend(made.map(|channel| channel.id));
            ("create a channel", done)
        }
        1..=3 => {
            let agent = draws.one(&world.agents).actor;
            let parent = (draws.below(4) > 0).then(|| draws.one(&world.agents).actor.id);
            let owner =
                Caller { tenant: house.tenant.clone(), actor: house.account(agent.owner()).await.actor() };
            let reparent = ReparentAgent { agent: Some(agent.id), new_parent: parent };
            ("move an agent", reparent_agent(comms, &owner, reparent).await.is_ok())
        }
        4 => {
            let parent = Some(draws.one(&world.agents).actor.id);
            let create = CreateAgent { handle: format!("a{step}"), parent, ..CreateAgent::default() };
            ("create an agent", create_agent(comms, &by, create).await.is_ok())
        }
        5 | 6 => {
            let update = UpdateMembers {
                add: world.some(draws),
                subscribe: world.some(draws),
                remove: world.some(draws),
                new_name: (draws.below(4) == 0).then(|| format!("n{step}")),
                ..UpdateMembers::of(ChannelRef::Id(channel))
            };
            ("change members", update_members(comms, &by, update).await.is_ok())
        }
        7 => {
            let owner_only = draws.below(3) == 0;
            let owner = owner_only.then_some(by.actor.id);
            let set = SetPolicy { channel, owner_only, owner, mandatory: draws.below(2) == 0 };
            ("set a policy", set_policy(comms, &by, set).await.is_ok())
        }
        8 => {
            let peer = house.account(world.anyone(draws).actor.id).await.handle.to_string();
            let opened = open_dm(comms, &by, OpenDm { peer_handle: peer }).await;
            let done = opened.is_ok();
            world.channels.extend(opened.map(|opened| opened.channel.id));
            ("open a conversation", done)
        }
        _ => {
            let visibility = if draws.below(2) == 0 { Visibility::Owner } else { Visibility::Shared };
            let create = CreateGroup { name: format!("g{step}"), parent: None, visibility };
            ("create a group", create_group(comms, &by, create).await.is_ok())
        }
    }
}

#[tokio::test]
async fn following_the_events_of_channels_and_groups_equals_reading_them_again() {
    let mut done: HashMap<&str, usize> = HashMap::new();
    for seed in 0..WORLDS {
        let house = House::new().await;
        let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let people = vec![house.user("ada").await, house.user("bob").await];
        let mut agents = Vec::new();
        for number in 0..5 {
            agents.push(house.agent(draws.one(&people), &format!("bot{number}")).await);
        }
        let mut world = World { people, agents, channels: Vec::new() };
        for (number, agent) in world.agents.iter().enumerate() {
            let mode = Mode::Tree { anchor: agent.actor.id };
            let create = CreateChannel { mode, ..new_channel(&format!("tree{number}"), &[]) };
            world.channels.push(create_channel(&house.comms, agent, create).await.unwrap().id);
        }
        let mut followers = Vec::new();
        for who in world.people.iter().chain(&world.agents) {
            followers.push(Follower::start(&house, who).await);
        }
        for step in 0..STEPS {
            let (what, is_done) = act(&house, &mut world, &mut draws, step).await;
            *done.entry(what).or_default() += usize::from(is_done);
            for follower in &mut followers {
                follower.check(&house, &format!("seed {seed} step {step}, {what}")).await;
            }
        }
    }
    assert_eq!(done.len(), 7, "{done:?}");
    assert!(done.values().all(|count| *count > 10), "every action went through sometimes: {done:?}");
}

#[tokio::test]
async fn a_board_is_the_same_in_the_event_the_reply_and_the_list() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let channel = house.channel(&ada, "plans", &[]).await.id;
    let message = house.post(&ada, channel, "pin me").await.message.id();
    let mut follower = Follower::start(&house, &ada).await;
    let change = BoardChange::Pin { message, replace: None };
    let replied = update_board(&house.comms, &ada, UpdateBoard { channel, change }).await.unwrap();
    follower.check(&house, "after the pin").await;
    assert_eq!(follower.channels[&channel], replied);
    assert_eq!(replied.pins.len(), 1);
}
