//! Accounts: lookups, uniqueness, who sees whom.

use compass_domain::{Account, AccountKind, UserRole};
use compass_ports::StorageError;

use crate::{Fixture, Scene};

/// AC-18: lookups are not scoped.
pub async fn an_account_is_found_by_id_and_by_handle(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.admin("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let kid = scene.child("kid", &bot).await;
    let system = scene.system().await;
    let mut read = scene.read().await;
    for account in [&ana, &bot, &kid, &system] {
        assert_eq!(read.find_account(account.id).await.unwrap().as_ref(), Some(account));
        let by_handle = read.find_account_by_handle(&account.handle).await.unwrap();
        assert_eq!(by_handle.as_ref(), Some(account));
    }
    let nobody = scene.new_account("nobody", AccountKind::System);
    assert_eq!(read.find_account(nobody.id).await.unwrap(), None);
    assert_eq!(read.find_account_by_handle(&nobody.handle).await.unwrap(), None);
}

/// AC-3, I2.
pub async fn a_handle_is_taken_once_over_all_kinds(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    for handle in [&ana.handle, &bot.handle] {
        let kind = AccountKind::User { role: UserRole::Member };
        let twin = Account { handle: handle.clone(), ..scene.new_account("twin", kind) };
        let mut unit = scene.begin().await;
        let refused = unit.accounts().insert(&twin).await;
        assert!(matches!(refused, Err(StorageError::Conflict(_))), "{handle}: {refused:?}");
        drop(unit);
        assert_eq!(scene.read().await.find_account(twin.id).await.unwrap(), None);
    }
}

/// AC-17.
pub async fn people_are_seen_by_all_and_agents_by_owner_and_channel_mates(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let mine = scene.agent("mine", &ana).await;
    let other = scene.agent("other", &ben).await;
    let shared = scene.agent("shared", &ben).await;
    scene.channel("room", &[&ana, &shared]).await;
    assert_eq!(
        sees(&scene, &ana, &[&ana, &ben, &mine, &other, &shared]).await,
        [true, true, true, false, true]
    );
    assert_eq!(
        sees(&scene, &mine, &[&ana, &ben, &mine, &other, &shared]).await,
        [true, true, true, false, false]
    );
    let system = scene.system().await;
    assert_eq!(sees(&scene, &ana, &[&system]).await, [false], "the system is seen like a channel mate");
}

/// CH-25: seeing goes by participation, not by rows.
pub async fn a_tree_makes_channel_mates_without_member_rows(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let top = scene.agent("top", &ana).await;
    let (left, right) = (scene.child("left", &top).await, scene.child("right", &top).await);
    assert_eq!(sees(&scene, &left, &[&right]).await, [false], "siblings share nothing yet");
    let tree = scene.tree("tree", &top).await;
    assert_eq!(sees(&scene, &left, &[&right, &top]).await, [true, true]);
    let mut read = scene.read().await;
    assert!(read.channel_mates(left.id).await.unwrap().contains(&right.id));
    assert_eq!(read.participating(left.id, &[tree]).await.unwrap(), [tree]);
}

/// AC-17: by handle.
pub async fn accounts_are_listed_by_handle(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let mia = scene.user("mia").await;
    for handle in ["zoe", "a-b", "a.b", "a_b", "a1", "ab"] {
        scene.user(handle).await;
    }
    let listed = scene.read().await.list_accounts(mia.actor()).await.unwrap();
    let handles: Vec<&str> = listed.iter().map(|account| account.handle.as_str()).collect();
    assert_eq!(handles, ["a-b", "a.b", "a1", "a_b", "ab", "mia", "zoe"]);
}

/// AC-21.
pub async fn an_activity_replaces_the_one_before(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (bot, idle) = (scene.agent("bot", &ana).await, scene.agent("idle", &ana).await);
    for activity in ["reading", "writing ✍"] {
        let mut unit = scene.begin().await;
        unit.accounts().put_activity(bot.id, activity, scene.now()).await.unwrap();
        unit.commit().await.unwrap();
    }
    let said = scene.read().await.list_activities(&[bot.id, idle.id]).await.unwrap();
    assert_eq!(said.len(), 1, "an agent that said nothing is left out");
    assert_eq!((said[0].0, said[0].1.as_str()), (bot.id, "writing ✍"));
}

/// Whether `viewer` sees each account, with the list and the single check held equal.
async fn sees(scene: &Scene, viewer: &Account, accounts: &[&Account]) -> Vec<bool> {
    let mut read = scene.read().await;
    let listed = read.list_accounts(viewer.actor()).await.unwrap();
    let mut seen = Vec::new();
    for account in accounts {
        let one = read.sees_account(viewer.actor(), account.id).await.unwrap();
        let in_list = listed.contains(account);
        assert_eq!(one, in_list, "list and check disagree about {}", account.handle);
        seen.push(one);
    }
    seen
}
