//! Sessions, leases, and the messages nobody routed.

use compass_domain::{Account, LifecycleState, MessageId, NodeId, SessionId, TenantId};
use compass_hub::ports::{AttachMode, LiveSession, OpenSession, StoredSession};
use compass_ports::Ids;

use crate::{Fixture, Scene};

/// R11.
pub async fn a_session_is_live_while_its_node_holds_a_lease(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let node = scene.ids.node();
    let session = open(&scene, node, &bot, AttachMode::Deliveries).await;
    assert_eq!(live(&scene).await, [], "there is no lease");
    scene.ledger.renew_lease(node).await.unwrap();
    scene.ledger.renew_lease(node).await.unwrap();
    let expected = LiveSession {
        session,
        account: bot.id,
        runner: "runner".into(),
        node,
        mode: AttachMode::Deliveries,
        state: LifecycleState::Unspecified,
        state_number: 0,
    };
    assert_eq!(live(&scene).await, [expected]);
    scene.ledger.release(node).await.unwrap();
    assert_eq!(live(&scene).await, []);
    scene.ledger.renew_lease(node).await.unwrap();
    assert_eq!(live(&scene).await, [], "the session was closed with the lease");
}

/// In place of an earlier row of the same session, state and number included.
pub async fn a_session_is_opened_in_place_of_itself(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let (one, other) = (scene.ids.node(), scene.ids.node());
    scene.ledger.renew_lease(one).await.unwrap();
    scene.ledger.renew_lease(other).await.unwrap();
    let session = open(&scene, one, &bot, AttachMode::Deliveries).await;
    scene.ledger.record_state(&scene.tenant, session, LifecycleState::Ready, 4).await.unwrap();
    let again =
        OpenSession { session, account: bot.id, runner: "next".into(), mode: AttachMode::PresenceOnly };
    scene.ledger.open_session(&scene.tenant, other, &again).await.unwrap();
    let [row] = &live(&scene).await[..] else { panic!("one row") };
    assert_eq!((row.node, row.runner.as_str(), row.mode), (other, "next", AttachMode::PresenceOnly));
    assert_eq!((row.state, row.state_number), (LifecycleState::Unspecified, 0));
}

/// An agent with a session that takes deliveries, on a node that holds a lease.
async fn with_session(fixture: &Fixture) -> (Scene, Account, NodeId, SessionId) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let node = scene.ids.node();
    scene.ledger.renew_lease(node).await.unwrap();
    let session = open(&scene, node, &bot, AttachMode::Deliveries).await;
    (scene, bot, node, session)
}

/// PR-15.
pub async fn an_older_state_never_replaces_a_newer_one(fixture: &Fixture) {
    use LifecycleState as S;
    let (scene, .., session) = with_session(fixture).await;
    for (state, number, is_newer) in [
        (S::Starting, 1, true),
        (S::Working, 3, true),
        (S::Ready, 2, false),
        (S::Ready, 3, false),
        (S::Stopped, 4, true),
        (S::Errored, 5, true),
        (S::Disconnected, 6, true),
    ] {
        let recorded = scene.ledger.record_state(&scene.tenant, session, state, number).await.unwrap();
        assert_eq!(recorded, is_newer, "{state:?} {number}");
        if is_newer {
            let row = &live(&scene).await[0];
            assert_eq!((row.state, row.state_number), (state, number));
        }
    }
    let unknown = SessionId::from_bytes([1; 16]);
    assert!(!scene.ledger.record_state(&scene.tenant, unknown, S::Ready, 9).await.unwrap());
}

/// Closing is idempotent.
pub async fn closing_twice_is_no_error(fixture: &Fixture) {
    let (scene, bot, node, session) = with_session(fixture).await;
    let kept = open(&scene, node, &bot, AttachMode::PresenceOnly).await;
    for _ in 0..2 {
        scene.ledger.close_session(&scene.tenant, session).await.unwrap();
    }
    let rest: Vec<SessionId> = live(&scene).await.iter().map(|row| row.session).collect();
    assert_eq!(rest, [kept]);
}

/// A runner that comes back names sessions of which some are closed and some are unknown.
pub async fn a_session_is_found_by_its_id_open_or_closed(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    let node = scene.ids.node();
    let open_one = open(&scene, node, &one, AttachMode::Deliveries).await;
    let closed = open(&scene, node, &two, AttachMode::PresenceOnly).await;
    scene.ledger.close_session(&scene.tenant, closed).await.unwrap();
    let row = |session, account: &Account, mode| StoredSession {
        session,
        account: account.id,
        runner: "runner".into(),
        mode,
    };
    let mut expected =
        [row(open_one, &one, AttachMode::Deliveries), row(closed, &two, AttachMode::PresenceOnly)];
    expected.sort_by_key(|row| row.session);
    let asked = [closed, SessionId::from_bytes([1; 16]), open_one, closed];
    assert_eq!(scene.ledger.find_sessions(&scene.tenant, &asked).await.unwrap(), expected);
    assert_eq!(scene.ledger.find_sessions(&scene.tenant, &[]).await.unwrap(), []);
    assert_eq!(scene.ledger.find_sessions(&TenantId::new("other"), &asked).await.unwrap(), []);
}

