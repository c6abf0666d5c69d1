//! Prompts and turns: what is acknowledged when, and what a message does that cannot wait.

use agent_client_protocol::{
    Error,
    v1::schema::{SessionUpdate, StopReason},
};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_prompt_is_taken_with_the_first_sign_of_work_and_its_words_are_shown_in_pieces() {
    let mut world = World::ready_and_quiet().await;
    world.inject(&["a", "b"]).await;
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert!(text.contains("text of a") && text.contains("text of b"), "{text}");
    world.peer.says("Hel");
    world.peer.says("lo");
    world.expect(&["accepted a,b"]).await;
    assert_eq!(label(&world.event().await), "shows text Hello");
    ends.well();
    world.expect(&["ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_ends_without_a_sign_of_work_was_taken() {
    let mut world = World::ready_and_quiet().await;
    world.inject(&["a"]).await;
    world.expect(&["started"]).await;
    let (_, ends) = world.prompted().await;
    ends.well();
    world.expect(&["accepted a", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_prompt_is_refused_with_the_agents_words_and_the_next_one_works() {
    let mut world = World::ready_and_quiet().await;
    world.inject(&["a"]).await;
    world.expect(&["started"]).await;
    let (_, ends) = world.prompted().await;
    ends.failing(Error::internal_error().data("no model"));
    world.expect(&["refused a: Internal error: no model", "ended"]).await;
    world.inject(&["b"]).await;
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert!(text.contains("text of b") && !text.contains("text of a"), "{text}");
    ends.well();
    world.expect(&["accepted b", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_after_its_prompt_was_taken_is_told_and_over() {
    let mut world = World::ready_and_quiet().await;
    world.inject(&["a"]).await;
    world.expect(&["started"]).await;
    let (_, ends) = world.prompted().await;
    world.peer.says("hm");
    world.expect(&["accepted a"]).await;
    ends.failing(Error::internal_error());
    let shown: Vec<_> = [world.event().await, world.event().await].iter().map(label).collect();
    assert_eq!(shown, ["shows text hm", "shows notice The agent's turn failed: Internal error"]);
    world.expect(&["ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_killed_took_what_it_worked_on_and_nothing_else() {
    for works in [false, true] {
        let mut world = World::ready_and_quiet().await;
        world.inject(&["a"]).await;
        world.expect(&["started"]).await;
        let (_, _ends) = world.prompted().await;
        if works {
            world.peer.says("hm");
            world.expect(&["accepted a"]).await;
        }
        world.peer.kill();
        world.expect(&["over"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_text_is_a_turn_and_waits_for_the_one_that_runs() {
    let mut world = World::ready_and_quiet().await;
    world.agent.prompt("first".into()).await.unwrap();
    world.agent.prompt("second".into()).await.unwrap();
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert_eq!(text, "first");
    ends.well();
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert_eq!(text, "second");
    ends.well();
    world.expect(&["ended"]).await;
}

/// A turn with message `a`, which the agent took if `works`.
async fn in_a_turn(works: bool) -> (World, peer::Ends) {
    let mut world = World::ready_and_quiet().await;
    world.inject(&["a"]).await;
    world.expect(&["started"]).await;
    let (_, ends) = world.prompted().await;
    if works {
        world.peer.says("hm");
        world.expect(&["accepted a"]).await;
    }
    (world, ends)
}

#[tokio::test(start_paused = true)]
async fn a_steer_cuts_the_turn_short_and_is_the_next_prompt_once() {
    let (mut world, ends) = in_a_turn(true).await;
    world.interrupt("s1").await;
    world.interrupt("s2").await;
    assert!(matches!(world.got().await, Got::Cancel));
    ends.with(StopReason::Cancelled);
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert!(text.contains("[interrupted abababababababab]"), "{text}");
    for (id, times) in [("a", 0), ("s1", 1), ("s2", 1)] {
        assert_eq!(text.matches(&format!("text of {id}\n")).count(), times, "{id}: {text}");
    }
    ends.well();
    world.expect(&["accepted s1,s2", "ended"]).await;
    assert!(world.peer.got.try_recv().is_err(), "one cancel, one prompt");
}

#[tokio::test(start_paused = true)]
async fn a_steer_before_the_prompt_was_taken_brings_the_prompt_again_behind_it() {
    let (mut world, ends) = in_a_turn(false).await;
    world.interrupt("s").await;
    assert!(matches!(world.got().await, Got::Cancel));
    ends.with(StopReason::Cancelled);
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert!(text.contains("text of s") && !text.contains("text of a"), "{text}");
    ends.well();
    world.expect(&["accepted s", "started"]).await;
    let (text, ends) = world.prompted().await;
    assert!(text.contains("[delivered before abababababababab]") && text.contains("text of a"), "{text}");
    ends.well();
    world.expect(&["accepted a", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_steer_at_a_turn_that_ends_by_itself_is_the_next_prompt_and_says_no_more() {
    let (mut world, ends) = in_a_turn(true).await;
    world.interrupt("s").await;
    ends.well();
    assert!(matches!(world.got().await, Got::Cancel));
    world.expect(&["started"]).await;
    let (text, ends) = world.prompted().await;
    assert!(text.contains("text of s") && !text.contains("[interrupted"), "{text}");
    ends.well();
    world.expect(&["accepted s", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_steer_whose_turn_is_over_by_now_begins_one() {
    let (mut world, ends) = in_a_turn(true).await;
    ends.well();
    world.expect(&["ended"]).await;
    world.interrupt("s").await;
    world.expect(&["started"]).await;
    let (_, ends) = world.prompted().await;
    ends.well();
    world.expect(&["accepted s", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_end_a_turn_that_is_cut_short_is_an_error_that_says_so() {
    let (mut world, _ends) = in_a_turn(true).await;
    world.interrupt("s").await;
    let error = loop {
        match world.try_event().await {
            Ok(HarnessEvent::Activity(_)) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(error, "ACP agent: it did not end its turn within 30 s when told to");
}

#[tokio::test(start_paused = true)]
async fn an_end_without_the_whole_of_a_turn_is_told_to_those_who_watch() {
    for (reason, told) in [
        (StopReason::MaxTokens, "limit of tokens"),
        (StopReason::MaxTurnRequests, "limit of requests"),
        (StopReason::Refusal, "refused to go on"),
        (StopReason::Cancelled, "cancelled by the agent itself"),
    ] {
        let (mut world, ends) = in_a_turn(true).await;
        ends.with(reason);
        let mut shown = String::new();
        while let HarnessEvent::Activity(event) = world.event().await {
            shown = super::shown(&event.activity);
        }
        assert!(shown.contains(told), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_work_proves_nothing() {
    use agent_client_protocol::v1::schema::{CurrentModeUpdate, UsageUpdate};
    let (mut world, ends) = in_a_turn(false).await;
    world.peer.update(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new("ask")));
    world.peer.update(SessionUpdate::UsageUpdate(UsageUpdate::new(1, 2)));
    ends.failing(Error::internal_error());
    world.expect(&["refused a: Internal error", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn at_the_stop_the_turn_is_cancelled_and_the_agents_input_closes() {
    let (mut world, _ends) = in_a_turn(true).await;
    world.stop.take().unwrap().send(()).unwrap();
    world.expect(&["over"]).await;
    world.agent.finish().await;
    assert!(matches!(world.peer.got.recv().await, Some(Got::Cancel)));
    drop(world.agent);
    tokio::time::timeout(PATIENCE, world.peer.over()).await.expect("its input closed");
}
