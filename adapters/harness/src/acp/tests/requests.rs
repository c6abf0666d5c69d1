//! Requests for permission: posted as asks, and answered with what a person chose or with nothing.

use agent_client_protocol::{
    Client,
    v1::{
        SentRequest,
        schema::{
            CreateElicitationRequest, PermissionOption, PermissionOptionKind, RequestPermissionOutcome,
            RequestPermissionRequest, RequestPermissionResponse, StopReason, ToolCallUpdate,
            ToolCallUpdateFields,
        },
    },
};
use compass_agent::{
    seen::{SeenAsk, SeenQuestion},
    tools::PostAskParams,
    waiters::Outcome,
};

use super::*;

type Sent = SentRequest<RequestPermissionResponse>;
type Outcomes = oneshot::Sender<Outcome>;

fn request() -> RequestPermissionRequest {
    let fields = ToolCallUpdateFields::new().title("Delete\n the table".to_owned());
    let options = vec![
        PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce),
        PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
    ];
    RequestPermissionRequest::new(peer::SESSION, ToolCallUpdate::new("call-1", fields), options)
}

/// A turn whose agent waits for a permission.
async fn asking() -> (World, peer::Ends, Sent, PostAskParams, Outcomes) {
    let mut world = World::ready_and_quiet().await;
    world.inject(&["a"]).await;
    world.expect(&["started"]).await;
    let (_, ends) = world.prompted().await;
    let sent = world.peer.client().send_request(request());
    // What asks, works.
    world.expect(&["accepted a"]).await;
    let HarnessEvent::Ask { key, ask, keep: false, tell } = world.word().await else { panic!("an ask") };
    assert_eq!(key, "life:acp-1");
    (world, ends, sent, ask, tell)
}

fn answered(chosen: &[&str], custom: &str) -> Outcome {
    let question = SeenQuestion {
        chosen_option_ids: chosen.iter().map(ToString::to_string).collect(),
        custom_text: custom.into(),
        ..SeenQuestion::default()
    };
    let ask = SeenAsk { questions: vec![question], answered: true, ..SeenAsk::default() };
    let block = SeenBlock::AskAnswer { ask, asker_account_id: "me".into() };
    let message = SeenMessage { blocks: vec![block], ..SeenMessage::default() };
    Outcome::Answered(Box::new(Delivery { message, ..Delivery::default() }))
}

