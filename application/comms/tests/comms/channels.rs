//! Channels and topics: creating, naming, listing, members.

use compass_comms::{
    Caller,
    accounts::create_agent::{CreateAgent, create_agent},
    channels::{
        create_channel::{CreateChannel, Mode, create_channel},
        list_channels::list_channels,
        resolve::{ChannelRef, resolve},
        update_members::{UpdateMembers, update_members},
    },
    groups::resolve::GroupRef,
    messages::post_message::post_message,
    topics::list_topics::{ListTopics, list_topics},
};
use compass_domain::{
    AccountId, Channel, ChannelId, ErrorKind, Event, GroupId, Handle, MessageId, Seq,
    channel::{ChannelKind, ChannelName, Member, PostPolicy},
};
use compass_ports::{Decision, Loaded, Locks, StorageError, WriteJob, Writes, submit};

use crate::house::{House, a_post, kind, new_channel, next, text};

const UNKNOWN: AccountId = AccountId::from_bytes([9; 16]);

fn member(who: &Caller, subscribed: bool) -> Member {
    Member { account: who.actor.id, subscribed }
}

fn batch(channel: &Channel) -> UpdateMembers {
    UpdateMembers::of(ChannelRef::Id(channel.id))
}

#[tokio::test]
async fn members_are_the_creator_the_asked_ones_and_the_owners_of_agents() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let bobs = house.agent(&bob, "bobs").await;
    let mut events = house.listen();
    let create = CreateChannel {
        member_handles: vec!["bobs".into(), "ada".into()],
        ..new_channel(" Plans ", &[&house.admin])
    };
    let channel = create_channel(&house.comms, &ada, create).await.unwrap();
    assert_eq!(channel.name.as_str(), "Plans");
    let expected = [&ada, &house.admin, &bobs, &bob].map(|who| member(who, false));
    assert_eq!(channel.members, expected);
    let told = Event::ChannelChanged { channel: channel.into(), removed: Vec::new() };
    assert_eq!(next(&mut events).await, told);
}

#[tokio::test]
async fn an_agent_that_creates_a_channel_brings_its_owner() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    let channel = house.channel(&bot, "work", &[]).await;
    assert_eq!(channel.members, [member(&bot, false), member(&ada, false)]);
}

#[tokio::test]
async fn a_channel_with_an_unknown_member_or_group_is_not_created() {
    let house = House::new().await;
    let before = list_channels(&house.comms, &house.admin).await.unwrap();
    let unknown = CreateChannel { members: vec![UNKNOWN], ..new_channel("x", &[]) };
    let error = text(create_channel(&house.comms, &house.admin, unknown).await);
    assert!(error.contains(&UNKNOWN.to_string()), "{error}");
    for bad in ["nobody", "Not A Handle"] {
        let unknown = CreateChannel { member_handles: vec![bad.into()], ..new_channel("x", &[]) };
        let refused = create_channel(&house.comms, &house.admin, unknown).await;
        assert_eq!(kind(refused), ErrorKind::InvalidArgument);
    }
    let grouped =
        CreateChannel { group: Some(GroupRef::Id(GroupId::from_bytes([1; 16]))), ..new_channel("x", &[]) };
    assert_eq!(kind(create_channel(&house.comms, &house.admin, grouped).await), ErrorKind::NotFound);
    let blank = create_channel(&house.comms, &house.admin, new_channel("  ", &[])).await;
    assert_eq!(kind(blank), ErrorKind::InvalidArgument);
    assert_eq!(list_channels(&house.comms, &house.admin).await.unwrap(), before);
}

#[tokio::test]
async fn a_tree_channel_is_created_by_its_anchor_or_the_anchors_owner_only() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let boss = house.agent(&ada, "boss").await;
    let tree = |anchor| CreateChannel { mode: Mode::Tree { anchor }, ..new_channel("tree", &[]) };
    let by_anchor = create_channel(&house.comms, &boss, tree(boss.actor.id)).await.unwrap();
    assert_eq!(by_anchor.members, [member(&ada, false)], "the anchor takes part without a row");
    assert!(create_channel(&house.comms, &ada, tree(boss.actor.id)).await.is_ok());
    let foreign = text(create_channel(&house.comms, &bob, tree(boss.actor.id)).await);
    assert_eq!(text(create_channel(&house.comms, &bob, tree(UNKNOWN)).await), foreign);
    assert_eq!(kind(create_channel(&house.comms, &bob, tree(UNKNOWN)).await), ErrorKind::PermissionDenied);
    house.post(&boss, by_anchor.id, "the anchor writes").await;
}

