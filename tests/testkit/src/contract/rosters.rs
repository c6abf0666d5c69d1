//! Rosters: the three scopes, clipped by what the viewer may see, equal to the rule of the domain.

use std::collections::BTreeSet;

use compass_comms::accounts::{
    get_roster::{self, GetRoster, get_roster},
    set_status::{SetStatus, set_status},
};
use compass_domain::{
    Account, AccountId, Presence,
    account::cut_activity,
    roster::{RosterScope, agents_in},
};

use super::channels::RandomWorld;
use crate::{Fixture, Scene};

const SCOPES: [RosterScope; 3] = [RosterScope::Neighborhood, RosterScope::Subtree, RosterScope::Owner];

/// Handles of a roster, by handle.
async fn handles(
    scene: &Scene,
    viewer: &Account,
    vantage: Option<&Account>,
    scope: RosterScope,
) -> Result<Vec<String>, get_roster::Error> {
    let get = GetRoster { scope, vantage: vantage.map(|vantage| vantage.id) };
    let entries = get_roster(&scene.comms(), &scene.caller(viewer), get).await?;
    let ids: Vec<AccountId> = entries.iter().map(|entry| entry.agent.id).collect();
    assert!(ids.is_sorted(), "by id");
    let mut handles: Vec<String> = entries.iter().map(|entry| entry.agent.handle.to_string()).collect();
    handles.sort_unstable();
    Ok(handles)
}

/// 1.8-14.
pub async fn each_scope_is_seen_from_a_child_and_from_a_root(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let root = scene.agent("root", &ana).await;
    let left = scene.child("left", &root).await;
    scene.child("right", &root).await;
    scene.child("leaf", &left).await;
    scene.agent("other", &ana).await;
    let seen = |vantage, scope| handles(&scene, &ana, Some(vantage), scope);
    assert_eq!(seen(&left, RosterScope::Neighborhood).await.unwrap(), ["leaf", "left", "right", "root"]);
    assert_eq!(seen(&root, RosterScope::Neighborhood).await.unwrap(), ["left", "other", "right", "root"]);
    assert_eq!(seen(&left, RosterScope::Subtree).await.unwrap(), ["leaf", "left"]);
    let all = ["leaf", "left", "other", "right", "root"];
    assert_eq!(seen(&left, RosterScope::Owner).await.unwrap(), all);
    assert_eq!(handles(&scene, &ana, None, RosterScope::Owner).await.unwrap(), all, "its own owner");
    assert_eq!(handles(&scene, &ana, None, RosterScope::Neighborhood).await.unwrap(), ["other", "root"]);
    assert!(handles(&scene, &ana, None, RosterScope::Subtree).await.unwrap().is_empty());
}

/// 1.8-14: what the viewer does not see is in no scope.
pub async fn an_invisible_agent_is_clipped_out_of_every_scope(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let root = scene.agent("root", &ana).await;
    let hidden = scene.child("hidden", &root).await;
    scene.agent("bens", &ben).await;
    scene.channel("room", &[&ben, &root]).await;
    for (scope, expected) in [
        (RosterScope::Neighborhood, vec!["bens", "root"]),
        (RosterScope::Subtree, vec!["root"]),
        (RosterScope::Owner, vec!["root"]),
    ] {
        assert_eq!(handles(&scene, &ben, Some(&root), scope).await.unwrap(), expected, "{scope:?}");
    }
    // An agent sees of its own tree what it shares a channel with.
    assert_eq!(handles(&scene, &hidden, None, RosterScope::Owner).await.unwrap(), ["hidden"]);
    assert_eq!(handles(&scene, &root, None, RosterScope::Neighborhood).await.unwrap(), ["root"]);
}

/// G-2: a vantage the caller may not see looks like one that does not exist.
pub async fn a_vantage_that_is_not_seen_is_not_found(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let root = scene.agent("root", &ana).await;
    let system = scene.system().await;
    let stranger = scene.new_account("stranger", root.kind);
    for scope in SCOPES {
        for vantage in [&root, &system, &stranger] {
            let refused = handles(&scene, &ben, Some(vantage), scope).await;
            assert!(matches!(refused, Err(get_roster::Error::VantageNotFound)), "{refused:?}");
        }
    }
}

