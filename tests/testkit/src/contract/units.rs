//! Units of work and snapshots: what is kept, what is seen, and by whom.

use compass_comms::ports::Subject;
use compass_domain::{AccountKind, TenantId, UserRole};

use crate::{
    Fixture, Scene,
    world::{page_of, pending_of},
};

/// Dropping a unit rolls it back.
pub async fn a_dropped_unit_keeps_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let lost = scene.new_account("lost", AccountKind::User { role: UserRole::Member });
    let token = scene.token(Subject::Account(ana.id), 1);
    let mut unit = scene.begin().await;
    unit.accounts().insert(&lost).await.unwrap();
    unit.channels().lock(room).await.unwrap();
    assert!(unit.channels().remove_member(room, ana.id).await.unwrap());
    unit.tokens().insert(&token).await.unwrap();
    drop(unit);
    let mut read = scene.read().await;
    assert_eq!(read.find_account(lost.id).await.unwrap(), None);
    assert_eq!(read.participating(ana.id, &[room]).await.unwrap(), [room]);
    drop(read);
    assert_eq!(scene.storage.find_token(&token.hash).await.unwrap(), None);
}

/// All of it, at once.
pub async fn a_committed_unit_keeps_everything(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let kept = scene.new_account("kept", AccountKind::User { role: UserRole::Member });
    let token = scene.token(Subject::Account(kept.id), 1);
    let mut unit = scene.begin().await;
    unit.accounts().insert(&kept).await.unwrap();
    unit.tokens().insert(&token).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(scene.read().await.find_account(kept.id).await.unwrap(), Some(kept));
    assert_eq!(scene.storage.find_token(&token.hash).await.unwrap(), Some((scene.tenant.clone(), token)));
    scene.channel("after", &[&ana]).await;
}

/// A use case reads what it just wrote.
pub async fn a_unit_reads_its_own_writes(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let new = scene.new_account("new", AccountKind::User { role: UserRole::Member });
    let token = scene.token(Subject::SignIn(new.id), 9);
    let mut unit = scene.begin().await;
    unit.accounts().insert(&new).await.unwrap();
    unit.tokens().insert(&token).await.unwrap();
    assert_eq!(unit.accounts().find(new.id).await.unwrap().as_ref(), Some(&new));
    assert_eq!(unit.accounts().find_by_handle(&new.handle).await.unwrap().as_ref(), Some(&new));
    assert_eq!(unit.tokens().find(token.id).await.unwrap().as_ref(), Some(&token));
    assert_eq!(unit.tokens().find_by_hash(&token.hash).await.unwrap().as_ref(), Some(&token));
}

/// Reads of one unit agree with each other whatever is committed meanwhile.
pub async fn a_snapshot_does_not_move(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    scene.say(&ana, room, "t", "before").await;
    let mut read = scene.read().await;
    let before = read.list_messages(&page_of(room)).await.unwrap();
    let position = read.last_position().await.unwrap();
    scene.say(&ana, room, "t", "after").await;
    assert_eq!(read.list_messages(&page_of(room)).await.unwrap(), before);
    assert_eq!(read.last_position().await.unwrap(), position);
    assert_eq!(scene.messages(room).await.len(), 2);
}

/// I1: without its tenant no row is seen.
pub async fn another_tenant_sees_nothing(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.subscribe(room, &bot).await;
    let message = scene.say(&ana, room, "t", "hello").await;
    let other = TenantId::new("other");
    let mut read = scene.storage.read(&other).await.unwrap();
    assert_eq!(read.find_account(ana.id).await.unwrap(), None);
    assert_eq!(read.list_accounts(ana.actor()).await.unwrap(), []);
    assert_eq!(read.list_channels(ana.actor()).await.unwrap(), []);
    assert_eq!(read.find_message(message.id()).await.unwrap(), None);
    assert_eq!(read.list_messages(&page_of(room)).await.unwrap(), []);
    assert_eq!(read.list_topics(&[room], true).await.unwrap(), []);
    drop(read);
    assert!(scene.audience.pending(&other, &pending_of(&bot)).await.unwrap().items.is_empty());
    assert!(scene.audience.labelled(&other, message.id()).await.unwrap().is_none());
}

/// I1.
pub async fn a_fresh_install_has_the_default_tenant(fixture: &Fixture) {
    assert_eq!(fixture.storage.tenants().await.unwrap(), [TenantId::default_tenant()]);
}

/// DV-q: history before the seed is not owed, and seeding again resets nothing.
pub async fn a_cursor_is_seeded_at_the_head_and_never_reset(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&ana]).await;
    scene.say(&ana, room, "t", "history").await;
    scene.subscribe(room, &bot).await;
    let owed = scene.say(&ana, room, "t", "owed").await;
    scene.subscribe(room, &bot).await;
    let pending = scene.pending(&bot).await;
    let ids: Vec<_> = pending.items.iter().map(|item| item.message.message.id()).collect();
    assert_eq!(ids, [owed.id()]);
}