#[tokio::test]
async fn a_name_means_a_channel_the_caller_takes_part_in() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let plans = house.channel(&ada, "Plans", &[]).await;
    house.channel(&bob, "plans", &[]).await;
    let name = |name: &str| ChannelRef::Name(name.into());
    assert_eq!(resolve(&house.comms, &ada, &name("PLANS")).await.unwrap(), plans.id);
    let invisible = text(resolve(&house.comms, &house.admin, &name("plans")).await);
    assert_eq!(text(resolve(&house.comms, &house.admin, &name("nothing")).await), invisible);
    assert_eq!(kind(resolve(&house.comms, &house.admin, &name("plans")).await), ErrorKind::NotFound);
    house.channel(&ada, "pLANS", &[]).await;
    assert_eq!(kind(resolve(&house.comms, &ada, &name("plans")).await), ErrorKind::InvalidArgument);
    assert_eq!(kind(resolve(&house.comms, &ada, &name(" ")).await), ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn only_agents_have_a_home() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let home = resolve(&house.comms, &bot, &ChannelRef::Home).await.unwrap();
    assert_eq!(home, house.home_of(&bot).await);
    let refused = resolve(&house.comms, &house.admin, &ChannelRef::Home).await;
    assert_eq!(kind(refused), ErrorKind::FailedPrecondition);
}

#[tokio::test]
async fn topics_are_listed_by_latest_activity_to_participants_only() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let channel = house.channel(&ada, "plans", &[]).await;
    for name in ["one", "two", "one"] {
        let mut post = a_post(ChannelRef::Id(channel.id));
        post.topic.name = Some(name.into());
        post_message(&house.comms, &ada, post).await.unwrap();
    }
    let list = |channel| ListTopics { channel: ChannelRef::Id(channel), include_archived: false };
    let topics = list_topics(&house.comms, &ada, list(channel.id)).await.unwrap();
    let names: Vec<&str> = topics.topics.iter().map(|summary| summary.topic.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    let foreign = text(list_topics(&house.comms, &bob, list(channel.id)).await);
    let unknown = list_topics(&house.comms, &bob, list(ChannelId::from_bytes([7; 16]))).await;
    assert_eq!(text(unknown), foreign);
    assert_eq!(kind(list_topics(&house.comms, &bob, list(channel.id)).await), ErrorKind::NotFound);
}

#[tokio::test]
async fn the_last_list_that_names_an_account_wins_over_the_earlier_ones() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let channel = house.channel(&ada, "plans", &[]).await;
    let id = bob.actor.id;
    let subscribed = UpdateMembers { add: vec![id], subscribe: vec![id], ..batch(&channel) };
    let after = update_members(&house.comms, &ada, subscribed).await.unwrap();
    assert_eq!(after.members, [member(&ada, false), member(&bob, true)]);
    let silent =
        UpdateMembers { subscribe_handles: vec!["bob".into()], unsubscribe: vec![id], ..batch(&channel) };
    let after = update_members(&house.comms, &ada, silent).await.unwrap();
    assert_eq!(after.members, [member(&ada, false), member(&bob, false)]);
    let gone = UpdateMembers { add: vec![id], subscribe: vec![id], remove: vec![id], ..batch(&channel) };
    let after = update_members(&house.comms, &ada, gone).await.unwrap();
    assert_eq!(after.members, [member(&ada, false)]);
}

#[tokio::test]
async fn adding_an_agent_adds_its_owner_and_leaves_the_owners_row_alone() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let (one, two) = (house.agent(&bob, "one").await, house.agent(&bob, "two").await);
    let channel = house.channel(&ada, "plans", &[]).await;
    let add = UpdateMembers { add: vec![one.actor.id], ..batch(&channel) };
    let after = update_members(&house.comms, &ada, add).await.unwrap();
    assert!(after.members.contains(&member(&bob, false)));
    let subscribe = UpdateMembers { subscribe: vec![bob.actor.id], ..batch(&channel) };
    update_members(&house.comms, &bob, subscribe).await.unwrap();
    let add = UpdateMembers { add_handles: vec!["two".into()], ..batch(&channel) };
    let after = update_members(&house.comms, &ada, add).await.unwrap();
    assert!(after.members.contains(&member(&bob, true)));
    assert!(after.members.contains(&member(&two, false)));
}

#[tokio::test]
async fn an_owner_leaves_after_its_agents_within_one_batch_too() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let (one, two) = (house.agent(&bob, "one").await, house.agent(&bob, "two").await);
    let channel = house.channel(&ada, "plans", &[&one, &two]).await;
    let owner_first = vec![one.actor.id, bob.actor.id, two.actor.id];
    let refused = UpdateMembers { remove: owner_first, ..batch(&channel) };
    assert_eq!(kind(update_members(&house.comms, &ada, refused).await), ErrorKind::InvalidArgument);
    let listed = list_channels(&house.comms, &ada).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&channel), "a refused batch changes nothing");
    let agents_first = vec![one.actor.id, two.actor.id, bob.actor.id];
    let mut events = house.listen();
    let update = UpdateMembers { remove: agents_first.clone(), ..batch(&channel) };
    let after = update_members(&house.comms, &ada, update).await.unwrap();
    assert_eq!(after.members, [member(&ada, false)]);
    let told = Event::ChannelChanged { channel: after.into(), removed: agents_first };
    assert_eq!(next(&mut events).await, told);
}

