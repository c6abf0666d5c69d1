//! The event bus: numbers, replay, lag, end.

use std::{future::Future, pin::pin, sync::Arc, task::Poll};

use compass_domain::{Account, AccountId, AccountKind, ChannelId, Event, Handle, MessageId, TenantId};
use compass_ports::{
    EventBus, Next, Published, RETAINED, Since, StorageError, Subscription, Turns, Underflow,
    commit_then_publish,
};
use tokio::{sync::Barrier, task::JoinSet};
use tokio_util::task::TaskTracker;

use crate::Fixture;

/// 7.4-1.
pub async fn seqs_start_at_one_and_a_replay_is_strictly_above(fixture: &Fixture) {
    let bus = &*fixture.bus;
    publish(bus, 1..=5);
    assert_eq!(take(&mut *start(bus), 5).await, [1, 2, 3, 4, 5]);
    let mut after = subscribe(bus, 3).expect("3 is retained");
    publish(bus, 6..=6);
    assert_eq!(take(&mut *after, 3).await, [4, 5, 6]);
    let Next::Event(first) = start(bus).next().await else { panic!("an event") };
    assert_eq!((first.seq, &first.tenant), (1, &tenant()));
    assert!(first.at > compass_domain::UnixMillis(0), "stamped by the clock");
}

/// 7.4-2.
pub async fn the_oldest_place_works_and_one_lower_underflows(fixture: &Fixture) {
    let bus = &*fixture.bus;
    let all = RETAINED as u64 + 10;
    publish(bus, 1..=all);
    let oldest = all - RETAINED as u64 + 1;
    let replay = take(&mut *start(bus), RETAINED).await;
    assert_eq!(replay, (oldest..=all).collect::<Vec<_>>());
    let mut edge = subscribe(bus, oldest - 1).expect("the place before the oldest works");
    assert_eq!(take(&mut *edge, 1).await, [oldest]);
    assert!(subscribe(bus, oldest - 2).is_err());
}

/// 7.4-3.
pub async fn a_place_not_reached_yet_underflows(fixture: &Fixture) {
    let bus = &*fixture.bus;
    publish(bus, 1..=3);
    assert!(subscribe(bus, 4).is_err());
    assert!(subscribe(bus, 5).is_err());
    let mut last = subscribe(bus, 3).expect("the last seq works");
    publish(bus, 4..=4);
    assert_eq!(take(&mut *last, 1).await, [4]);
}

/// 7.4-3, on an empty bus.
pub async fn an_empty_bus_starts_and_underflows_above(fixture: &Fixture) {
    let bus = &*fixture.bus;
    assert_ne!(bus.epoch(), 0);
    assert!(subscribe(bus, 1).is_err());
    let mut live = start(bus);
    publish(bus, 1..=1);
    assert_eq!(take(&mut *live, 1).await, [1]);
}

/// 7.4-4.
pub async fn another_epoch_underflows_and_start_ignores_it(fixture: &Fixture) {
    let bus = &*fixture.bus;
    publish(bus, 1..=3);
    for epoch in [0, bus.epoch().wrapping_add(1)] {
        assert!(bus.subscribe(&tenant(), Since::After { seq: 1, epoch }).is_err(), "epoch {epoch}");
    }
    assert_eq!(take(&mut *start(bus), 3).await, [1, 2, 3]);
}

/// 7.4-5.
pub async fn a_slow_subscriber_lags_alone(fixture: &Fixture) {
    let bus = &*fixture.bus;
    let (mut slow, mut quick) = (start(bus), start(bus));
    let all = 1024 + 200;
    for seq in 1..=all {
        publish(bus, seq..=seq);
        assert_eq!(take(&mut *quick, 1).await, [seq]);
    }
    let mut lagged = false;
    for _ in 0..=all {
        match slow.next().await {
            Next::Event(_) => {}
            other => {
                assert_eq!(other, Next::Lagged);
                lagged = true;
                break;
            }
        }
    }
    assert!(lagged, "it missed events");
    publish(bus, all + 1..=all + 1);
    assert_ne!(slow.next().await, Next::Lagged, "it said so once");
    assert_eq!(take(&mut *quick, 1).await, [all + 1]);
}