/// 1.8-10: the built-in sender is in no scope, also where it is seen.
pub async fn the_built_in_sender_is_in_no_scope(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let root = scene.agent("root", &ana).await;
    let system = scene.system().await;
    scene.channel("room", &[&ana, &system]).await;
    for scope in SCOPES {
        for vantage in [&ana, &system, &root] {
            let found = handles(&scene, &ana, Some(vantage), scope).await.unwrap();
            assert!(!found.contains(&"compass".to_owned()), "{scope:?}: {found:?}");
        }
    }
}

/// 1.8-15, 1.8-16, PR-12.
pub async fn an_entry_has_the_activity_as_cut_and_offline_without_a_session(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (busy, silent) = (scene.agent("busy", &ana).await, scene.agent("silent", &ana).await);
    let status = SetStatus { activity: "é".repeat(141) };
    set_status(&scene.comms(), &scene.caller(&busy), status.clone()).await.unwrap();
    // Another process over the same rows.
    let comms = scene.comms_over(&scene.second);
    let get = GetRoster { scope: RosterScope::Owner, vantage: None };
    let entries = get_roster(&comms, &scene.caller(&ana), get).await.unwrap();
    let entry = |id| entries.iter().find(|entry| entry.agent.id == id).expect("an entry");
    let (text, _) = entry(busy.id).activity.clone().expect("an activity");
    assert_eq!((text.chars().count(), text), (140, cut_activity(&status.activity).unwrap()));
    assert_eq!(entry(silent.id).activity, None, "absent stays absent");
    assert!(entries.iter().all(|entry| entry.presence == Presence::Offline));
}

/// The rule exists in domain and in storage, and both must be one; clipped by visibility, which is held equal
/// to what channels are shared.
pub async fn rosters_participants_and_mates_equal_the_domains_rule_on_random_worlds(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let world = RandomWorld::build(&scene, 11).await;
    let tree = world.tree();
    for viewer in &world.accounts {
        let mut read = scene.read().await;
        let listed = read.list_accounts(viewer.actor()).await.unwrap();
        let visible: BTreeSet<AccountId> = listed.iter().map(|account| account.id).collect();
        for vantage in &world.accounts {
            for scope in SCOPES {
                let roster = read.list_roster(viewer.actor(), vantage.id, scope).await.unwrap();
                let found: BTreeSet<AccountId> = roster.iter().map(|account| account.id).collect();
                assert_eq!(found.len(), roster.len(), "each once");
                let mut expected = agents_in(scope, vantage.id, tree);
                expected.retain(|agent| visible.contains(agent));
                let (one, other) = (&viewer.handle, &vantage.handle);
                assert_eq!(found, expected, "seed {}, {one} at {other}, {scope:?}", world.seed);
            }
        }
        let mates = read.channel_mates(viewer.id).await.unwrap();
        let mine = world.of(viewer.id);
        let shares = |other: &&Account| world.of(other.id).iter().any(|channel| mine.contains(channel));
        let expected: BTreeSet<AccountId> =
            world.accounts.iter().filter(shares).map(|other| other.id).collect();
        assert_eq!(mates.len(), expected.len(), "each once");
        assert_eq!(mates.into_iter().collect::<BTreeSet<_>>(), expected, "{}", viewer.handle);
        for account in &world.accounts {
            let sees = account.is_visible_to(viewer.id, || expected.contains(&account.id));
            assert_eq!(sees, visible.contains(&account.id), "{} of {}", viewer.handle, account.handle);
        }
    }
    let mut read = scene.read().await;
    for (channel, _) in &world.channels {
        let found = read.participants(*channel).await.unwrap();
        let takes_part = |account: &&Account| world.of(account.id).contains(channel);
        let expected: BTreeSet<AccountId> =
            world.accounts.iter().filter(takes_part).map(|account| account.id).collect();
        assert_eq!(found.len(), expected.len(), "each once");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}