/// What the agent is told; `None` if nothing was chosen.
fn selected(response: &RequestPermissionResponse) -> Option<String> {
    match &response.outcome {
        RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.0.to_string()),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_permission_is_asked_in_the_home_channel_with_the_offered_options() {
    let (_world, _ends, _sent, ask, _tell) = asking().await;
    assert_eq!((ask.topic.as_str(), ask.channel, ask.create_topic), ("Permissions", None, true));
    let [question] = ask.questions.as_slice() else { panic!("one question") };
    assert_eq!(question.question, "Delete the table");
    let options: Vec<_> =
        question.options.iter().map(|option| (option.label.as_str(), option.description.as_str())).collect();
    assert_eq!(options, [("Allow", "allow_once: this time only"), ("Reject", "reject_once: this time only")]);
    assert!(!question.multi);
}

#[tokio::test(start_paused = true)]
async fn only_a_chosen_option_is_a_decision_and_more_words_reach_the_model_as_the_message_they_are() {
    for (outcome, chosen, event) in [
        (answered(&["1"], ""), Some("no"), "took life:acp-1"),
        (answered(&["0"], ""), Some("yes"), "took life:acp-1"),
        (answered(&["0"], "only staging"), Some("yes"), "gave up life:acp-1"),
        (answered(&[], "what for?"), None, "gave up life:acp-1"),
        (answered(&[], ""), None, "gave up life:acp-1"),
        (answered(&["7"], ""), None, "gave up life:acp-1"),
        (answered(&["0", "1"], ""), None, "gave up life:acp-1"),
    ] {
        let (mut world, _ends, sent, _, tell) = asking().await;
        tell.send(outcome).unwrap();
        let (response, said) = world.meanwhile(sent.block_task()).await;
        assert_eq!(selected(&response.unwrap()).as_deref(), chosen);
        assert_eq!(said, [event]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_ask_is_no_decision_and_one_that_cannot_be_posted_is_an_error_that_says_why() {
    let (mut world, _ends, sent, _, tell) = asking().await;
    tell.send(Outcome::Withdrawn).unwrap();
    let (response, said) = world.meanwhile(sent.block_task()).await;
    assert_eq!(selected(&response.unwrap()), None);
    assert!(said.is_empty(), "{said:?}");

    let (mut world, _ends, sent, _, tell) = asking().await;
    tell.send(Outcome::NotPosted { reason: "too long".into() }).unwrap();
    let (response, said) = world.meanwhile(sent.block_task()).await;
    assert!(response.unwrap_err().to_string().contains("too long"));
    assert!(said.is_empty(), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_the_agent_cancels_is_given_up_at_once() {
    let (mut world, _ends, sent, _, _tell) = asking().await;
    sent.cancel().unwrap();
    world.expect(&["gave up life:acp-1"]).await;
    let (response, _) = world.meanwhile(sent.block_task()).await;
    assert_eq!(selected(&response.unwrap()), None);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_gives_up_what_it_asked() {
    let (mut world, ends, _sent, _, _tell) = asking().await;
    ends.with(StopReason::Cancelled);
    world.expect(&["gave up life:acp-1", "ended"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_steer_gives_up_what_the_turn_asked_and_what_it_still_asks_is_not_posted() {
    let (mut world, ends, sent, _, _tell) = asking().await;
    world.interrupt("s").await;
    world.expect(&["gave up life:acp-1"]).await;
    let (response, _) = world.meanwhile(sent.block_task()).await;
    assert_eq!(selected(&response.unwrap()), None);
    let late = world.peer.client().send_request(request());
    let (response, said) = world.meanwhile(late.block_task()).await;
    assert_eq!((selected(&response.unwrap()), said.len()), (None, 0));
    assert!(matches!(world.got().await, Got::Cancel));
    ends.with(StopReason::Cancelled);
    world.expect(&["started"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_killed_or_stopped_gives_up_what_it_asked_before_it_is_over() {
    for stops in [false, true] {
        let (mut world, _ends, _sent, _, _tell) = asking().await;
        if stops {
            world.stop.take().unwrap().send(()).unwrap();
        } else {
            world.peer.kill();
        }
        world.expect(&["gave up life:acp-1", "over"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_with_bad_options_or_of_another_conversation_is_refused_and_never_asked() {
    let other = RequestPermissionRequest::new("other", request().tool_call, request().options);
    let none = RequestPermissionRequest::new(peer::SESSION, request().tool_call, Vec::new());
    let mut twice = request();
    twice.options[1].option_id = twice.options[0].option_id.clone();
    for (request, why) in [(other, "no such session"), (none, "no options"), (twice, "two options of the id")]
    {
        let mut world = World::ready_and_quiet().await;
        let client: agent_client_protocol::v1::ConnectionTo<Client> = world.peer.client();
        let (response, said) = world.meanwhile(client.send_request(request).block_task()).await;
        let error = response.unwrap_err();
        assert_eq!(error.code, agent_client_protocol::Error::invalid_params().code, "{error:?}");
        assert!(error.to_string().contains(why), "{error:?}");
        assert!(said.is_empty(), "{said:?}");
    }
}

/// A form with one field, whose schema is given.
fn form(schema: &serde_json::Value) -> CreateElicitationRequest {
    let request = serde_json::json!({
        "mode": "form", "sessionId": peer::SESSION, "message": "Where to?",
        "requestedSchema": { "type": "object", "properties": { "place": schema }, "required": ["place"] },
    });
    serde_json::from_value(request).unwrap()
}

/// An answer to the ask that was posted, with this text in its only question.
fn filled_in(ask: &PostAskParams, text: &str) -> Outcome {
    let question = SeenQuestion {
        question_id: ask.questions[0].id.clone(),
        custom_text: text.into(),
        ..SeenQuestion::default()
    };
    let ask = SeenAsk { questions: vec![question], answered: true, ..SeenAsk::default() };
    let block = SeenBlock::AskAnswer { ask, asker_account_id: "me".into() };
    let message = SeenMessage { blocks: vec![block], ..SeenMessage::default() };
    Outcome::Answered(Box::new(Delivery { message, ..Delivery::default() }))
}

#[tokio::test(start_paused = true)]
async fn a_form_is_asked_and_its_typed_end_goes_back() {
    for (schema, text, action, event) in [
        (
            "string",
            "Rome",
            serde_json::json!({ "action": "accept", "content": { "place": "Rome" } }),
            "took life:acp-1",
        ),
        (
            "integer",
            "7",
            serde_json::json!({ "action": "accept", "content": { "place": 7 } }),
            "took life:acp-1",
        ),
        ("integer", "Rome", serde_json::json!({ "action": "cancel" }), "gave up life:acp-1"),
        ("string", "", serde_json::json!({ "action": "decline" }), "took life:acp-1"),
    ] {
        let mut world = World::ready_and_quiet().await;
        let sent = world.peer.client().send_request(form(&serde_json::json!({ "type": schema })));
        let HarnessEvent::Ask { ask, keep: false, tell, .. } = world.word().await else { panic!("an ask") };
        assert_eq!((ask.topic.as_str(), ask.create_topic), ("Forms", true));
        assert!(ask.questions[0].question.contains("Where to?"));
        tell.send(filled_in(&ask, text)).unwrap();
        let (response, said) = world.meanwhile(sent.block_task()).await;
        assert_eq!(serde_json::to_value(response.unwrap()).unwrap(), action, "{schema} {text}");
        assert_eq!(said, [event]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_is_withdrawn_is_cancelled_and_one_that_people_cannot_be_asked_is_refused() {
    let mut world = World::ready_and_quiet().await;
    let sent = world.peer.client().send_request(form(&serde_json::json!({ "type": "string" })));
    let HarnessEvent::Ask { tell, .. } = world.word().await else { panic!("an ask") };
    tell.send(Outcome::Withdrawn).unwrap();
    let (response, _) = world.meanwhile(sent.block_task()).await;
    assert_eq!(serde_json::to_value(response.unwrap()).unwrap(), serde_json::json!({ "action": "cancel" }));

    let url = serde_json::json!({
        "mode": "url", "sessionId": peer::SESSION, "message": "m", "elicitationId": "e", "url": "https://x.example",
    });
    let url: CreateElicitationRequest = serde_json::from_value(url).unwrap();
    for (request, why) in [(url, "only forms"), (form(&serde_json::json!({ "type": "object" })), "place")] {
        let sent = world.peer.client().send_request(request);
        let (response, said) = world.meanwhile(sent.block_task()).await;
        let error = response.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(said.is_empty(), "{said:?}");
    }
}