/// 7.4-6: what was published before is still read.
pub async fn closing_ends_subscribers_without_lag(fixture: &Fixture) {
    let bus = &*fixture.bus;
    let (mut live, mut tap) = (start(bus), bus.tap());
    publish(bus, 1..=2);
    bus.close();
    bus.close();
    assert_eq!(take(&mut *live, 2).await, [1, 2]);
    assert_eq!(take(&mut *tap, 2).await, [1, 2]);
    for subscription in [&mut live, &mut tap] {
        assert_eq!(subscription.next().await, Next::Closed);
        assert_eq!(subscription.next().await, Next::Closed);
    }
}

/// 7.4-6, also with a bad place.
pub async fn a_closed_bus_hands_out_ended_subscriptions(fixture: &Fixture) {
    let bus = &*fixture.bus;
    publish(bus, 1..=2);
    bus.close();
    publish(bus, 3..=3);
    for since in [Since::Start, Since::After { seq: 99, epoch: 0 }] {
        let mut ended = bus.subscribe(&tenant(), since).expect("an ended subscription");
        assert_eq!(ended.next().await, Next::Closed);
    }
    assert_eq!(bus.tap().next().await, Next::Closed);
}

/// 7.4-7.
pub async fn publishing_beside_subscribing_leaves_no_gap_and_no_duplicate(fixture: &Fixture) {
    const EVENTS: u64 = 600;
    let barrier = Arc::new(Barrier::new(9));
    let mut readers: JoinSet<Vec<u64>> = JoinSet::new();
    for _ in 0..8 {
        let (bus, barrier) = (Arc::clone(&fixture.bus), Arc::clone(&barrier));
        readers.spawn(async move {
            barrier.wait().await;
            take(&mut *start(&*bus), usize::try_from(EVENTS).expect("it fits")).await
        });
    }
    barrier.wait().await;
    for seq in 1..=EVENTS {
        publish(&*fixture.bus, seq..=seq);
        if seq % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let expected: Vec<u64> = (1..=EVENTS).collect();
    for seen in readers.join_all().await {
        assert_eq!(seen, expected);
    }
}

/// I1, and the view of the hub's consumer.
pub async fn tenants_do_not_see_each_other_and_a_tap_sees_all(fixture: &Fixture) {
    let bus = &*fixture.bus;
    let other = TenantId::new("other");
    bus.publish(&tenant(), vec![event(100)]);
    let mut tap = bus.tap();
    let mut live = bus.subscribe(&other, Since::Start).expect("the start is retained");
    bus.publish(&tenant(), vec![event(1)]);
    bus.publish(&other, vec![event(2)]);
    bus.publish(&tenant(), Vec::new());
    let Next::Event(seen) = live.next().await else { panic!("an event") };
    assert_eq!((seen.seq, &seen.tenant, &seen.event), (1, &other, &event(2)));
    let mut tapped = Vec::new();
    for _ in 0..2 {
        let Next::Event(seen) = tap.next().await else { panic!("an event") };
        tapped.push((seen.tenant.clone(), seen.event.clone()));
    }
    assert_eq!(tapped, [(tenant(), event(1)), (other, event(2))], "a tap starts now");
}

/// R5.
pub async fn events_of_one_list_are_adjacent(fixture: &Fixture) {
    let mut writers: JoinSet<()> = JoinSet::new();
    for writer in 0..4_u64 {
        let bus = Arc::clone(&fixture.bus);
        writers.spawn(async move {
            for _ in 0..50 {
                bus.publish(&tenant(), vec![event(writer), event(writer + 10), event(writer + 20)]);
                tokio::task::yield_now().await;
            }
        });
    }
    writers.join_all().await;
    let mut all = start(&*fixture.bus);
    for _ in 0..200 {
        let Next::Event(first) = all.next().await else { panic!("an event") };
        let number = number(&first);
        assert_eq!(take_numbers(&mut *all, 2).await, [number + 10, number + 20]);
    }
}

/// A stream's select loop drops waits all the time.
pub async fn waiting_can_be_dropped(fixture: &Fixture) {
    let bus = &*fixture.bus;
    let mut live = start(bus);
    for _ in 0..3 {
        let mut wait = pin!(live.next());
        std::future::poll_fn(|context| {
            assert!(wait.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
    }
    publish(bus, 1..=1);
    assert_eq!(take(&mut *live, 1).await, [1]);
}

/// What is known of who sees what is good for one version.
pub async fn the_access_version_rises_with_what_may_change_access_and_by_hand(fixture: &Fixture) {
    let bus = &*fixture.bus;
    let mut last = bus.access_version(&tenant());
    publish(bus, 1..=1);
    assert_eq!(bus.access_version(&tenant()), last, "a settled message changes nothing");
    let mut tap = bus.tap();
    let account = Account {
        id: AccountId::from_bytes([1; 16]),
        handle: Handle::system(),
        display_name: String::new(),
        kind: AccountKind::System,
    };
    bus.publish(&tenant(), vec![Event::AccountChanged(Arc::new(account))]);
    assert!(bus.access_version(&tenant()) > last, "before anyone gets the event");
    let Next::Event(_) = tap.next().await else { panic!("the event") };
    last = bus.access_version(&tenant());
    bus.raise_access(&tenant());
    assert!(bus.access_version(&tenant()) > last);
    let other = TenantId::new("other");
    assert_eq!(bus.access_version(&other), 0, "a tenant of its own");
    bus.close();
    assert_eq!(bus.access_version(&tenant()), u64::MAX, "what was known before the end is not used after it");
}

/// R5: a commit of unknown outcome is told by nobody, so it counts as a change of access.
pub async fn a_commit_of_unknown_outcome_raises_the_access_version(fixture: &Fixture) {
    let before = fixture.bus.access_version(&tenant());
    let run = |result: Result<(), StorageError>| {
        let (bus, tasks, turns) = (Arc::clone(&fixture.bus), TaskTracker::new(), Turns::default());
        async move { commit_then_publish(&tasks, &turns, bus, tenant(), async { result }, vec![event(1)]).await }
    };
    run(Err(StorageError::Unavailable("gone".into()))).await.unwrap_err();
    assert_eq!(fixture.bus.access_version(&tenant()), before, "nothing was kept");
    run(Err(StorageError::OutcomeUnknown("cut".into()))).await.unwrap_err();
    assert!(fixture.bus.access_version(&tenant()) > before);
    let mut told = start(&*fixture.bus);
    run(Ok(())).await.unwrap();
    assert_eq!(take_numbers(&mut *told, 1).await, [1], "only the commit that was kept is told");
}

fn tenant() -> TenantId {
    TenantId::default_tenant()
}

fn event(number: u64) -> Event {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    Event::MessageSettled { channel: ChannelId::from_bytes([0; 16]), message: MessageId::from_bytes(bytes) }
}

fn number(published: &Published) -> u64 {
    let Event::MessageSettled { message, .. } = &published.event else { panic!("an event of this suite") };
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&message.as_bytes()[8..]);
    u64::from_be_bytes(bytes)
}

/// Publishes one event per number, each on its own.
fn publish(bus: &dyn EventBus, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        bus.publish(&tenant(), vec![event(number)]);
    }
}

fn start(bus: &dyn EventBus) -> Box<dyn Subscription> {
    bus.subscribe(&tenant(), Since::Start).expect("the start always works")
}

fn subscribe(bus: &dyn EventBus, seq: u64) -> Result<Box<dyn Subscription>, Underflow> {
    bus.subscribe(&tenant(), Since::After { seq, epoch: bus.epoch() })
}

/// The seqs of the next events, whose numbers must be the same.
async fn take(subscription: &mut dyn Subscription, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    for _ in 0..count {
        let Next::Event(published) = subscription.next().await else { panic!("an event after {seqs:?}") };
        seqs.push(published.seq);
    }
    seqs
}

async fn take_numbers(subscription: &mut dyn Subscription, count: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..count {
        let Next::Event(published) = subscription.next().await else { panic!("an event after {numbers:?}") };
        numbers.push(number(&published));
    }
    numbers
}

/// A commit that begins later is told later, however long the one before it takes; a tenant waits for itself only.
pub async fn commits_are_told_in_the_order_of_their_turns(fixture: &Fixture) {
    let (tasks, turns) = (TaskTracker::new(), Turns::default());
    let mut told = start(&*fixture.bus);
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let slow = async {
        wait.await.expect("the test lets it go");
        Ok(())
    };
    let bus = || Arc::clone(&fixture.bus);
    let first = commit_then_publish(&tasks, &turns, bus(), tenant(), slow, vec![event(1)]);
    let second = commit_then_publish(&tasks, &turns, bus(), tenant(), async { Ok(()) }, vec![event(2)]);
    let other = TenantId::new("other");
    let beside = commit_then_publish(&tasks, &turns, bus(), other, async { Ok(()) }, vec![event(3)]);
    let free = async {
        beside.await.expect("kept");
        go.send(()).expect("the first one waits");
    };
    let (first, second, ()) = tokio::join!(first, second, free);
    first.expect("kept");
    second.expect("kept");
    assert_eq!(take_numbers(&mut *told, 2).await, [1, 2]);
}
