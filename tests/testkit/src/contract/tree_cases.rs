//! The rules of the tree: moving agents, tree channels, and the channels of managers, through the use cases.

use std::sync::Arc;

use compass_comms::{
    accounts::{
        create_agent::{CreateAgent, create_agent},
        reparent_agent::{self, ReparentAgent, reparent_agent},
    },
    channels::{
        create_channel::create_channel,
        resolve::ChannelRef,
        set_policy::{SetPolicy, set_policy},
        update_members::{UpdateMembers, update_members},
    },
    groups::{
        create_group::{CreateGroup, create_group},
        list_groups::list_groups,
        resolve::GroupRef,
    },
    messages::post_message::{PostMessage, TopicInput, post_message},
    topics::list_topics::{ListTopics, list_topics},
};
use compass_domain::{
    Account, AccountId, AccountKind, Channel, ChannelId, Classified, ErrorKind, Event,
    channel::{PostPolicy, Purpose},
    delivery::Lane,
    group::{COORDINATION_GROUP, Visibility},
};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::{
    group_cases::new_channel,
    policy_cases::{owed, update},
    told::{changed, told},
};
use crate::{Fixture, Scene, drafts};

const TRIALS: usize = 20;

async fn place(
    scene: &Scene,
    by: &Account,
    agent: AccountId,
    under: Option<&Account>,
) -> Result<Account, reparent_agent::Error> {
    let reparent = ReparentAgent { agent: Some(agent), new_parent: under.map(|parent| parent.id) };
    reparent_agent(&scene.comms(), &scene.caller(by), reparent).await
}

async fn report(scene: &Scene, by: &Account, handle: &str, manager: &Account) -> Account {
    let create =
        CreateAgent { handle: handle.to_owned(), parent: Some(manager.id), ..CreateAgent::default() };
    create_agent(&scene.comms(), &scene.caller(by), create).await.unwrap()
}

async fn parent_of(scene: &Scene, agent: &Account) -> Option<AccountId> {
    match scene.read().await.find_account(agent.id).await.unwrap().unwrap().kind {
        AccountKind::Agent { parent, .. } => parent,
        other => panic!("{other:?} has no parent"),
    }
}

/// The channel of a manager and its reports, and who is in it.
async fn room_of(scene: &Scene, manager: &Account) -> Option<(Channel, Vec<AccountId>)> {
    let mut unit = scene.begin().await;
    let purpose = Purpose::Coordination { manager: manager.id };
    let id = unit.purposes().find(&purpose).await.unwrap()?;
    let channel = unit.channels().lock(id).await.unwrap().unwrap();
    let members = channel.members.iter().map(|member| member.account).collect();
    Some((channel, members))
}

async fn reads_topics(scene: &Scene, by: &Account, channel: ChannelId) -> Result<usize, ErrorKind> {
    let list = ListTopics { channel: ChannelRef::Id(channel), include_archived: true };
    let topics = list_topics(&scene.comms(), &scene.caller(by), list).await;
    topics.map(|listed| listed.topics.len()).map_err(|error| error.kind())
}

