//! From a post to the sessions it is for.

use std::time::Duration;

use compass_domain::delivery::Lane;
use compass_hub::ports::AttachMode;
use tokio::time::Instant;

use crate::rig::{Rig, pass, settle};

#[tokio::test(start_paused = true)]
async fn a_persons_post_goes_to_every_live_subscribed_agent_at_once_and_to_nobody_else() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two, silent) =
        (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await, rig.agent(&ann, "silent").await);
    let channel = rig.channel(&ann, &[&one, &two], &[&silent]).await;
    let (mut a, mut b, mut c) =
        (rig.attach(&one, "a").await, rig.attach(&two, "b").await, rig.attach(&silent, "c").await);
    settle().await;
    let before = Instant::now();
    let post = rig.say(&ann, channel, "hello").await;
    a.delivered(&post).await;
    b.delivered(&post).await;
    assert_eq!(before.elapsed(), Duration::ZERO, "no timer was needed");
    let canary = rig.say(&ann, channel, "@silent you too").await;
    c.steered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn an_author_is_never_sent_its_own_message() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let (mut a, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    let own = rig.say(&one, channel, "@everyone @one look").await;
    b.steered(&own).await;
    let canary = rig.say(&ann, channel, "seen").await;
    a.delivered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn posts_of_a_channel_arrive_in_order_with_their_labels() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    let mut posts = Vec::new();
    for text in ["first", "second", "third"] {
        posts.push(rig.say(&ann, channel, text).await);
    }
    for post in posts {
        let (lane, message) = a.next().await;
        assert_eq!((lane, message.message.id()), (Lane::Deliver, post.id()));
        let labels = &message.labels;
        assert_eq!(labels.channel_name, "work");
        assert_eq!(labels.topic_name, "talk");
        assert_eq!(labels.from_handle, "ann");
    }
}

#[tokio::test(start_paused = true)]
async fn a_mentioned_subscriber_is_steered_once_and_not_delivered_to() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let (mut a, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    let post = rig.say(&ann, channel, "@one and @one again").await;
    a.steered(&post).await;
    b.delivered(&post).await;
    settle().await;
    assert_eq!(a.sent(), []);
    assert_eq!(b.sent(), []);
}

#[tokio::test(start_paused = true)]
async fn a_mentioned_member_outside_the_sweep_set_is_steered_once_and_owed_until_it_acknowledges() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[], &[&one]).await;
    let mut a = rig.attach(&one, "a").await;
    settle().await;
    let post = rig.say(&ann, channel, "@one look").await;
    a.steered(&post).await;
    pass(Duration::from_secs(20)).await;
    assert_eq!(a.sent(), [], "the catch-up finds the row and the message in flight");
    assert_eq!(rig.owed(&one).await, 1);
    rig.acknowledge(&one, &[&post]).await;
    assert_eq!(rig.owed(&one).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_mention_of_an_offline_member_outside_the_sweep_set_is_owed_and_steered_at_its_start() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let channel = rig.channel(&ann, &[], &[&one]).await;
    let post = rig.say(&ann, channel, "@one come here").await;
    settle().await;
    assert_eq!(rig.owed(&one).await, 1);
    let mut a = rig.attach(&one, "a").await;
    a.steered(&post).await;
    rig.acknowledge(&one, &[&post]).await;
    rig.hub.close(a.session).await.unwrap();
    let mut again = rig.attach(&one, "a").await;
    let canary = rig.say(&ann, channel, "@one once more").await;
    again.steered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn an_offline_subscriber_is_delivered_to_at_its_start_and_never_again_once_it_acknowledged() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let posts = [rig.say(&ann, channel, "1").await, rig.say(&ann, channel, "@one 2").await];
    let mut a = rig.attach(&one, "a").await;
    for post in &posts {
        a.delivered(post).await;
    }
    rig.acknowledge(&one, &[&posts[1], &posts[0]]).await;
    rig.hub.close(a.session).await.unwrap();
    let mut again = rig.attach(&one, "a").await;
    let canary = rig.say(&ann, channel, "3").await;
    again.delivered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_posted_during_the_start_sweep_comes_after_it() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut posts = Vec::new();
    for text in ["1", "2", "3"] {
        posts.push(rig.say(&ann, channel, text).await);
    }
    let mut a = rig.attach(&one, "a").await;
    posts.push(rig.say(&ann, channel, "4").await);
    for post in &posts {
        a.delivered(post).await;
    }
    settle().await;
    assert_eq!(a.sent(), [], "each once");
}

