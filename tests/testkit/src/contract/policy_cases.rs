//! The rules of policies and of what members are owed, through the use cases.

use std::sync::Arc;

use compass_comms::channels::{
    resolve::ChannelRef,
    set_policy::{self, SetPolicy, set_policy},
    update_members::{self, UpdateMembers, update_members},
};
use compass_domain::{
    Account, Channel, ChannelId, Classified, ErrorKind, Event, MessageId, channel::PostPolicy, delivery::Lane,
};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::told::told;
use crate::{Fixture, Scene, drafts};

const TRIALS: usize = 20;

fn open(channel: ChannelId) -> SetPolicy {
    SetPolicy { channel, owner_only: false, owner: None, mandatory: false }
}

fn owned(channel: ChannelId, owner: &Account) -> SetPolicy {
    SetPolicy { owner_only: true, owner: Some(owner.id), ..open(channel) }
}

async fn set(scene: &Scene, by: &Account, policy: SetPolicy) -> Result<Channel, set_policy::Error> {
    set_policy(&scene.comms(), &scene.caller(by), policy).await
}

pub(super) async fn update(
    scene: &Scene,
    by: &Account,
    channel: ChannelId,
    change: impl FnOnce(&mut UpdateMembers),
) -> Result<Channel, update_members::Error> {
    let mut update = UpdateMembers::of(ChannelRef::Id(channel));
    change(&mut update);
    update_members(&scene.comms(), &scene.caller(by), update).await
}

pub(super) async fn owed(scene: &Scene, agent: &Account) -> Vec<(Lane, MessageId)> {
    let pending = scene.pending(agent).await;
    pending.items.iter().map(|item| (item.lane, item.message.message.id())).collect()
}

/// 2.11-16, CH-8.
pub async fn a_policy_holds_together_or_is_refused(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana]).await;
    let mut events = scene.bus.tap();
    for broken in [
        SetPolicy { owner_only: true, ..open(room) },
        SetPolicy { owner: Some(ana.id), ..open(room) },
        owned(room, &ben),
    ] {
        assert_eq!(
            set(&scene, &ana, broken).await.unwrap_err().kind(),
            ErrorKind::InvalidArgument,
            "{broken:?}"
        );
    }
    let after = set(&scene, &ana, SetPolicy { mandatory: true, ..owned(room, &ana) }).await.unwrap();
    assert_eq!((after.policy, after.mandatory), (PostPolicy::OwnerOnly { owner: ana.id }, true));
    assert_eq!(scene.read().await.find_channel(room).await.unwrap().as_ref(), Some(&after));
    let again = set(&scene, &ana, SetPolicy { mandatory: true, ..owned(room, &ana) }).await.unwrap();
    assert_eq!(again, after);
    let expected = Event::ChannelChanged { channel: after.into(), removed: Vec::new() };
    assert_eq!(told(&scene, &mut events).await, [expected], "the same policy tells nothing");
}

/// 2.11-15, CH-38, CH-39.
pub async fn nobodys_channel_takes_a_policy_from_any_participant_and_an_owned_one_from_its_owner(
    fixture: &Fixture,
) {
    let scene = Scene::new(fixture);
    let (ana, ben, eve) = (scene.user("ana").await, scene.user("ben").await, scene.user("eve").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let outside = set(&scene, &eve, open(room)).await.unwrap_err();
    let unknown = set(&scene, &eve, open(ChannelId::from_bytes([0xee; 16]))).await.unwrap_err();
    set(&scene, &ben, owned(room, &ana)).await.unwrap();
    let foreign = set(&scene, &ben, open(room)).await.unwrap_err();
    for error in [&outside, &unknown, &foreign] {
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NotFound, "channel not found"));
    }
    assert_eq!(set(&scene, &ana, owned(room, &ben)).await.unwrap().policy.owner(), Some(ben.id));
    assert_eq!(set(&scene, &ben, open(room)).await.unwrap().policy, PostPolicy::Open);
}

/// 2.11-17, CH-41.
pub async fn a_post_by_another_than_the_owner_leaves_no_row(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    scene.say(&ben, room, "t", "before").await;
    set(&scene, &ana, owned(room, &ana)).await.unwrap();
    let refused = scene.say_with_key(&ben, room, "t", "after", None).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    scene.say(&ana, room, "t", "mine").await;
    assert_eq!(scene.messages(room).await.len(), 2);
}

