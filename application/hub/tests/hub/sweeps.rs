//! What a session is sent beside what events bring: the boards at its start, and what the database holds.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use compass_comms::channels::update_board::{BoardChange, UpdateBoard, update_board};
use compass_domain::{Account, ChannelId, LifecycleState, Message, delivery::Lane};
use compass_hub::notes::NoteKind;
use tokio::time::Instant;

use crate::rig::{Live, Rig, pass, settle};

async fn pin(rig: &Rig, by: &Account, channel: ChannelId, message: &Arc<Message>) {
    let change = BoardChange::Pin { message: message.id(), replace: None };
    update_board(&rig.comms, &rig.caller(by), UpdateBoard { channel, change }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_starts_with_what_it_is_owed_and_then_every_pin_in_board_order() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, silent) = (rig.agent(&ann, "one").await, rig.agent(&ann, "silent").await);
    let channel = rig.channel(&ann, &[&one], &[&silent]).await;
    let (read, own) = (rig.say(&ann, channel, "read").await, rig.say(&one, channel, "my own").await);
    rig.acknowledge(&one, &[&read]).await;
    let unread = rig.say(&ann, channel, "unread").await;
    for message in [&own, &unread, &read] {
        pin(&rig, &ann, channel, message).await;
    }
    let mut a = rig.attach(&one, "a").await;
    let mut s = rig.attach(&silent, "s").await;
    a.delivered(&unread).await;
    a.delivered(&own).await;
    a.delivered(&read).await;
    let later = rig.say(&ann, channel, "@silent later").await;
    a.delivered(&later).await;
    s.steered(&later).await;
    assert_eq!(
        (a.sent(), s.sent()),
        (vec![], vec![]),
        "the pin in flight is not sent twice, and the others once"
    );
    rig.acknowledge(&one, &[&unread, &own, &read, &later]).await;
    rig.hub.detached(a.session).await;
    rig.hub.attached(a.session);
    for message in [&own, &unread, &read] {
        a.delivered(message).await;
    }
    pass(Duration::from_mins(20)).await;
    assert_eq!(a.sent(), [], "a pin that nothing owes is not sent again");
}

#[tokio::test(start_paused = true)]
async fn a_pin_that_is_also_owed_reaches_the_session_once() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let post = rig.say(&ann, channel, "owed and pinned").await;
    pin(&rig, &ann, channel, &post).await;
    let mut a = rig.attach(&one, "a").await;
    a.delivered(&post).await;
    settle().await;
    assert_eq!(a.sent(), []);
}

#[tokio::test(start_paused = true)]
async fn a_pin_that_cannot_be_read_does_not_stop_the_others_and_is_noted() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let posts = [
        rig.say(&one, channel, "1").await,
        rig.say(&one, channel, "2").await,
        rig.say(&one, channel, "3").await,
    ];
    for post in &posts {
        pin(&rig, &ann, channel, post).await;
    }
    rig.audience.spoil(&posts[1]);
    let mut a = rig.attach(&one, "a").await;
    a.delivered(&posts[0]).await;
    a.delivered(&posts[2]).await;
    let notes = rig.hub.notes_of(&rig.tenant, one.id);
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].kind, NoteKind::Skipped);
    assert!(notes[0].text.contains(&posts[1].id().to_string()), "{}", notes[0].text);
}

#[tokio::test(start_paused = true)]
async fn boards_that_cannot_be_read_are_read_again_and_steers_do_not_wait_for_them() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let post = rig.say(&one, channel, "pinned").await;
    pin(&rig, &ann, channel, &post).await;
    rig.audience.failing_pins.store(3, Ordering::Relaxed);
    let mut a = rig.attach(&one, "a").await;
    let before = Instant::now();
    a.delivered(&post).await;
    assert!(before.elapsed() > Duration::from_secs(2), "{:?}", before.elapsed());
    let notes = rig.hub.notes_of(&rig.tenant, one.id);
    assert_eq!((notes.len(), notes[0].kind, notes[0].times), (1, NoteKind::Failed, 3));
}

/// A pinned message, and a session of the agent that has taken all later ones and acknowledged none.
async fn full_window(
    rig: &Rig,
    ann: &Account,
    one: &Account,
    channel: ChannelId,
) -> (Arc<Message>, Vec<Arc<Message>>, Live) {
    let pinned = rig.say(one, channel, "pinned").await;
    pin(rig, ann, channel, &pinned).await;
    let mut posts = Vec::new();
    for number in 0..200 {
        posts.push(rig.say(ann, channel, &format!("{number}")).await);
    }
    let mut live = rig.attach(one, "a").await;
    for post in &posts {
        live.delivered(post).await;
    }
    (pinned, posts, live)
}

#[tokio::test(start_paused = true)]
async fn pins_wait_for_room_in_the_window() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let (pinned, posts, mut a) = full_window(&rig, &ann, &one, channel).await;
    settle().await;
    assert_eq!(a.sent(), [], "the window is more than half full");
    let steer = rig.say(&ann, channel, "@one now").await;
    a.steered(&steer).await;
    let first: Vec<&Arc<Message>> = posts.iter().take(150).collect();
    rig.acknowledge(&one, &first).await;
    a.delivered(&pinned).await;
}