/// 1.8-12, AC-12, AC-14.
pub async fn an_agent_is_moved_by_its_owner_and_the_owners_agents_within_their_tree(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    let below = scene.child("below", &one).await;
    let foreign = scene.agent("foreign", &ben).await;
    let unknown = AccountId::from_bytes([0xee; 16]);

    let moved = place(&scene, &ana, two.id, Some(&below)).await.unwrap();
    assert_eq!(parent_of(&scene, &two).await, Some(below.id));
    assert!(matches!(moved.kind, AccountKind::Agent { parent, .. } if parent == Some(below.id)));
    place(&scene, &below, two.id, Some(&one)).await.unwrap();
    assert_eq!(parent_of(&scene, &two).await, Some(one.id), "by another agent of the owner");
    let mut events = scene.bus.tap();
    place(&scene, &ana, two.id, Some(&one)).await.unwrap();
    assert_eq!(told(&scene, &mut events).await, [], "it stands there already");
    let root = place(&scene, &ana, two.id, None).await.unwrap();
    assert_eq!(parent_of(&scene, &two).await, None);
    assert_eq!(told(&scene, &mut events).await[0], Event::AccountChanged(root.into()));

    let kind = async |by: &Account, agent, under| place(&scene, by, agent, under).await.unwrap_err().kind();
    assert_eq!(kind(&ana, one.id, Some(&one)).await, ErrorKind::FailedPrecondition);
    assert_eq!(kind(&ana, one.id, Some(&below)).await, ErrorKind::FailedPrecondition);
    assert_eq!(kind(&ana, one.id, Some(&foreign)).await, ErrorKind::PermissionDenied);
    assert_eq!(kind(&ana, one.id, Some(&ana)).await, ErrorKind::NotFound, "a person is no parent");
    let nobody = Account { id: unknown, ..one.clone() };
    assert_eq!(kind(&ana, one.id, Some(&nobody)).await, ErrorKind::NotFound);
    let by_foreigner = place(&scene, &ben, one.id, None).await.unwrap_err();
    let of_nobody = place(&scene, &ben, unknown, None).await.unwrap_err();
    let of_a_person = place(&scene, &ben, ana.id, None).await.unwrap_err();
    let no_id = ReparentAgent { agent: None, new_parent: None };
    let no_id = reparent_agent(&scene.comms(), &scene.caller(&ben), no_id).await.unwrap_err();
    for error in [&by_foreigner, &of_nobody, &of_a_person, &no_id] {
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), by_foreigner.to_string());
    }
}

/// 1.8-13, AC-15.
pub async fn of_two_moves_that_make_a_cycle_together_one_fails(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    for trial in 0..TRIALS {
        let one = scene.agent(&format!("one{trial}"), &ana).await;
        let two = scene.agent(&format!("two{trial}"), &ana).await;
        let barrier = Arc::new(Barrier::new(2));
        let tasks: Vec<_> = [(one.id, two.id), (two.id, one.id)]
            .into_iter()
            .map(|(agent, under)| {
                let (comms, caller, barrier) = (scene.comms(), scene.caller(&ana), Arc::clone(&barrier));
                let reparent = ReparentAgent { agent: Some(agent), new_parent: Some(under) };
                TaskTracker::new().spawn(async move {
                    barrier.wait().await;
                    reparent_agent(&comms, &caller, reparent).await
                })
            })
            .collect();
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.await.unwrap().map(|_| ()).map_err(|error| error.kind()));
        }
        outcomes.sort_by_key(Result::is_ok);
        assert_eq!(outcomes, [Err(ErrorKind::FailedPrecondition), Ok(())], "trial {trial}");
        let parents = (parent_of(&scene, &one).await, parent_of(&scene, &two).await);
        assert!(matches!(parents, (Some(_), None) | (None, Some(_))), "trial {trial}: {parents:?}");
    }
}

