//! `comms_post_message`: says something in a topic.

use compass_domain::message::DraftBlock;

use super::{PostKeys, ToolError, ToolOutput, channel, check_topic, require};
use crate::{
    guard::attr,
    ports::{Call, CallResult, Channel, Gateway},
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
    /// The topic's name; not blank, at most 120 characters.
    #[schemars(length(max = 120))]
    pub topic: String,
    /// The channel's name, or `group/name` if several have it; not blank. Your home channel if left out.
    pub channel: Option<String>,
    /// Creates the topic if it does not exist; otherwise posting to an unknown topic fails with `not_found`.
    #[serde(default)]
    pub create_topic: bool,
}

/// Where a text goes.
pub(super) struct Target {
    pub(super) channel: Channel,
    pub(super) topic: String,
    pub(super) create_topic: bool,
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
    check_topic(&params.topic)?;
    let to = Target {
        channel: channel(params.channel.as_deref())?,
        topic: params.topic,
        create_topic: params.create_topic,
    };
    post(NAME, gateway, keys.key(call_id), call_id, to, params.text).await
}

/// Posts a text as part of a tool, and says where it went.
pub(super) async fn post(
    tool: &'static str,
    gateway: &dyn Gateway,
    key: String,
    call_id: &str,
    to: Target,
    text: String,
) -> Result<ToolOutput, ToolError> {
    let call = Call::Post {
        channel: to.channel,
        topic: to.topic,
        existing_topic_only: !to.create_topic,
        blocks: vec![DraftBlock::Text(text)],
        key,
    };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(tool, &error))? {
        CallResult::Post(Some(message)) => {
            let (id, topic_id) = (attr(&message.id), attr(&message.topic_id));
            let text = format!("Posted message {id} in topic {topic_id}.");
            Ok(ToolOutput {
                message_id: Some(message.id),
                topic_id: Some(message.topic_id),
                ..ToolOutput::text(text)
            })
        }
        other => Err(ToolError::protocol(tool, "post with a message", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{seen::SeenMessage, tools::testing::OneCall};

    fn params() -> PostMessageParams {
        PostMessageParams { text: "hi".into(), topic: "t".into(), channel: None, create_topic: false }
    }

    fn posted() -> CallResult {
        CallResult::Post(Some(SeenMessage { id: "m".into(), topic_id: "t".into(), ..SeenMessage::default() }))
    }

    #[tokio::test]
    async fn a13_a_post_carries_the_text_the_topic_and_a_key_that_ends_with_the_call_id() {
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
    async fn a18_a_bad_id_is_printed_as_malformed_and_the_result_stays_one_line() {
        let bad = SeenMessage { id: "m\nm".into(), topic_id: "t\u{2028}".into(), ..SeenMessage::default() };
        let gateway = OneCall::new(Ok(CallResult::Post(Some(bad))));
        let output = post_message(&gateway, &PostKeys::new("n"), "1", params()).await.expect("posted");
        assert_eq!(output.text, "Posted message (malformed) in topic (malformed).");
    }

    #[tokio::test]
    async fn a17_a_post_without_a_message_is_a_protocol_violation() {
        let error =
            post_message(&OneCall::new(Ok(CallResult::Post(None))), &PostKeys::new("n"), "1", params()).await;
        assert!(matches!(error, Err(ToolError::Protocol { .. })));
    }
}