#[tokio::test]
async fn an_owner_that_is_removed_before_its_agent_joins_stays() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let one = house.agent(&bob, "one").await;
    let channel = house.channel(&ada, "plans", &[&bob]).await;
    let mut events = house.listen();
    let add = vec![bob.actor.id, one.actor.id];
    let update = UpdateMembers { add, remove: vec![bob.actor.id], ..batch(&channel) };
    let after = update_members(&house.comms, &ada, update).await.unwrap();
    assert!(after.members.contains(&member(&bob, false)));
    let told = Event::ChannelChanged { channel: after.into(), removed: Vec::new() };
    assert_eq!(next(&mut events).await, told);
}

#[tokio::test]
async fn removing_a_stranger_changes_and_tells_nothing() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let channel = house.channel(&ada, "plans", &[]).await;
    let mut events = house.listen();
    let update = UpdateMembers { remove: vec![bob.actor.id], ..batch(&channel) };
    assert_eq!(update_members(&house.comms, &ada, update).await.unwrap(), channel);
    let canary = house.channel(&ada, "canary", &[]).await;
    let told = Event::ChannelChanged { channel: canary.into(), removed: Vec::new() };
    assert_eq!(next(&mut events).await, told);
}

#[tokio::test]
async fn a_batch_by_an_outsider_looks_like_one_on_an_unknown_channel() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let channel = house.channel(&ada, "plans", &[]).await;
    let join = UpdateMembers { add: vec![bob.actor.id], ..batch(&channel) };
    let foreign = update_members(&house.comms, &bob, join).await;
    let nowhere = UpdateMembers::of(ChannelRef::Id(ChannelId::from_bytes([7; 16])));
    let unknown = text(update_members(&house.comms, &bob, nowhere).await);
    assert_eq!(text(foreign), unknown);
    let unknown = UpdateMembers { add: vec![UNKNOWN], ..batch(&channel) };
    assert_eq!(kind(update_members(&house.comms, &ada, unknown).await), ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn subscribers_of_a_home_channel_include_its_agent() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let system = Handle::system();
    let home = house.home_of(&bot).await;
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    let channel = unit.find_channel(home).await.unwrap().unwrap();
    assert_eq!(channel.members, [member(&house.admin, false), member(&bot, true)]);
    let sender = unit.find_account_by_handle(&system).await.unwrap().unwrap();
    assert!(channel.members.iter().all(|member| member.account != sender.id));
}

/// Stores a channel that no use case creates.
async fn stored(house: &House, channel: &Channel) {
    let mut unit = house.comms.storage.begin(&house.tenant).await.unwrap();
    unit.channels().insert(channel).await.unwrap();
    unit.commit().await.unwrap();
}

fn special(name: &str, members: &[&Caller]) -> Channel {
    Channel {
        id: ChannelId::from_bytes([0x33; 16]),
        name: ChannelName::parse(name).unwrap(),
        group: None,
        kind: ChannelKind::Channel,
        mode: Mode::Flat,
        policy: PostPolicy::Open,
        mandatory: false,
        members: members.iter().map(|who| member(who, false)).collect(),
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    }
}

#[tokio::test]
async fn an_unsubscribe_on_a_mandatory_channel_refuses_the_whole_batch() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let channel = Channel { mandatory: true, ..special("news", &[&ada]) };
    stored(&house, &channel).await;
    let mixed = UpdateMembers { add: vec![bob.actor.id], unsubscribe: vec![ada.actor.id], ..batch(&channel) };
    assert_eq!(kind(update_members(&house.comms, &ada, mixed).await), ErrorKind::InvalidArgument);
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    assert_eq!(unit.find_channel(channel.id).await.unwrap(), Some(channel.clone()));
    let plain = UpdateMembers { add: vec![bob.actor.id], ..batch(&channel) };
    assert!(update_members(&house.comms, &ada, plain).await.is_ok());
}

#[tokio::test]
async fn the_owner_of_a_channel_stays_a_member() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let policy = PostPolicy::OwnerOnly { owner: bob.actor.id };
    let channel = Channel { policy, ..special("news", &[&ada, &bob]) };
    stored(&house, &channel).await;
    let remove = UpdateMembers { remove: vec![bob.actor.id], ..batch(&channel) };
    assert_eq!(kind(update_members(&house.comms, &ada, remove).await), ErrorKind::InvalidArgument);
}

