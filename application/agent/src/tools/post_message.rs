//! `comms_post_message`: says something in a topic.

use compass_domain::message::DraftBlock;

use super::{PostKeys, ToolError, ToolOutput, channel, require};
use crate::{
    guard::attr,
    ports::{Call, CallResult, Gateway},
};

/// Its name.
pub(super) const NAME: &str = "comms_post_message";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Posts a message to a topic of a channel and returns at once. Everyone who takes part in the channel can read it.";

/// Parameters of `comms_post_message`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct PostMessageParams {
    /// What to say; not blank.
    pub text: String,
    /// The topic's name; not blank, at most 120 code points.
    pub topic: String,
    /// The channel's name; the home channel if absent, never blank.
    pub channel: Option<String>,
    /// Creates the topic if it does not exist.
    #[serde(default)]
    pub create_topic: bool,
}

/// Posts a text.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn post_message(
    gateway: &dyn Gateway,
    keys: &PostKeys,
    call_id: &str,
    params: PostMessageParams,
) -> Result<ToolOutput, ToolError> {
    require("text", &params.text)?;
    require("topic", &params.topic)?;
    let call = Call::Post {
        channel: channel(params.channel.as_deref())?,
        topic: params.topic,
        existing_topic_only: !params.create_topic,
        blocks: vec![DraftBlock::Text(params.text)],
        key: keys.key(call_id),
    };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::Post(Some(message)) => Ok(ToolOutput {
            message_id: Some(message.id.clone()),
            topic_id: Some(message.topic_id.clone()),
            ..ToolOutput::text(format!(
                "Posted message {} in topic {}.",
                attr(&message.id),
                attr(&message.topic_id)
            ))
        }),
        other => Err(ToolError::protocol(NAME, "post with a message", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ports::{CallError, Channel},
        seen::SeenMessage,
        tools::testing::OneCall,
    };

    fn params() -> PostMessageParams {
        PostMessageParams { text: "hi".into(), topic: "t".into(), channel: None, create_topic: false }
    }

    fn posted() -> CallResult {
        CallResult::Post(Some(SeenMessage { id: "m".into(), topic_id: "t".into(), ..SeenMessage::default() }))
    }

    #[tokio::test]
    async fn a_post_carries_the_text_the_topic_and_a_key_that_ends_with_the_call_id() {
        let gateway = OneCall::new(Ok(posted()));
        let keys = PostKeys::new("nonce");
        let output = post_message(&gateway, &keys, "7", params()).await.expect("posted");
        assert_eq!(output.text, "Posted message m in topic t.");
        let call = Call::Post {
            channel: Channel::Home,
            topic: "t".into(),
            existing_topic_only: true,
            blocks: vec![DraftBlock::Text("hi".into())],
            key: "nonce:7".into(),
        };
        assert_eq!(gateway.call_seen(), Some(call));
    }

    #[tokio::test]
    async fn blank_parameters_are_refused_before_any_call() {
        for (change, field) in [
            ((|p| p.text = " \n".into()) as fn(&mut PostMessageParams), "text"),
            (|p| p.topic = String::new(), "topic"),
            (|p| p.channel = Some(" ".into()), "channel"),
        ] {
            let gateway = OneCall::new(Ok(posted()));
            let mut params = params();
            change(&mut params);
            let refused = post_message(&gateway, &PostKeys::new("n"), "1", params).await;
            assert_eq!(refused, Err(ToolError::Blank(field)));
            assert_eq!(gateway.call_seen(), None);
        }
    }

    #[tokio::test]
    async fn a_refusal_is_guarded_and_cut() {
        let message = format!("a\nb{}", "x".repeat(600));
        let refused = Err(CallError::Refused { code: "no code".into(), message });
        let error = post_message(&OneCall::new(refused), &PostKeys::new("n"), "1", params()).await;
        let text = error.expect_err("refused").to_string();
        assert!(text.starts_with("comms_post_message failed: (malformed): a bx"), "{text}");
        assert_eq!(text.chars().count(), "comms_post_message failed: (malformed): ".len() + 500);
    }

    #[tokio::test]
    async fn another_result_is_a_protocol_violation() {
        for result in [CallResult::CancelAsk, CallResult::Post(None), CallResult::Unexpected("none".into())] {
            let gateway = OneCall::new(Ok(result));
            let error = post_message(&gateway, &PostKeys::new("n"), "1", params()).await;
            assert!(matches!(error, Err(ToolError::Protocol { .. })));
        }
    }
}