/// 2.11-13, 2.11-14, CH-40: from now on, not from the beginning; people have no cursors.
pub async fn a_channel_that_becomes_mandatory_owes_its_agents_what_comes_next(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let top = scene.agent("top", &ana).await;
    let below = scene.child("below", &top).await;
    let room = scene.channel("room", &[&ana, &bot]).await;
    let tree = scene.tree("tree", &top).await;
    for place in [room, tree] {
        scene.say(&ana, place, "t", "history").await;
        let after = set(&scene, &ana, SetPolicy { mandatory: true, ..open(place) }).await.unwrap();
        assert!(after.mandatory);
    }
    let (next, inside) = (scene.say(&ana, room, "t", "next").await, scene.say(&ana, tree, "t", "next").await);
    assert_eq!(owed(&scene, &bot).await, [(Lane::Deliver, next.id())]);
    assert_eq!(owed(&scene, &below).await, [(Lane::Deliver, inside.id())], "without a member row too");
    assert_eq!(owed(&scene, &ana).await, []);
    let late = scene.agent("late", &ana).await;
    update(&scene, &ana, room, |update| update.add = vec![late.id]).await.unwrap();
    let later = scene.say(&ana, room, "t", "later").await;
    assert_eq!(owed(&scene, &late).await, [(Lane::Deliver, later.id())], "an unsubscribed add is owed too");
}

/// 2.11-14, CH-42.
pub async fn an_agent_added_beside_the_flip_to_mandatory_is_owed(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for trial in 0..TRIALS {
        let bot = scene.agent(&format!("bot{trial}"), &ana).await;
        let room = scene.channel("room", &[&ana]).await;
        let barrier = Arc::new(Barrier::new(2));
        let (comms, caller) = (scene.comms(), scene.caller(&ana));
        let flip = {
            let (comms, caller, barrier) = (comms.clone(), caller.clone(), Arc::clone(&barrier));
            TaskTracker::new().spawn(async move {
                barrier.wait().await;
                set_policy(&comms, &caller, SetPolicy { mandatory: true, ..open(room) }).await.map(|_| ())
            })
        };
        let add = TaskTracker::new().spawn(async move {
            let add = UpdateMembers { add: vec![bot.id], ..UpdateMembers::of(ChannelRef::Id(room)) };
            barrier.wait().await;
            update_members(&comms, &caller, add).await.map(|_| bot)
        });
        flip.await.unwrap().unwrap();
        let bot = add.await.unwrap().unwrap();
        let next = scene.say(&ana, room, "t", "next").await;
        assert_eq!(owed(&scene, &bot).await, [(Lane::Deliver, next.id())], "trial {trial}");
    }
}

/// 2.11-12, CH-30.
pub async fn an_unsubscribe_from_a_mandatory_channel_refuses_the_whole_batch(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana]).await;
    let before = set(&scene, &ana, SetPolicy { mandatory: true, ..open(room) }).await.unwrap();
    let mixed = update(&scene, &ana, room, |update| {
        update.add = vec![ben.id];
        update.unsubscribe_handles = vec!["ana".to_owned()];
    });
    assert_eq!(mixed.await.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(scene.read().await.find_channel(room).await.unwrap(), Some(before));
}

/// CH-36: removing keeps the cursor, so that nothing is lost to who comes back.
pub async fn who_comes_back_is_owed_what_was_posted_meanwhile(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    update(&scene, &ana, room, |update| update.subscribe = vec![bot.id]).await.unwrap();
    update(&scene, &ana, room, |update| update.remove = vec![bot.id]).await.unwrap();
    let missed = scene.say(&ana, room, "t", "missed").await;
    assert_eq!(owed(&scene, &bot).await, []);
    update(&scene, &ana, room, |update| update.subscribe = vec![bot.id]).await.unwrap();
    assert_eq!(owed(&scene, &bot).await, [(Lane::Deliver, missed.id())]);
}