/// R2: a mailbox that is full costs no message and no wait.
#[tokio::test(start_paused = true)]
async fn more_messages_than_a_mailbox_holds_follow_in_order_without_a_timer() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let (pinned, posts, mut a) = full_window(&rig, &ann, &one, channel).await;
    let mut more = Vec::new();
    for number in 200..500 {
        more.push(rig.say(&ann, channel, &format!("{number}")).await.id());
    }
    settle().await;
    let before = Instant::now();
    rig.acknowledge(&one, &posts.iter().collect::<Vec<_>>()).await;
    let mut came = Vec::new();
    while came.len() <= more.len() {
        let message = a.next_on(Lane::Deliver).await;
        rig.hub.acknowledge(&rig.tenant, one.id, vec![message]).await.unwrap();
        came.push(message);
    }
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    came.retain(|message| *message != pinned.id());
    assert_eq!(came, more);
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_are_caught_up_with_by_one_query_and_only_who_is_owed_reads() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let mut agents = Vec::new();
    for number in 0..40 {
        agents.push(rig.agent(&ann, &format!("agent{number}")).await);
    }
    let channel = rig.channel(&ann, &[&agents[7]], &[]).await;
    let mut live = Vec::new();
    for agent in &agents {
        live.push(rig.attach(agent, "a").await);
    }
    pass(Duration::from_secs(20)).await;
    rig.audience.reads();
    pass(Duration::from_mins(1)).await;
    let (pages, sets) = rig.audience.reads();
    assert_eq!(pages, 0, "nobody is owed anything");
    assert!((3..=5).contains(&sets), "{sets} in a minute");
    let elsewhere = crate::rig::deaf_writer(&rig);
    let post = elsewhere.say(&ann, channel, "from elsewhere").await;
    live[7].delivered(&post).await;
    let (pages, _) = rig.audience.reads();
    assert_eq!(pages, 1, "one of forty reads");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_read_is_skipped_and_stays_owed() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let (bad, good) = (rig.say(&ann, channel, "bad").await, rig.say(&ann, channel, "good").await);
    rig.audience.spoil(&bad);
    let mut a = rig.attach(&one, "a").await;
    a.delivered(&good).await;
    rig.acknowledge(&one, &[&good]).await;
    assert!(rig.hub.notes_of(&rig.tenant, one.id)[0].text.contains(&bad.id().to_string()));
    pass(Duration::from_secs(40)).await;
    assert_eq!(a.sent(), []);
    rig.audience.repair();
    a.delivered(&bad).await;
}

#[tokio::test(start_paused = true)]
async fn agents_among_themselves_are_heard_thirty_times_and_then_when_a_person_posts() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let mut a = rig.attach(&one, "a").await;
    let talker = rig.attach(&two, "b").await;
    rig.report(&talker, LifecycleState::Ready).await;
    settle().await;
    let mut held = Vec::new();
    for number in 1..=33 {
        let text = if number == 33 { "@one 33" } else { "chatter" };
        let post = rig.say(&two, channel, text).await;
        if number <= 30 {
            a.delivered(&post).await;
            rig.acknowledge(&one, &[&post]).await;
        } else {
            held.push(post);
        }
    }
    pass(Duration::from_mins(30)).await;
    assert_eq!(a.sent(), [], "neither hint nor catch-up takes what waits");
    assert_eq!(rig.owed(&one).await, 0, "a fetch does not take it either");
    let before = Instant::now();
    let release = rig.say(&ann, channel, "go on").await;
    for (lane, message) in [
        (Lane::Deliver, &held[0]),
        (Lane::Deliver, &held[1]),
        (Lane::Deliver, &held[2]),
        (Lane::Deliver, &release),
    ] {
        assert_eq!(a.next_on(lane).await, message.id());
    }
    assert_eq!(before.elapsed(), Duration::ZERO, "at once");
}

#[tokio::test(start_paused = true)]
async fn a_start_sweep_takes_what_waits_for_a_person() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let mut posts = Vec::new();
    for _ in 0..32 {
        posts.push(rig.say(&two, channel, "chatter").await);
    }
    settle().await;
    let mut a = rig.attach(&one, "a").await;
    for post in &posts {
        a.delivered(post).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_comes_back_takes_nothing_that_waits_for_a_person() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let mut a = rig.attach(&one, "a").await;
    pass(Duration::from_secs(1)).await;
    for number in 0..34 {
        let post = rig.say(&two, channel, "chatter").await;
        if number < 30 {
            a.delivered(&post).await;
            rig.acknowledge(&one, &[&post]).await;
        }
    }
    for _ in 0..3 {
        rig.hub.detached(a.session).await;
        pass(Duration::from_secs(1)).await;
        rig.hub.attached(a.session);
        pass(Duration::from_secs(20)).await;
        assert_eq!(a.sent(), [], "the program goes on and is no start");
    }
    rig.report(&a, LifecycleState::Starting).await;
    rig.report(&a, LifecycleState::Starting).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(a.sent().len(), 4, "another life of the program starts with them");
}