/// Reads an agent's cursor in a message's channel, as an acknowledgement would.
struct ReadCursor {
    agent: AccountId,
    message: MessageId,
}

impl WriteJob for ReadCursor {
    type Outcome = Option<Seq>;
    type Error = StorageError;

    fn locks(&self) -> Locks {
        Locks::Acknowledge { agent: self.agent, messages: vec![self.message] }
    }

    fn decide(&self, loaded: &Loaded) -> Decision<Option<Seq>, StorageError> {
        let cursor = loaded.receipt(self.agent, self.message).and_then(|receipt| receipt.cursor);
        Ok((Writes::none(), cursor.map(|state| state.cursor.acked())))
    }
}

async fn cursor(house: &House, agent: &Caller, message: MessageId) -> Option<Seq> {
    let job = ReadCursor { agent: agent.actor.id, message };
    submit(&*house.comms.writer, &house.tenant, job).await.unwrap()
}

#[tokio::test]
async fn an_agent_that_gets_subscribed_is_owed_what_comes_and_keeps_its_place_when_it_returns() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    let id = bot.actor.id;
    let channel = house.channel(&ada, "plans", &[&bot]).await;
    let first = house.post(&ada, channel.id, "before").await.message.id();
    assert_eq!(cursor(&house, &bot, first).await, None, "a member that is not subscribed is owed nothing");
    let subscribe = UpdateMembers { subscribe: vec![id, ada.actor.id], ..batch(&channel) };
    update_members(&house.comms, &ada, subscribe.clone()).await.unwrap();
    assert_eq!(cursor(&house, &bot, first).await, Some(Seq(1)));
    assert_eq!(cursor(&house, &ada, first).await, None, "a person has no cursor");
    let leave = UpdateMembers { remove: vec![id], ..batch(&channel) };
    update_members(&house.comms, &ada, leave).await.unwrap();
    house.post(&ada, channel.id, "while away").await;
    update_members(&house.comms, &ada, subscribe).await.unwrap();
    assert_eq!(cursor(&house, &bot, first).await, Some(Seq(1)));
}

#[tokio::test]
async fn an_agent_that_joins_a_mandatory_channel_is_owed_what_comes() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    let channel = Channel { mandatory: true, ..special("news", &[&ada]) };
    stored(&house, &channel).await;
    let message = house.post(&ada, channel.id, "before").await.message.id();
    let join = UpdateMembers { add: vec![bot.actor.id], ..batch(&channel) };
    update_members(&house.comms, &ada, join).await.unwrap();
    assert_eq!(cursor(&house, &bot, message).await, Some(Seq(1)));
}

#[tokio::test]
async fn a_new_agent_is_owed_what_is_posted_in_its_home() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let home = house.home_of(&bot).await;
    let message = house.post(&house.admin, home, "welcome").await.message.id();
    assert_eq!(cursor(&house, &bot, message).await, Some(Seq(0)));
}

#[tokio::test]
async fn a_tree_channel_is_for_the_anchor_its_subtree_and_its_owner() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bob = house.user("bob").await;
    let boss = house.agent(&ada, "boss").await;
    let below = CreateAgent { handle: "below".into(), parent: Some(boss.actor.id), ..CreateAgent::default() };
    let below = house.caller(&create_agent(&house.comms, &ada, below).await.unwrap());
    let sibling = house.agent(&ada, "sibling").await;
    let mode = Mode::Tree { anchor: boss.actor.id };
    let create = CreateChannel { mode, ..new_channel("tree", &[&below]) };
    let channel = create_channel(&house.comms, &ada, create).await.unwrap();
    assert_eq!(channel.members, [member(&ada, false)], "the subtree takes part without rows");
    for inside in [&ada, &boss, &below] {
        house.post(inside, channel.id, "inside").await;
    }
    for outside in [&sibling, &bob, &house.admin] {
        let refused = post_message(&house.comms, outside, a_post(ChannelRef::Id(channel.id))).await;
        assert_eq!(kind(refused), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn who_still_takes_part_in_a_tree_is_not_reported_as_removed() {
    let house = House::new().await;
    let (ada, bob) = (house.user("ada").await, house.user("bob").await);
    let boss = house.agent(&ada, "boss").await;
    let mode = Mode::Tree { anchor: boss.actor.id };
    let create = CreateChannel { mode, ..new_channel("tree", &[&bob]) };
    let channel = create_channel(&house.comms, &ada, create).await.unwrap();
    let mut events = house.listen();
    let remove = UpdateMembers { remove: vec![ada.actor.id, bob.actor.id], ..batch(&channel) };
    update_members(&house.comms, &ada, remove).await.unwrap();
    let Event::ChannelChanged { removed, .. } = next(&mut events).await else { panic!("a change") };
    assert_eq!(removed, [bob.actor.id]);
}
