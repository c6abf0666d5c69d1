//! `comms_open_dm`: finds or makes the direct conversation with another account.

use super::{ToolError, ToolOutput, require};
use crate::{
    guard::flat,
    ports::{Call, CallResult, Gateway},
    seen::SeenChannel,
};

/// Its name.
pub(super) const NAME: &str = "comms_open_dm";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Opens the direct conversation with another account, or finds it if there is one, and returns the name of its \
     channel. Your owner can read what you write to other agents.";

/// Parameters of `comms_open_dm`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct OpenDmParams {
    /// The handle of the other account; not blank.
    pub peer_handle: String,
}

/// Opens a direct conversation.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn open_dm(
    gateway: &dyn Gateway,
    call_id: &str,
    params: OpenDmParams,
) -> Result<ToolOutput, ToolError> {
    require("peer_handle", &params.peer_handle)?;
    let (channel, created) = open(NAME, gateway, call_id, params.peer_handle).await?;
    let how = if created { "Opened" } else { "Resumed" };
    let text = format!(
        "{how} a direct conversation. Post to it with comms_dm, or with comms_post_message and its name as channel: {}",
        flat(&channel.name)
    );
    Ok(ToolOutput { channel: Some(channel), created: Some(created), ..ToolOutput::text(text) })
}

/// The channel of two, with the word whether this call made it. Its id is never empty: an empty one is no channel.
pub(super) async fn open(
    tool: &'static str,
    gateway: &dyn Gateway,
    call_id: &str,
    peer_handle: String,
) -> Result<(SeenChannel, bool), ToolError> {
    let call = Call::OpenDm { peer_handle };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(tool, &error))? {
        CallResult::OpenDm { channel: Some(channel), created } if !channel.id.is_empty() => {
            Ok((channel, created))
        }
        other => Err(ToolError::protocol(tool, "open_dm with a channel", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{OneCall, dm, run};

    #[tokio::test]
    async fn a_conversation_is_opened_or_resumed_and_named_on_one_line() {
        for (created, how) in [(true, "Opened"), (false, "Resumed")] {
            let gateway = OneCall::new(Ok(dm("c", "dm\nx", created)));
            let output = run(&gateway, NAME, r#"{"peer_handle":"bo"}"#).await.expect("open");
            assert!(
                output.text.starts_with(how) && output.text.ends_with(" as channel: dm x"),
                "{}",
                output.text
            );
            assert_eq!(output.created, Some(created));
            assert_eq!(gateway.call_seen(), Some(Call::OpenDm { peer_handle: "bo".into() }));
        }
    }

    #[tokio::test]
    async fn a_conversation_without_a_channel_is_a_protocol_violation() {
        for result in [CallResult::OpenDm { channel: None, created: true }, dm("", "n", true)] {
            let error =
                run(&OneCall::new(Ok(result)), NAME, r#"{"peer_handle":"bo"}"#).await.expect_err("none");
            assert_eq!(
                error.to_string(),
                "comms_open_dm: protocol violation: expected open_dm with a channel, got open_dm"
            );
        }
    }
}