/// 2.11-25, 2.11-26, CH-22, CH-27, M6: at once, with the subtree, and told.
pub async fn a_moved_agent_loses_and_gains_tree_channels_with_its_subtree(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (left, right) = (scene.agent("left", &ana).await, scene.agent("right", &ana).await);
    let child = scene.child("child", &left).await;
    let grandchild = scene.child("grandchild", &child).await;
    let (from, to) = (scene.tree("from", &left).await, scene.tree("to", &right).await);
    scene.put_member(to, &grandchild, false).await;
    scene.say(&child, from, "t", "inside").await;
    assert_eq!(reads_topics(&scene, &child, from).await, Ok(1));
    assert_eq!(reads_topics(&scene, &child, to).await, Err(ErrorKind::NotFound));
    assert_eq!(reads_topics(&scene, &right, from).await, Err(ErrorKind::NotFound), "a sibling of the anchor");

    let mut events = scene.bus.tap();
    let moved = place(&scene, &ana, child.id, Some(&right)).await.unwrap();
    for gone in [&child, &grandchild] {
        assert_eq!(reads_topics(&scene, gone, from).await, Err(ErrorKind::NotFound), "{}", gone.handle);
        let refused = scene.say_with_key(gone, from, "t", "outside", None).await.map(|_| ()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        assert_eq!(reads_topics(&scene, gone, to).await, Ok(0), "{}", gone.handle);
    }
    scene.say(&child, to, "t", "inside").await;
    let told = told(&scene, &mut events).await;
    assert_eq!(told[0], Event::AccountChanged(moved.into()));
    let mut lost = vec![child.id, grandchild.id];
    lost.sort_unstable();
    let changes = changed(&told);
    assert!(changes.contains(&(from, lost)), "{changes:?}");
    assert!(changes.contains(&(to, Vec::new())), "{changes:?}");
}

/// M6: what a move does not change is not told, and who has a row of its own loses nothing.
pub async fn a_move_within_a_tree_tells_nothing_of_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let top = scene.agent("top", &ana).await;
    let (left, right) = (scene.child("left", &top).await, scene.child("right", &top).await);
    let child = scene.child("child", &left).await;
    let whole = scene.tree("whole", &top).await;
    let part = scene.tree("part", &left).await;
    scene.put_member(part, &child, false).await;
    let mut events = scene.bus.tap();
    place(&scene, &ana, child.id, Some(&right)).await.unwrap();
    let changes = changed(&told(&scene, &mut events).await);
    assert!(changes.iter().all(|(channel, _)| ![whole, part].contains(channel)), "{changes:?}");
    for channel in [whole, part] {
        assert_eq!(reads_topics(&scene, &child, channel).await, Ok(0));
    }
}

/// CH-24, CH-29: a choice of its own instead of a member row.
pub async fn who_stands_in_the_tree_subscribes_without_a_member_row(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let top = scene.agent("top", &ana).await;
    let below = scene.child("below", &top).await;
    let tree = scene.tree("tree", &top).await;
    scene.say(&ana, tree, "t", "history").await;
    let mut events = scene.bus.tap();
    let subscribe = vec![below.id, ana.id];
    let after = update(&scene, &below, tree, |update| update.subscribe.clone_from(&subscribe)).await.unwrap();
    let mut subscribers = subscribe.clone();
    subscribers.sort_unstable();
    assert_eq!((after.members.len(), &after.tree_subscribers), (0, &subscribers));
    update(&scene, &below, tree, |update| update.subscribe = subscribe).await.unwrap();
    let expected = Event::ChannelChanged { channel: after.into(), removed: Vec::new() };
    assert_eq!(told(&scene, &mut events).await, [expected], "the same choice tells nothing");
    let next = scene.say(&ana, tree, "t", "next").await;
    assert_eq!(owed(&scene, &below).await, [(Lane::Deliver, next.id())]);
    assert_eq!(owed(&scene, &top).await, [], "absent means not subscribed");
    let (_, ask) = scene.ask(&below, tree, drafts::yes_or_no()).await;
    let answer = scene.answer(&ana, ask, drafts::yes()).await.unwrap().1;
    let after = update(&scene, &ana, tree, |update| update.unsubscribe = vec![below.id]).await.unwrap();
    assert_eq!(after.tree_subscribers, [ana.id]);
    assert_eq!(owed(&scene, &below).await, [(Lane::Steer, answer.id())], "the answer stays owed");
    let after = update(&scene, &ana, tree, |update| update.remove = vec![below.id]).await.unwrap();
    assert_eq!(after.tree_subscribers, [ana.id]);
    assert_eq!(reads_topics(&scene, &below, tree).await, Ok(2), "the tree, not a row, lets it in");
}

