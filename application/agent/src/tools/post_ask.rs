//! `comms_post_ask`: asks people to decide, and returns at once.

use std::collections::HashSet;

use compass_domain::{
    ask::{AskDraft, OptionDraft, QuestionDraft},
    message::DraftBlock,
};

use super::{PostKeys, ToolError, ToolOutput, channel, check_topic, require};
use crate::{
    guard::attr,
    ports::{Call, CallResult, Gateway},
    seen::{SeenAsk, SeenBlock, SeenMessage},
};

/// Its name.
pub(super) const NAME: &str = "comms_post_ask";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Asks people to decide, and returns at once. A person answers once; the answer arrives in a later turn, so do not \
     wait for it: go on with what does not depend on it. To revise an ask, post the new one first, then withdraw the \
     old one with comms_cancel_ask.";

/// Parameters of `comms_post_ask`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct PostAskParams {
    /// At least 1 question, at most 32.
    #[schemars(length(min = 1, max = 32))]
    pub questions: Vec<QuestionParams>,
    /// The topic's name; not blank, at most 120 characters.
    #[schemars(length(max = 120))]
    pub topic: String,
    /// The channel's name, or `group/name` if several have it; not blank. Your home channel if left out.
    pub channel: Option<String>,
    /// Creates the topic if it does not exist; otherwise posting to an unknown topic fails with `not_found`.
    #[serde(default)]
    pub create_topic: bool,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct QuestionParams {
    /// The question's id, for you; not blank, unique within the ask.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// A short title, at most 64 characters.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub header: String,
    /// What may be chosen, at most 64; none means free text only.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub options: Vec<OptionParams>,
    /// Several options may be chosen.
    #[serde(default)]
    pub multi: bool,
    /// Index of the recommended option, counted from 0.
    #[schemars(range(min = 0))]
    pub recommended: Option<i32>,
}

/// One option; its id is its place.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct OptionParams {
    /// What a person reads.
    pub label: String,
    /// A longer explanation.
    #[serde(default)]
    pub description: String,
    /// What choosing it would produce.
    #[serde(default)]
    pub preview: String,
}

impl From<QuestionParams> for QuestionDraft {
    fn from(params: QuestionParams) -> Self {
        let options = params.options.into_iter().enumerate();
        Self {
            id: params.id,
            text: params.question,
            header: params.header,
            options: options
                .map(|(index, option)| OptionDraft {
                    id: index.to_string(),
                    label: option.label,
                    description: option.description,
                    preview: option.preview,
                })
                .collect(),
            allow_multiple: params.multi,
            recommended: params.recommended,
        }
    }
}

/// Posts an ask. The answer comes later, as a delivered message.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn post_ask(
    gateway: &dyn Gateway,
    keys: &PostKeys,
    call_id: &str,
    params: PostAskParams,
) -> Result<ToolOutput, ToolError> {
    post_ask_under(gateway, keys.key(call_id), call_id, params).await
}

/// Posts an ask under a key; the same ask under the same key is posted once.
pub(crate) async fn post_ask_under(
    gateway: &dyn Gateway,
    key: String,
    call_id: &str,
    params: PostAskParams,
) -> Result<ToolOutput, ToolError> {
    let (message, ask) = ask_under(gateway, key, call_id, params).await?;
    let text = format!(
        "Posted ask {} in topic {}. The answer arrives in a later turn; do not wait for it, go on.",
        attr(&ask.ask_id),
        attr(&message.topic_id)
    );
    Ok(ToolOutput {
        message_id: Some(message.id),
        topic_id: Some(message.topic_id),
        ask_id: Some(ask.ask_id),
        ..ToolOutput::text(text)
    })
}

/// As [`post_ask_under`], and gives the message and its ask as they are now: a repeat tells how the ask ended.
pub(crate) async fn ask_under(
    gateway: &dyn Gateway,
    key: String,
    call_id: &str,
    params: PostAskParams,
) -> Result<(SeenMessage, SeenAsk), ToolError> {
    check_topic(&params.topic)?;
    check_questions(&params.questions)?;
    let questions = params.questions.into_iter().map(QuestionDraft::from).collect();
    let call = Call::Post {
        channel: channel(params.channel.as_deref())?,
        topic: params.topic,
        existing_topic_only: !params.create_topic,
        blocks: vec![DraftBlock::Ask(AskDraft { questions })],
        key,
    };
    let result = gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))?;
    match &result {
        CallResult::Post(Some(message)) => match message.blocks.first() {
            Some(SeenBlock::Ask { ask }) => Ok((message.clone(), ask.clone())),
            _ => Err(ToolError::protocol(NAME, "post with an ask", &result)),
        },
        _ => Err(ToolError::protocol(NAME, "post with an ask", &result)),
    }
}

