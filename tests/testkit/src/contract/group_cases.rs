//! The rules of groups, and of channels in them, through the use cases.

use compass_comms::{
    channels::{
        create_channel::{self, CreateChannel, Mode, create_channel},
        join_channel::join_channel,
        list_channels::list_channels,
        resolve::ChannelRef,
    },
    groups::{
        create_group::{self, CreateGroup, create_group},
        list_groups::list_groups,
        resolve::GroupRef,
    },
    messages::list_messages::{ListMessages, list_messages},
    topics::list_topics::{ListTopics, list_topics},
};
use compass_domain::{
    Account, Channel, ChannelGroup, ChannelId, Classified, ErrorKind, Event, GroupId, channel::ChannelName,
    group::Visibility,
};

use super::told::told;
use crate::{Fixture, Scene};

const NOWHERE: GroupId = GroupId::from_bytes([0xee; 16]);

fn new_group(name: &str, parent: Option<GroupId>, visibility: Visibility) -> CreateGroup {
    CreateGroup { name: name.to_owned(), parent: parent.map(GroupRef::Id), visibility }
}

pub(super) async fn group(
    scene: &Scene,
    by: &Account,
    name: &str,
    parent: Option<GroupId>,
    visibility: Visibility,
) -> Result<ChannelGroup, create_group::Error> {
    create_group(&scene.comms(), &scene.caller(by), new_group(name, parent, visibility)).await
}

pub(super) fn new_channel(name: &str, group: Option<GroupRef>) -> CreateChannel {
    CreateChannel {
        name: name.to_owned(),
        group,
        members: Vec::new(),
        member_handles: Vec::new(),
        mode: Mode::Flat,
    }
}

pub(super) async fn channel_in(
    scene: &Scene,
    by: &Account,
    name: &str,
    group: GroupId,
) -> Result<Channel, create_channel::Error> {
    create_channel(&scene.comms(), &scene.caller(by), new_channel(name, Some(GroupRef::Id(group)))).await
}

/// 2.11-1, CH-3, CH-4.
pub async fn a_child_is_not_wider_than_its_parent_and_a_foreign_parent_looks_like_none(fixture: &Fixture) {
    use Visibility::{Owner, Shared};
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ana).await;
    let private = group(&scene, &ana, "private", None, Owner).await.unwrap();
    let open = group(&scene, &ana, "open", None, Shared).await.unwrap();
    let wider = group(&scene, &ana, "wider", Some(private.id), Shared).await.unwrap_err();
    assert_eq!(wider.kind(), ErrorKind::InvalidArgument, "{wider}");
    let unknown = group(&scene, &ben, "x", Some(NOWHERE), Owner).await.unwrap_err();
    let foreign = group(&scene, &ben, "x", Some(private.id), Owner).await.unwrap_err();
    assert_eq!((unknown.kind(), unknown.to_string()), (foreign.kind(), foreign.to_string()));
    assert_eq!(foreign.kind(), ErrorKind::NotFound);
    let by_agent = group(&scene, &bot, "agents", Some(private.id), Owner).await.unwrap();
    assert_eq!((by_agent.parent, by_agent.owner), (Some(private.id), bot.id));
    let by_stranger = group(&scene, &ben, "guests", Some(open.id), Shared).await.unwrap();
    assert_eq!(by_stranger.owner, ben.id);
    let blank = group(&scene, &ana, " ", None, Owner).await.unwrap_err();
    assert_eq!(
        (blank.kind(), blank.to_string().as_str()),
        (ErrorKind::InvalidArgument, "group name is empty")
    );
    let long = group(&scene, &ana, &"x".repeat(121), None, Owner).await.unwrap_err();
    assert_eq!(long.to_string(), "group name is too long: 121 code points, the limit is 120");
}