/// CH-34, R14: a move is a change of the sweep set like any other.
pub async fn a_move_seeds_cursors_where_it_leads_and_owes_answers_where_it_left(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (left, right) = (scene.agent("left", &ana).await, scene.agent("right", &ana).await);
    let child = scene.child("child", &left).await;
    let (from, to) = (scene.tree("from", &left).await, scene.tree("to", &right).await);
    for tree in [from, to] {
        let mandatory = SetPolicy { channel: tree, owner_only: false, owner: None, mandatory: true };
        set_policy(&scene.comms(), &scene.caller(&ana), mandatory).await.unwrap();
        scene.say(&ana, tree, "t", "history").await;
    }
    let (_, ask) = scene.ask(&child, from, drafts::yes_or_no()).await;
    let answer = scene.answer(&ana, ask, drafts::yes()).await.unwrap().1;
    place(&scene, &ana, child.id, Some(&right)).await.unwrap();
    assert_eq!(owed(&scene, &child).await, [], "it does not take part there any more");
    let next = scene.say(&ana, to, "t", "next").await;
    assert_eq!(
        owed(&scene, &child).await,
        [(Lane::Deliver, next.id())],
        "from now on, not from the beginning"
    );
    scene.put_member(from, &child, false).await;
    let mandatory = SetPolicy { channel: from, owner_only: false, owner: None, mandatory: false };
    set_policy(&scene.comms(), &scene.caller(&ana), mandatory).await.unwrap();
    let owed = owed(&scene, &child).await;
    assert!(owed.contains(&(Lane::Steer, answer.id())), "{owed:?}");
    let born = report(&scene, &ana, "born", &right).await;
    let last = scene.say(&ana, to, "t", "last").await;
    let pending = super::policy_cases::owed(&scene, &born).await;
    assert_eq!(pending, [(Lane::Deliver, last.id())], "an agent that is born there too");
}

/// 2.11-18, CH-44, CH-45.
pub async fn the_first_report_makes_one_channel_and_the_second_joins_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let boss = scene.agent("boss", &ana).await;
    assert!(room_of(&scene, &boss).await.is_none());
    let mut events = scene.bus.tap();
    let one = report(&scene, &ana, "one", &boss).await;
    let (room, members) = room_of(&scene, &boss).await.unwrap();
    assert_eq!((room.name.as_str(), members), ("boss-coordination", vec![boss.id, one.id]));
    assert_eq!((room.policy, room.mandatory), (PostPolicy::OwnerOnly { owner: boss.id }, true));
    let groups = list_groups(&scene.comms(), &scene.caller(&ana)).await.unwrap();
    assert_eq!((groups.len(), room.group), (1, Some(groups[0].id)));
    assert_eq!(groups[0].name.as_str(), COORDINATION_GROUP);
    assert_eq!((groups[0].owner, groups[0].visibility), (ana.id, Visibility::Owner));
    let first = told(&scene, &mut events).await;
    assert!(matches!(first[0], Event::AccountChanged(_)));
    assert_eq!(first[first.len() - 2], Event::ChannelGroupChanged(groups[0].clone().into()));
    let expected = Event::ChannelChanged { channel: room.clone().into(), removed: Vec::new() };
    assert_eq!(first.last(), Some(&expected));
    let two = report(&scene, &ana, "two", &boss).await;
    let (again, members) = room_of(&scene, &boss).await.unwrap();
    assert_eq!((again.id, members), (room.id, vec![boss.id, one.id, two.id]));
    assert_eq!(changed(&told(&scene, &mut events).await).last(), Some(&(room.id, Vec::new())));
    let order = scene.say(&boss, room.id, "t", "order").await;
    for report in [&one, &two] {
        assert_eq!(owed(&scene, report).await, [(Lane::Deliver, order.id())]);
    }
    let refused = scene.say_with_key(&one, room.id, "t", "no", None).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}