/// R14: whichever way an agent leaves the sweep set, the answers to its own asks stay owed, and nothing else does.
pub async fn who_leaves_the_sweep_set_stays_owed_the_answers_to_its_asks(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for way in ["unsubscribed", "removed", "not-mandatory"] {
        let bot = scene.agent(way, &ana).await;
        let other = scene.agent(&format!("{way}-other"), &ana).await;
        let room = scene.channel(way, &[&ana]).await;
        update(&scene, &ana, room, |update| update.subscribe = vec![bot.id, other.id]).await.unwrap();
        if way == "not-mandatory" {
            set(&scene, &ana, SetPolicy { mandatory: true, ..open(room) }).await.unwrap();
            update(&scene, &ana, room, |update| update.add = vec![bot.id]).await.unwrap();
        }
        let (_, seen) = scene.ask(&bot, room, drafts::yes_or_no()).await;
        let (_, missed) = scene.ask(&bot, room, drafts::yes_or_no()).await;
        scene.say(&ana, room, "t", "unread, so that the answer is acknowledged above a gap").await;
        let seen = scene.answer(&ana, seen, drafts::yes()).await.unwrap().1;
        scene.acknowledge(&bot, &[&seen]).await;
        let missed = scene.answer(&ana, missed, drafts::yes()).await.unwrap().1;
        scene.say(&ana, room, "t", "plain").await;
        match way {
            "unsubscribed" => update(&scene, &ana, room, |update| update.unsubscribe = vec![bot.id])
                .await
                .map(|_| ())
                .unwrap(),
            "removed" => {
                update(&scene, &ana, room, |update| update.remove = vec![bot.id]).await.unwrap();
                assert_eq!(owed(&scene, &bot).await, [], "who does not take part reads nothing");
                update(&scene, &ana, room, |update| update.add = vec![bot.id]).await.unwrap();
            }
            _ => set(&scene, &ana, open(room)).await.map(|_| ()).unwrap(),
        }
        assert_eq!(owed(&scene, &bot).await, [(Lane::Steer, missed.id())], "{way}");
        scene.acknowledge(&bot, &[&missed]).await;
        assert_eq!(owed(&scene, &bot).await, [], "{way}");
    }
}

/// 2.11-8, CH-33, CH-35.
pub async fn an_owner_leaves_after_its_agents(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (one, two) = (scene.agent("one", &ben).await, scene.agent("two", &ben).await);
    let room = scene.channel("room", &[&ana]).await;
    let after = update(&scene, &ana, room, |update| update.add_handles = vec!["one".into(), "two".into()]);
    assert_eq!(after.await.unwrap().members.len(), 4, "their owner came along");
    let early = update(&scene, &ana, room, |update| update.remove = vec![one.id, ben.id, two.id]).await;
    assert_eq!(early.unwrap_err().kind(), ErrorKind::InvalidArgument);
    let mut events = scene.bus.tap();
    let gone = vec![one.id, two.id, ben.id];
    let after = update(&scene, &ana, room, |update| update.remove.clone_from(&gone)).await.unwrap();
    assert_eq!(after.members.len(), 1);
    let expected = Event::ChannelChanged { channel: after.into(), removed: gone };
    assert_eq!(told(&scene, &mut events).await, [expected]);
}

/// A name is free outside of groups; an owned channel is named by its owner.
pub async fn a_channel_is_renamed_by_who_takes_part_or_owns_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let room = scene.channel("room", &[&ana, &ben]).await;
    let mut events = scene.bus.tap();
    let name = |name: &str| Some(name.to_owned());
    let after = update(&scene, &ben, room, |update| update.new_name = name(" Plans ")).await.unwrap();
    assert_eq!(after.name.as_str(), "Plans");
    let named = async |key: &str| {
        let named = scene.read().await.find_channels_named(ana.actor(), key).await.unwrap();
        named.into_iter().map(|channel| channel.id).collect::<Vec<_>>()
    };
    assert_eq!((named("plans").await, named("room").await), (vec![room], vec![]));
    update(&scene, &ben, room, |update| update.new_name = name("Plans")).await.unwrap();
    let expected = Event::ChannelChanged { channel: after.into(), removed: Vec::new() };
    assert_eq!(told(&scene, &mut events).await, [expected], "the same name tells nothing");
    let blank = update(&scene, &ben, room, |update| update.new_name = name(" ")).await.unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::InvalidArgument);
    set(&scene, &ana, owned(room, &ana)).await.unwrap();
    let foreign = update(&scene, &ben, room, |update| update.new_name = name("mine")).await.unwrap_err();
    assert_eq!(foreign.kind(), ErrorKind::PermissionDenied);
    assert!(update(&scene, &ana, room, |update| update.new_name = name("ours")).await.is_ok());
}