/// 2.11-2, CH-4, CH-5, CH-17: such rows are made by nobody, and hold all the same.
pub async fn a_shared_group_below_an_owners_group_is_hidden_from_strangers(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let outer = group(&scene, &ana, "outer", None, Visibility::Owner).await.unwrap();
    let inner = ChannelGroup {
        id: GroupId::from_bytes([7; 16]),
        name: ChannelName::parse("inner").unwrap(),
        parent: Some(outer.id),
        visibility: Visibility::Shared,
        ..outer
    };
    let mut unit = scene.begin().await;
    unit.groups().insert(&inner).await.unwrap();
    unit.commit().await.unwrap();
    let room = channel_in(&scene, &ana, "room", inner.id).await.unwrap();
    let comms = scene.comms();
    assert_eq!(list_groups(&comms, &scene.caller(&ben)).await.unwrap(), []);
    assert!(!scene.read().await.sees_group(ben.actor(), inner.id).await.unwrap());
    assert_eq!(list_channels(&comms, &scene.caller(&ben)).await.unwrap(), []);
    assert!(!scene.read().await.sees_channel(ben.actor(), room.id).await.unwrap());
    assert!(scene.read().await.sees_group(ana.actor(), inner.id).await.unwrap());
}

/// CH-5, EV-15: by name, and an event is for those that the list is for.
pub async fn groups_are_listed_by_name_to_whom_they_are_visible(fixture: &Fixture) {
    use Visibility::{Owner, Shared};
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (bot, other) = (scene.agent("bot", &ana).await, scene.agent("other", &ben).await);
    let mut events = scene.bus.tap();
    let beta = group(&scene, &ana, "beta", None, Owner).await.unwrap();
    let alpha = group(&scene, &ben, "Alpha", None, Shared).await.unwrap();
    let inner = group(&scene, &ben, "inner", Some(alpha.id), Shared).await.unwrap();
    let gamma = group(&scene, &bot, "gamma", None, Owner).await.unwrap();
    for (viewer, expected) in [
        (&ana, vec![&alpha, &beta, &inner]),
        (&bot, vec![&alpha, &beta, &gamma, &inner]),
        (&ben, vec![&alpha, &inner]),
        (&other, vec![&alpha, &inner]),
    ] {
        let listed = list_groups(&scene.comms(), &scene.caller(viewer)).await.unwrap();
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{}", viewer.handle);
        for one in [&alpha, &beta, &gamma, &inner] {
            let seen = scene.read().await.sees_group(viewer.actor(), one.id).await.unwrap();
            assert_eq!(seen, listed.contains(one), "{} and {}", viewer.handle, one.name.as_str());
        }
    }
    let expected = [beta, alpha, inner, gamma].map(|group| Event::ChannelGroupChanged(group.into()));
    assert_eq!(told(&scene, &mut events).await, expected);
}

/// The names of groups are free to repeat, so that one may mean several.
pub async fn a_group_is_meant_by_its_name_if_no_other_has_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let (comms, caller) = (scene.comms(), scene.caller(&ana));
    let teams = group(&scene, &ana, "Teams", None, Visibility::Owner).await.unwrap();
    group(&scene, &ben, "teams", None, Visibility::Owner).await.unwrap();
    let named = |name: &str| new_channel("room", Some(GroupRef::Name(name.to_owned())));
    assert_eq!(create_channel(&comms, &caller, named("TEAMS")).await.unwrap().group, Some(teams.id));
    let child = CreateGroup {
        name: "child".to_owned(),
        parent: Some(GroupRef::Name("teams".to_owned())),
        visibility: Visibility::Owner,
    };
    assert_eq!(create_group(&comms, &caller, child).await.unwrap().parent, Some(teams.id));
    group(&scene, &ana, "teams", None, Visibility::Shared).await.unwrap();
    let ambiguous = create_channel(&comms, &caller, named("teams")).await.unwrap_err();
    assert_eq!(ambiguous.kind(), ErrorKind::InvalidArgument, "{ambiguous}");
    let nothing = create_channel(&comms, &caller, named("nothing")).await.unwrap_err();
    assert_eq!((nothing.kind(), nothing.to_string().as_str()), (ErrorKind::NotFound, "group not found"));
}