/// 2.11-19, CH-46, CH-47.
pub async fn a_taken_name_gets_a_number_and_a_wider_group_is_not_adopted(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (boss, other) = (scene.agent("boss", &ana).await, scene.agent("other", &ana).await);
    let (comms, caller) = (scene.comms(), scene.caller(&ana));
    let create = |visibility| CreateGroup { name: COORDINATION_GROUP.to_owned(), parent: None, visibility };
    let wide = create_group(&comms, &caller, create(Visibility::Shared)).await.unwrap();
    report(&scene, &ana, "first", &other).await;
    let ours = room_of(&scene, &other).await.unwrap().0.group.unwrap();
    assert_ne!(ours, wide.id, "another visibility is not adopted");
    for name in ["Boss-Coordination", "boss-coordination-2"] {
        let taken = new_channel(name, Some(GroupRef::Id(ours)));
        create_channel(&comms, &caller, taken).await.unwrap();
    }
    report(&scene, &ana, "one", &boss).await;
    let room = room_of(&scene, &boss).await.unwrap().0;
    assert_eq!((room.name.as_str(), room.group), ("boss-coordination-3", Some(ours)));
    update(&scene, &boss, room.id, |update| update.new_name = Some("ours".to_owned())).await.unwrap();
    report(&scene, &ana, "two", &boss).await;
    let resumed = room_of(&scene, &boss).await.unwrap();
    assert_eq!((resumed.0.id, resumed.1.len()), (room.id, 3), "the manager's own is resumed");
}

/// 2.11-19, CH-48: many first reports at once, beside people that take the names.
pub async fn concurrent_first_reports_make_one_channel(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let seed = scene.agent("seed", &ana).await;
    report(&scene, &ana, "seeded", &seed).await;
    let group = room_of(&scene, &seed).await.unwrap().0.group.unwrap();
    for trial in 0..TRIALS {
        let boss = scene.agent(&format!("boss{trial}"), &ana).await;
        let barrier = Arc::new(Barrier::new(3));
        let mut tasks = Vec::new();
        for number in 0..2 {
            let (comms, caller, barrier) = (scene.comms(), scene.caller(&ana), Arc::clone(&barrier));
            let (handle, parent) = (format!("report{trial}-{number}"), Some(boss.id));
            let create = CreateAgent { handle, parent, ..CreateAgent::default() };
            tasks.push(TaskTracker::new().spawn(async move {
                barrier.wait().await;
                create_agent(&comms, &caller, create).await.map(|_| ()).map_err(|error| error.to_string())
            }));
        }
        let (comms, caller) = (scene.comms(), scene.caller(&ana));
        let taken = new_channel(&format!("boss{trial}-coordination"), Some(GroupRef::Id(group)));
        tasks.push(TaskTracker::new().spawn(async move {
            barrier.wait().await;
            match create_channel(&comms, &caller, taken).await {
                Err(error) if error.kind() != ErrorKind::Conflict => Err(error.to_string()),
                _ => Ok(()),
            }
        }));
        for task in tasks {
            assert_eq!(task.await.unwrap(), Ok(()), "trial {trial}");
        }
        let (room, members) = room_of(&scene, &boss).await.unwrap();
        assert_eq!(members.len(), 3, "trial {trial}: {room:?}");
    }
}

/// 2.11-20, CH-49, AC-16.
pub async fn a_move_changes_the_managers_channels_and_the_last_report_leaves_one_dormant(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (old, new) = (scene.agent("old", &ana).await, scene.agent("new", &ana).await);
    let bot = report(&scene, &ana, "bot", &old).await;
    let old_room = room_of(&scene, &old).await.unwrap().0;
    scene.say(&old, old_room.id, "t", "order").await;
    let mut events = scene.bus.tap();
    place(&scene, &ana, bot.id, Some(&new)).await.unwrap();
    let (left, members) = room_of(&scene, &old).await.unwrap();
    assert_eq!((left.id, members), (old_room.id, vec![old.id]), "dormant, not deleted");
    let (new_room, members) = room_of(&scene, &new).await.unwrap();
    assert_eq!(members, [new.id, bot.id]);
    let told = told(&scene, &mut events).await;
    assert!(matches!(told[0], Event::AccountChanged(_)));
    assert_eq!(changed(&told), [(old_room.id, vec![bot.id]), (new_room.id, Vec::new())]);
    assert_eq!(owed(&scene, &bot).await, []);
    let order = scene.say(&new, new_room.id, "t", "order").await;
    assert_eq!(owed(&scene, &bot).await, [(Lane::Deliver, order.id())]);
    place(&scene, &ana, bot.id, None).await.unwrap();
    assert_eq!(room_of(&scene, &new).await.unwrap().1, [new.id]);
    place(&scene, &ana, bot.id, Some(&old)).await.unwrap();
    let (resumed, members) = room_of(&scene, &old).await.unwrap();
    assert_eq!((resumed.id, members), (old_room.id, vec![old.id, bot.id]));
}