fn check_questions(questions: &[QuestionParams]) -> Result<(), ToolError> {
    let bounds = |field, bounds, actual| ToolError::OutOfBounds { field, bounds, actual };
    if questions.is_empty() {
        return Err(bounds("questions", "at least one question", "none".into()));
    }
    let mut seen = HashSet::new();
    for question in questions {
        require("questions[].id", &question.id)?;
        if !seen.insert(question.id.as_str()) {
            return Err(bounds(
                "questions[].id",
                "unique within the ask",
                format!("{:?} twice", question.id),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::OneCall;

    fn params() -> PostAskParams {
        serde_json::from_str(
            r#"{"topic":"t","create_topic":true,"questions":[
                {"id":"a","question":"Which?","header":"H","multi":true,"recommended":0,
                 "options":[{"label":"x","description":"d","preview":"p"},{"label":"y"}]},
                {"id":"b","question":"Why?"}]}"#,
        )
        .expect("parameters")
    }

    fn posted() -> CallResult {
        let ask = SeenAsk { ask_id: "ask-1".into(), ..SeenAsk::default() };
        let blocks = vec![SeenBlock::Ask { ask }];
        let message = SeenMessage { id: "m".into(), topic_id: "t".into(), blocks, ..SeenMessage::default() };
        CallResult::Post(Some(message))
    }

    #[tokio::test]
    async fn a19_a20_an_ask_carries_every_field_and_options_are_numbered() {
        let gateway = OneCall::new(Ok(posted()));
        let output = post_ask(&gateway, &PostKeys::new("n"), "1", params()).await.expect("posted");
        assert_eq!(output.ask_id.as_deref(), Some("ask-1"));
        let said = "The answer arrives in a later turn; do not wait for it, go on.";
        assert_eq!(output.text, format!("Posted ask ask-1 in topic t. {said}"));
        let Some(Call::Post { blocks, existing_topic_only: false, .. }) = gateway.call_seen() else {
            panic!("no post that may create the topic")
        };
        let DraftBlock::Ask(ask) = &blocks[0] else { panic!("no ask") };
        let first = &ask.questions[0];
        assert_eq!((first.id.as_str(), first.text.as_str(), first.header.as_str()), ("a", "Which?", "H"));
        assert_eq!((first.allow_multiple, first.recommended), (true, Some(0)));
        let ids: Vec<_> = first.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!(ids, ["0", "1"]);
        assert_eq!((first.options[0].description.as_str(), first.options[0].preview.as_str()), ("d", "p"));
        assert_eq!((ask.questions[1].recommended, ask.questions[1].options.len()), (None, 0));
    }

    #[tokio::test]
    async fn a11_questions_need_distinct_ids_and_there_is_at_least_one() {
        let changes: [fn(&mut PostAskParams); 3] =
            [|p| p.questions.clear(), |p| p.questions[1].id = "a".into(), |p| p.questions[0].id = " ".into()];
        for change in changes {
            let gateway = OneCall::new(Ok(posted()));
            let mut params = params();
            change(&mut params);
            assert!(post_ask(&gateway, &PostKeys::new("n"), "1", params).await.is_err());
            assert_eq!(gateway.call_seen(), None);
        }
    }

    #[tokio::test]
    async fn a17_a_result_without_an_ask_is_never_given_an_id() {
        let text =
            SeenMessage { blocks: vec![SeenBlock::Text { text: "x".into() }], ..SeenMessage::default() };
        for result in [CallResult::Post(None), CallResult::Post(Some(text))] {
            let error = post_ask(&OneCall::new(Ok(result)), &PostKeys::new("n"), "1", params()).await;
            assert!(matches!(error, Err(ToolError::Protocol { .. })));
        }
    }

    #[test]
    fn a21_a_model_cannot_set_what_the_server_owns() {
        for field in ["ask_id", "answered", "cancelled"] {
            let text = format!(r#"{{"topic":"t","questions":[],"{field}":"x"}}"#);
            assert!(serde_json::from_str::<PostAskParams>(&text).is_err(), "{field}");
        }
    }
}
