//! The main job: asked, answered, delivered, acknowledged, and never again.

use serde_json::{Value, json};

use crate::support::{Attach, World, answered, choose, on_both, write};

on_both!(
    an_answer_is_delivered_once_and_an_acknowledged_one_never_again,
    what_an_agent_posts_over_its_pipe_is_answered_over_it,
    a_receipt_outlives_the_program_that_closes_its_pipe_right_after_it,
);

async fn an_answer_is_delivered_once_and_an_acknowledged_one_never_again(world: &mut World) {
    let mut attach = Attach::start(world, "bot").await;
    let (_, ask) = world.ask("bot", "4.2").await;
    world.person().await.answer(&ask.ask_id, choose("1")).await.unwrap();
    let line = attach.answer_to(&ask.ask_id).await;
    let delivered = answered(&line["message"]).unwrap();
    assert_eq!(delivered["questions"][0]["chosen_option_ids"], json!(["1"]));
    assert_eq!(delivered["questions"][0]["options"][1]["label"], "Not today");
    assert_eq!((&line["delivered_before"], &line["from_handle"]), (&json!(false), &json!("admin")));
    let id = line["message"]["id"].as_str().unwrap().to_owned();
    attach.ack(&id).await;
    world.nothing_owed("bot").await;
    attach = only_the_canary(world, attach, &id, "same life").await;
    let (status, messages) = attach.close().await;
    assert!(status.success());
    assert_eq!(count(&messages, &id), 1);
    attach = only_the_canary(world, Attach::start(world, "bot").await, &id, "restarted program").await;
    world.restart_server().await;
    attach.line("attached").await;
    attach = only_the_canary(world, attach, &id, "restarted server").await;
    attach.kill().await;
    world.restart_server().await;
    only_the_canary(world, Attach::start(world, "bot").await, &id, "both restarted").await;
}

/// Posts a text and takes it: whatever was owed before it would have come before it.
async fn only_the_canary(world: &World, mut attach: Attach, acked: &str, text: &str) -> Attach {
    let channel = world.home_channel("bot").await;
    let canary = world.person().await.post(write(&channel, text)).await.unwrap();
    let line = attach.message().await;
    assert_eq!(line["message"]["id"], *canary.id, "after {acked} was acknowledged: {line}");
    attach.ack(&canary.id).await;
    world.nothing_owed("bot").await;
    attach
}

fn count(messages: &[Value], id: &str) -> usize {
    messages.iter().filter(|line| line["message"]["id"] == id).count()
}

async fn what_an_agent_posts_over_its_pipe_is_answered_over_it(world: &mut World) {
    let mut attach = Attach::start(world, "bot").await;
    let questions =
        json!([{ "id": "go", "question": "Go?", "options": [{ "label": "Yes" }, { "label": "No" }] }]);
    let unknown = json!({ "topic": "Nowhere", "questions": questions });
    let refused = attach.call("comms_post_ask", unknown).await;
    assert!(refused["error"].as_str().unwrap().contains("not_found"), "{refused}");
    let arguments = json!({ "topic": "Release", "create_topic": true, "questions": questions });
    let posted = attach.call("comms_post_ask", arguments).await;
    let ask_id = posted["output"]["ask_id"].as_str().unwrap().to_owned();
    let listed = world.json(&["asks"]).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["ask"]["ask_id"], *ask_id);
    world.ok(&["answer", "--ask", &ask_id, "--label", "go=No"]).await;
    let line = attach.answer_to(&ask_id).await;
    assert_eq!(answered(&line["message"]).unwrap()["questions"][0]["chosen_option_ids"], json!(["1"]));
    assert_eq!(line["topic_name"], "Release");
    assert!(world.json(&["asks"]).await.is_empty());
    let (status, _) = attach.close().await;
    assert!(status.success());
}

async fn a_receipt_outlives_the_program_that_closes_its_pipe_right_after_it(world: &mut World) {
    for round in 0..3 {
        let mut attach = Attach::start(world, "bot").await;
        let (_, ask) = world.ask("bot", &format!("round {round}")).await;
        world.person().await.answer(&ask.ask_id, choose("0")).await.unwrap();
        let line = attach.answer_to(&ask.ask_id).await;
        attach.ack(line["message"]["id"].as_str().unwrap()).await;
        let (status, _) = attach.close().await;
        assert!(status.success());
        let owed = world.agent("bot").await.fetch(0, None).await.unwrap().deliveries;
        assert!(owed.is_empty(), "round {round}: {owed:?}");
    }
}