/// AC-16: a failure of what follows takes the move back.
pub async fn a_refused_agent_leaves_no_channel_of_a_manager_behind(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let boss = scene.agent("boss", &ana).await;
    let create = CreateAgent { handle: "boss".to_owned(), parent: Some(boss.id), ..CreateAgent::default() };
    let refused = create_agent(&scene.comms(), &scene.caller(&ana), create).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(room_of(&scene, &boss).await.is_none());
    assert_eq!(list_groups(&scene.comms(), &scene.caller(&ana)).await.unwrap(), []);
}

/// M2: moves, member changes, births and posts that cross each other all go through.
pub async fn crossed_moves_members_and_posts_do_not_deadlock(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (left, right) = (scene.agent("left", &ana).await, scene.agent("right", &ana).await);
    let (one, two) = (scene.child("one", &left).await, scene.child("two", &right).await);
    let trees = [scene.tree("lefts", &left).await, scene.tree("rights", &right).await];
    let barrier = Arc::new(Barrier::new(8));
    let mut tasks = Vec::new();
    for task in 0..8usize {
        let writer = if task % 2 == 0 { &scene.writer } else { &scene.second };
        let (comms, caller) = (scene.comms_over(writer), scene.caller(&ana));
        let barrier = Arc::clone(&barrier);
        let agents = [one.id, two.id];
        let parents = [left.id, right.id];
        tasks.push(TaskTracker::new().spawn(async move {
            barrier.wait().await;
            for round in 0..6usize {
                let (this, that) = ((task + round) % 2, (task + round + 1) % 2);
                let refused = match task % 4 {
                    0 => {
                        let reparent =
                            ReparentAgent { agent: Some(agents[this]), new_parent: Some(parents[that]) };
                        reparent_agent(&comms, &caller, reparent).await.err().map(|error| error.kind())
                    }
                    1 => {
                        let update = UpdateMembers {
                            subscribe: vec![agents[this]],
                            ..UpdateMembers::of(ChannelRef::Id(trees[that]))
                        };
                        update_members(&comms, &caller, update).await.err().map(|error| error.kind())
                    }
                    2 => {
                        let handle = format!("born{task}-{round}");
                        let create =
                            CreateAgent { handle, parent: Some(parents[this]), ..CreateAgent::default() };
                        create_agent(&comms, &caller, create).await.err().map(|error| error.kind())
                    }
                    _ => {
                        let post = PostMessage {
                            channel: ChannelRef::Id(trees[this]),
                            topic: TopicInput { name: Some("t".to_owned()), ..TopicInput::default() },
                            blocks: vec![drafts::text("hello")],
                            client_request_id: String::new(),
                        };
                        post_message(&comms, &caller, post).await.err().map(|error| error.kind())
                    }
                };
                if let Some(kind) = refused {
                    return Err(format!("task {task} round {round}: {kind:?}"));
                }
            }
            Ok(())
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(()));
    }
    for (manager, others) in [(&left, &right), (&right, &left)] {
        let (_, members) = room_of(&scene, manager).await.unwrap();
        let (_, elsewhere) = room_of(&scene, others).await.unwrap();
        let in_both = members.iter().filter(|member| elsewhere.contains(member)).count();
        assert_eq!(in_both, 0, "a report has one manager");
    }
}
