//! How a channel is named that shares its name with others.

use compass_comms::{
    Caller, Comms,
    channels::{
        create_channel::create_channel,
        resolve::{self, ChannelRef},
    },
    topics::list_topics::{self, ListTopics, list_topics},
};
use compass_domain::{ChannelId, Classified, ErrorKind, group::Visibility};

use super::group_cases::{channel_in, group, new_channel};
use crate::{Fixture, Scene};

struct Named {
    comms: Comms,
    caller: Caller,
}

impl Named {
    async fn resolve(&self, name: &str) -> Result<ChannelId, resolve::Error> {
        resolve::resolve(&self.comms, &self.caller, &ChannelRef::Name(name.to_owned())).await
    }

    async fn id(&self, name: &str) -> ChannelId {
        self.resolve(name).await.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    async fn refused(&self, name: &str) -> (ErrorKind, String) {
        let error = self.resolve(name).await.expect_err(name);
        (error.kind(), error.to_string())
    }
}

/// Case, blanks around and composition do not count, as in names alone.
pub async fn a_channel_is_told_apart_by_its_group(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let named = Named { comms: scene.comms(), caller: scene.caller(&ana) };
    let teams = group(&scene, &ana, "Teams", None, Visibility::Owner).await.unwrap();
    let infra = group(&scene, &ana, "infra", None, Visibility::Owner).await.unwrap();
    let first = channel_in(&scene, &ana, "Ops", teams.id).await.unwrap().id;
    assert_eq!((named.id("ops").await, named.id("teams/ops").await), (first, first));
    let second = channel_in(&scene, &ana, "OPS", infra.id).await.unwrap().id;
    assert_eq!((named.id("teams/ops").await, named.id(" INFRA / Ops ").await), (first, second));
    let (kind, text) = named.refused("ops").await;
    assert_eq!(kind, ErrorKind::InvalidArgument);
    let says = "channel \"ops\" is ambiguous: 2 channels have this name; name the group as well: ";
    assert!(text.starts_with(says), "{text}");
    assert!(
        text.contains("\"Teams/Ops\"") && text.contains(" or ") && text.contains("\"infra/OPS\""),
        "{text}"
    );
    for nothing in ["nothing/ops", "teams/nothing", "/ops", "teams/", "ops/teams"] {
        assert_eq!(named.refused(nothing).await.0, ErrorKind::NotFound, "{nothing}");
    }
    let list = ListTopics { channel: ChannelRef::Name("infra/ops".into()), include_archived: false };
    scene.say(&ana, second, "here", "hello").await;
    let listed = list_topics(&named.comms, &named.caller, list).await.unwrap();
    assert_eq!(listed.topics.len(), 1);
    let ambiguous = ListTopics { channel: ChannelRef::Name("ops".into()), include_archived: false };
    let refused: list_topics::Error = list_topics(&named.comms, &named.caller, ambiguous).await.unwrap_err();
    assert_eq!(refused.to_string(), text, "whatever is done with the channel");
}

/// What has exactly the name comes first, and the name that it takes is not offered for another.
pub async fn a_slash_in_a_name_of_its_own_comes_first(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let named = Named { comms: scene.comms(), caller: scene.caller(&ana) };
    let outer = group(&scene, &ana, "outer", None, Visibility::Owner).await.unwrap();
    let teams = group(&scene, &ana, "teams", Some(outer.id), Visibility::Owner).await.unwrap();
    let inside = channel_in(&scene, &ana, "ops", teams.id).await.unwrap().id;
    let slashed =
        create_channel(&named.comms, &named.caller, new_channel("teams/ops", None)).await.unwrap().id;
    let alone = create_channel(&named.comms, &named.caller, new_channel("ops", None)).await.unwrap().id;
    assert_eq!(named.id("teams/ops").await, slashed);
    assert_eq!(named.id("outer/teams/ops").await, inside);
    let (_, text) = named.refused("ops").await;
    let expected = "channel \"ops\" is ambiguous: 2 channels have this name; no group that you see tells 1 of them \
                    apart, ask a person to rename those; name the group as well: \"outer/teams/ops\"";
    assert_eq!(text, expected);
    assert_ne!(alone, inside);
    let odd = group(&scene, &ana, "a/b", None, Visibility::Owner).await.unwrap();
    let odd = channel_in(&scene, &ana, "c/d", odd.id).await.unwrap().id;
    assert_eq!(named.id("a/b/c/d").await, odd, "whichever slash divides");
    assert_eq!(named.refused("b/c/d").await.0, ErrorKind::NotFound, "half a name is none");
}

/// Groups of one name are told apart by those around them, or not at all.
pub async fn groups_of_one_name_are_told_apart_by_those_around_them(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let named = Named { comms: scene.comms(), caller: scene.caller(&ana) };
    let mut rooms = Vec::new();
    for outer in ["east", "west"] {
        let outer = group(&scene, &ana, outer, None, Visibility::Owner).await.unwrap();
        let inner = group(&scene, &ana, "desk", Some(outer.id), Visibility::Owner).await.unwrap();
        rooms.push(channel_in(&scene, &ana, "ops", inner.id).await.unwrap().id);
    }
    assert_eq!([named.id("east/desk/ops").await, named.id("West/Desk/OPS").await], rooms[..]);
    for name in ["ops", "desk/ops"] {
        let (kind, text) = named.refused(name).await;
        assert_eq!(kind, ErrorKind::InvalidArgument);
        assert!(text.starts_with(&format!("channel {name:?} is ambiguous: 2 channels")), "{text}");
        assert!(text.contains("\"east/desk/ops\"") && text.contains("\"west/desk/ops\""), "{text}");
    }
    let again = group(&scene, &ana, "east", None, Visibility::Owner).await.unwrap();
    let inner = group(&scene, &ana, "desk", Some(again.id), Visibility::Owner).await.unwrap();
    channel_in(&scene, &ana, "ops", inner.id).await.unwrap();
    let (_, text) = named.refused("ops").await;
    assert!(
        text.contains("3 channels have this name; no group that you see tells 2 of them apart"),
        "{text}"
    );
    assert!(text.ends_with(": \"west/desk/ops\"") && !text.contains("east"), "{text}");
}

/// A group that the caller does not see neither names a channel nor is named.
pub async fn a_group_that_is_not_seen_tells_nothing_apart(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let hidden = group(&scene, &ana, "hidden", None, Visibility::Owner).await.unwrap();
    let room = channel_in(&scene, &ana, "ops", hidden.id).await.unwrap().id;
    scene.put_member(room, &ben, false).await;
    let named = Named { comms: scene.comms(), caller: scene.caller(&ben) };
    assert_eq!(named.id("ops").await, room);
    assert_eq!(named.refused("hidden/ops").await.0, ErrorKind::NotFound);
    create_channel(&named.comms, &named.caller, new_channel("ops", None)).await.unwrap();
    let (_, text) = named.refused("ops").await;
    let expected = "channel \"ops\" is ambiguous: 2 channels have this name; no group that you see tells 2 of them \
                    apart, ask a person to rename those";
    assert_eq!(text, expected);
}

/// However many have the name, the error stays short and no name breaks out of its quotes.
pub async fn an_ambiguous_name_is_told_in_short_and_in_quotes(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let named = Named { comms: scene.comms(), caller: scene.caller(&ana) };
    for number in 0..20 {
        let group =
            group(&scene, &ana, &format!("g{number:02}\"\nx"), None, Visibility::Owner).await.unwrap();
        channel_in(&scene, &ana, "ops", group.id).await.unwrap();
    }
    let (_, text) = named.refused("ops").await;
    assert_eq!(text.matches("/ops\"").count(), 5, "{text}");
    assert!(text.ends_with(", and 15 more") && !text.contains('\n'), "{text}");
    assert!(text.contains(r#""g00\"\nx/ops""#), "{text}");
}