/// The roster asks for a few accounts only.
pub async fn sessions_are_found_by_account(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, two) = (scene.agent("one", &ana).await, scene.agent("two", &ana).await);
    let node = scene.ids.node();
    scene.ledger.renew_lease(node).await.unwrap();
    let first = open(&scene, node, &one, AttachMode::Deliveries).await;
    open(&scene, node, &two, AttachMode::Deliveries).await;
    let found = scene.ledger.live_sessions(&scene.tenant, Some(&[one.id])).await.unwrap();
    assert_eq!(found.iter().map(|row| row.session).collect::<Vec<_>>(), [first]);
    assert_eq!(scene.ledger.live_sessions(&scene.tenant, Some(&[])).await.unwrap(), []);
    assert_eq!(live(&scene).await.len(), 2);
}

/// R11.
pub async fn a_released_node_closes_only_its_own_sessions(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let (one, other) = (scene.ids.node(), scene.ids.node());
    for node in [one, other] {
        scene.ledger.renew_lease(node).await.unwrap();
    }
    open(&scene, one, &bot, AttachMode::Deliveries).await;
    let kept = open(&scene, other, &bot, AttachMode::Deliveries).await;
    scene.ledger.release(one).await.unwrap();
    let rest: Vec<SessionId> = live(&scene).await.iter().map(|row| row.session).collect();
    assert_eq!(rest, [kept]);
}

/// R8.
pub async fn unrouted_messages_are_found_oldest_first(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let rooms = [scene.channel("one", &[&ana]).await, scene.channel("two", &[&ana]).await];
    let mut waiting = Vec::new();
    for number in 0..5 {
        scene.say(&ana, rooms[number % 2], "t", "plain").await;
        waiting.push(scene.say(&ana, rooms[number % 2], "t", "@nobody").await.id());
    }
    assert_eq!(unrouted(&scene, scene.ids.node(), 9).await, waiting);
    assert_eq!(unrouted(&scene, scene.ids.node(), 2).await, waiting[..2]);
    let rows = scene.ledger.unrouted(scene.ids.node(), 0, 1).await.unwrap();
    assert_eq!(rows, [(scene.tenant.clone(), waiting[0], ana.id)]);
    scene.route(waiting[1]).await;
    waiting.remove(1);
    assert_eq!(unrouted(&scene, scene.ids.node(), 9).await, waiting);
}

/// R8: the node that holds the author, or any when nobody does.
pub async fn an_author_that_lives_on_another_node_is_left_to_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let room = scene.channel("room", &[&bot]).await;
    let message = scene.say(&bot, room, "t", "text").await.id();
    let (one, other) = (scene.ids.node(), scene.ids.node());
    assert_eq!(unrouted(&scene, one, 9).await, [message], "nobody holds the author");
    scene.ledger.renew_lease(other).await.unwrap();
    open(&scene, other, &bot, AttachMode::PresenceOnly).await;
    assert_eq!(unrouted(&scene, one, 9).await, []);
    assert_eq!(unrouted(&scene, other, 9).await, [message]);
    scene.ledger.renew_lease(one).await.unwrap();
    open(&scene, one, &bot, AttachMode::Deliveries).await;
    assert_eq!(unrouted(&scene, one, 9).await, [message], "this node holds one too");
    scene.ledger.release(one).await.unwrap();
    scene.ledger.release(other).await.unwrap();
    assert_eq!(unrouted(&scene, one, 9).await, [message]);
}

/// R8: the committing node gets the first go.
pub async fn young_unrouted_messages_are_left_alone(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let room = scene.channel("room", &[&ana]).await;
    let message = scene.say(&ana, room, "t", "@nobody").await.id();
    let node = scene.ids.node();
    let young = scene.ledger.unrouted(node, 60_000, 9).await.unwrap();
    assert_eq!(young, []);
    assert_eq!(unrouted(&scene, node, 9).await, [message]);
}

async fn open(scene: &Scene, node: NodeId, agent: &Account, mode: AttachMode) -> SessionId {
    let session = scene.ids.session();
    let row = OpenSession { session, account: agent.id, runner: "runner".into(), mode };
    scene.ledger.open_session(&scene.tenant, node, &row).await.expect("the session is stored");
    session
}

async fn live(scene: &Scene) -> Vec<LiveSession> {
    scene.ledger.live_sessions(&scene.tenant, None).await.expect("the ledger can be read")
}

async fn unrouted(scene: &Scene, node: NodeId, limit: u32) -> Vec<MessageId> {
    let rows = scene.ledger.unrouted(node, 0, limit).await.expect("the ledger can be read");
    rows.into_iter().map(|(_, message, _)| message).collect()
}
