//! `comms_dm`: says something to one other account.

use super::{PostKeys, ToolError, ToolOutput, check_topic, open_dm, post_message, require};
use crate::{
    guard::flat,
    ports::{Channel, Gateway},
};

/// Its name.
pub(super) const NAME: &str = "comms_dm";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Posts a message to the direct conversation with another account, which is opened if there is none, and returns at \
     once. A conversation that is new has no topics yet: set create_topic.";

/// Parameters of `comms_dm`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct DmParams {
    /// The handle of the other account; not blank.
    pub peer_handle: String,
    /// The topic's name; not blank, at most 120 characters.
    #[schemars(length(max = 120))]
    pub topic: String,
    /// What to say; not blank.
    pub text: String,
    /// Creates the topic if it does not exist; otherwise posting to an unknown topic fails with `not_found`.
    #[serde(default)]
    pub create_topic: bool,
}

/// Opens the conversation, and posts to it once that is done.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said to the one or the other.
pub async fn dm(
    gateway: &dyn Gateway,
    keys: &PostKeys,
    call_id: &str,
    params: DmParams,
) -> Result<ToolOutput, ToolError> {
    require("peer_handle", &params.peer_handle)?;
    check_topic(&params.topic)?;
    require("text", &params.text)?;
    let (channel, created) = open_dm::open(NAME, gateway, call_id, params.peer_handle).await?;
    let to = post_message::Target {
        channel: Channel::Id(channel.id.clone()),
        topic: params.topic,
        create_topic: params.create_topic,
    };
    let posted = post_message::post(NAME, gateway, keys.key(call_id), call_id, to, params.text).await?;
    let text = format!("{} Direct conversation: {}", posted.text, flat(&channel.name));
    Ok(ToolOutput { text, channel: Some(channel), created: Some(created), ..posted })
}

#[cfg(test)]
mod tests {
    use compass_domain::message::DraftBlock;

    use super::*;
    use crate::{
        ports::{Call, CallError, CallResult},
        seen::SeenMessage,
        tools::testing::{OneCall, dm, run},
    };

    const ARGUMENTS: &str = r#"{"peer_handle":"bo","topic":"Plan","text":"hi"}"#;

    fn refused(code: &str) -> Result<CallResult, CallError> {
        Err(CallError::Refused { code: code.into(), message: "no".into() })
    }

    #[tokio::test]
    async fn a26_the_conversation_is_opened_and_then_posted_to_under_a_key() {
        let posted = SeenMessage { id: "m".into(), topic_id: "t".into(), ..SeenMessage::default() };
        let gateway = OneCall::each([Ok(dm("c", "dm x", true)), Ok(CallResult::Post(Some(posted)))]);
        let output = run(&gateway, NAME, ARGUMENTS).await.expect("posted");
        assert_eq!(output.text, "Posted message m in topic t. Direct conversation: dm x");
        let post = Call::Post {
            channel: Channel::Id("c".into()),
            topic: "Plan".into(),
            existing_topic_only: true,
            blocks: vec![DraftBlock::Text("hi".into())],
            key: "nonce:7".into(),
        };
        assert_eq!(gateway.calls(), [Call::OpenDm { peer_handle: "bo".into() }, post]);
    }

    #[tokio::test]
    async fn a26_an_error_of_opening_stops_before_the_post_and_one_of_the_post_is_told() {
        let gateway = OneCall::each([refused("not_found")]);
        let error = run(&gateway, NAME, ARGUMENTS).await.expect_err("refused");
        assert_eq!(error.to_string(), "comms_dm failed: not_found: no");
        assert_eq!(gateway.calls().len(), 1);
        let gateway = OneCall::each([Ok(dm("c", "n", false)), refused("permission_denied")]);
        let error = run(&gateway, NAME, ARGUMENTS).await.expect_err("refused");
        assert_eq!(error.to_string(), "comms_dm failed: permission_denied: no");
        assert_eq!(gateway.calls().len(), 2);
        let gateway = OneCall::each([Ok(dm("", "n", false))]);
        run(&gateway, NAME, ARGUMENTS).await.expect_err("no channel");
        assert_eq!(gateway.calls().len(), 1, "no id would mean the home channel");
    }
}