#[tokio::test(start_paused = true)]
async fn a_start_sweep_that_waits_for_room_holds_up_no_steer_and_is_overtaken_by_no_deliver() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut posts = Vec::new();
    for number in 0..300 {
        posts.push(rig.say(&ann, channel, &number.to_string()).await);
    }
    let mut a = rig.attach(&one, "a").await;
    settle().await;
    assert_eq!(a.sent().len(), 256, "a full window");
    posts.push(rig.say(&ann, channel, "later").await);
    let urgent = rig.say(&ann, channel, "@one stop").await;
    settle().await;
    assert_eq!(a.sent(), [(Lane::Steer, urgent.id())]);
    let first: Vec<_> = posts.iter().take(256).collect();
    rig.acknowledge(&one, &first).await;
    for post in &posts[256..] {
        a.delivered(post).await;
    }
    settle().await;
    assert_eq!(a.sent(), []);
}

#[tokio::test(start_paused = true)]
async fn a_home_channel_is_delivered_without_a_subscription() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let one = rig.agent(&ann, "one").await;
    let compass_domain::AccountKind::Agent { home_channel, .. } = one.kind else { panic!("an agent") };
    let post = rig.say(&ann, home_channel, "welcome").await;
    let mut a = rig.attach(&one, "a").await;
    a.delivered(&post).await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_agent_gets_neither_new_messages_nor_what_it_was_owed() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let other = rig.channel(&ann, &[&one], &[]).await;
    rig.say(&ann, channel, "@one while it was away").await;
    settle().await;
    rig.remove(&ann, channel, &one).await;
    let (mut a, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    let (_, swept) = b.next().await;
    assert_eq!(swept.message.channel(), channel);
    let post = rig.say(&ann, channel, "@one not for you").await;
    b.delivered(&post).await;
    let canary = rig.say(&ann, other, "for you").await;
    a.delivered(&canary).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_takes_nothing_delays_nobody() {
    let rig = Rig::new().await;
    let ann = rig.admin().await;
    let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
    let channel = rig.channel(&ann, &[&one, &two], &[]).await;
    let (stuck, mut b) = (rig.attach(&one, "a").await, rig.attach(&two, "b").await);
    rig.lanes.set_full(stuck.session, true);
    settle().await;
    let before = Instant::now();
    for number in 0..600 {
        let post = rig.say(&ann, channel, &number.to_string()).await;
        b.delivered(&post).await;
        rig.acknowledge(&two, &[&post]).await;
    }
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_refused_dispatch_is_tried_again_and_the_cursor_waits_for_it() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut a = rig.attach(&one, "a").await;
    rig.lanes.set_full(a.session, true);
    let posts = [rig.say(&ann, channel, "1").await, rig.say(&ann, channel, "2").await];
    settle().await;
    assert_eq!(a.sent(), []);
    assert_eq!(rig.owed(&one).await, 2);
    rig.lanes.set_full(a.session, false);
    for post in &posts {
        a.delivered(post).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_presence_only_session_is_never_sent_anything() {
    let (rig, ann, one, channel) = Rig::with_one().await;
    let mut watcher = rig.attach_as(&one, "w", AttachMode::PresenceOnly).await;
    let post = rig.say(&ann, channel, "@one hello").await;
    pass(Duration::from_mins(2)).await;
    assert_eq!(watcher.sent(), []);
    let mut a = rig.attach(&one, "a").await;
    a.delivered(&post).await;
    assert_eq!(watcher.sent(), []);
}