/// 2.11-4, 2.11-5, CH-7, CH-9.
pub async fn a_name_is_taken_once_in_a_group_and_a_foreign_group_looks_like_none(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let one = group(&scene, &ana, "one", None, Visibility::Owner).await.unwrap();
    let two = group(&scene, &ana, "two", None, Visibility::Owner).await.unwrap();
    let room = channel_in(&scene, &ana, "Room", one.id).await.unwrap();
    assert_eq!(room.group, Some(one.id));
    let taken = channel_in(&scene, &ana, "room", one.id).await.unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::Conflict, "{taken}");
    assert!(channel_in(&scene, &ana, "room", two.id).await.is_ok());
    let foreign = channel_in(&scene, &ben, "other", one.id).await.unwrap_err();
    let unknown = channel_in(&scene, &ben, "other", NOWHERE).await.unwrap_err();
    assert_eq!((foreign.kind(), foreign.to_string()), (unknown.kind(), unknown.to_string()));
    assert_eq!(foreign.kind(), ErrorKind::NotFound);
    assert_eq!(list_channels(&scene.comms(), &scene.caller(&ben)).await.unwrap(), []);
}

/// 2.11-6, CH-17, CH-18: seeing a channel is not reading it.
pub async fn a_channel_of_a_shared_group_is_seen_by_all_and_read_by_its_members(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let open = group(&scene, &ana, "open", None, Visibility::Shared).await.unwrap();
    let room = channel_in(&scene, &ana, "room", open.id).await.unwrap();
    scene.say(&ana, room.id, "t", "hello").await;
    let (comms, caller) = (scene.comms(), scene.caller(&ben));
    assert_eq!(list_channels(&comms, &caller).await.unwrap(), std::slice::from_ref(&room));
    assert!(scene.read().await.sees_channel(ben.actor(), room.id).await.unwrap());
    assert_eq!(messages(&scene, &ben, room.id).await, 0);
    let refused = scene.say_with_key(&ben, room.id, "t", "hi", None).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    let list = ListTopics { channel: ChannelRef::Id(room.id), include_archived: true };
    assert_eq!(list_topics(&comms, &caller, list).await.unwrap_err().kind(), ErrorKind::NotFound);
}

/// I6.
pub async fn a_person_joins_what_it_sees_and_nobody_else_joins(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let bot = scene.agent("bot", &ben).await;
    let open = group(&scene, &ana, "open", None, Visibility::Shared).await.unwrap();
    let private = group(&scene, &ana, "private", None, Visibility::Owner).await.unwrap();
    let room = channel_in(&scene, &ana, "room", open.id).await.unwrap();
    let hidden = channel_in(&scene, &ana, "hidden", private.id).await.unwrap();
    scene.say(&ana, room.id, "t", "hello").await;
    let comms = scene.comms();
    let by_agent = join_channel(&comms, &scene.caller(&bot), room.id).await.unwrap_err();
    assert_eq!(by_agent.kind(), ErrorKind::PermissionDenied);
    let caller = scene.caller(&ben);
    let unseen = join_channel(&comms, &caller, hidden.id).await.unwrap_err();
    let unknown = join_channel(&comms, &caller, ChannelId::from_bytes([0xee; 16])).await.unwrap_err();
    assert_eq!((unseen.kind(), unseen.to_string()), (unknown.kind(), unknown.to_string()));
    assert_eq!(unseen.kind(), ErrorKind::NotFound);
    let mut events = scene.bus.tap();
    let joined = join_channel(&comms, &caller, room.id).await.unwrap();
    assert!(joined.members.iter().any(|member| member.account == ben.id && member.subscribed));
    assert_eq!(scene.read().await.find_channel(room.id).await.unwrap().as_ref(), Some(&joined));
    assert_eq!(messages(&scene, &ben, room.id).await, 1);
    assert_eq!(join_channel(&comms, &caller, room.id).await.unwrap(), joined);
    let expected = Event::ChannelChanged { channel: joined.into(), removed: Vec::new() };
    assert_eq!(told(&scene, &mut events).await, [expected], "joining again tells nothing");
}

async fn messages(scene: &Scene, by: &Account, channel: ChannelId) -> usize {
    let list = ListMessages {
        channel: ChannelRef::Id(channel),
        topic: None,
        topic_name: None,
        before: None,
        limit: 0,
        snapshot: None,
    };
    list_messages(&scene.comms(), &scene.caller(by), list).await.unwrap().len()
}
