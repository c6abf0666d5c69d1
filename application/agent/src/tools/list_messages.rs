//! `comms_list_messages`: reads a page of a channel, oldest first.

use super::{ToolError, ToolOutput, channel};
use crate::ports::{Call, CallResult, Gateway};

/// Its name.
pub(super) const NAME: &str = "comms_list_messages";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Reads messages of a channel, oldest first; each has its author, time and topic, and asks show their ids. Without a \
     channel it reads your home channel.";
/// Messages a model may ask for at once.
const LIMIT: u32 = 100;

/// Parameters of `comms_list_messages`.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct ListMessagesParams {
    /// The channel's name; the home channel if absent, never blank.
    pub channel: Option<String>,
    /// Of one topic only, by name.
    pub topic: Option<String>,
    /// From 1 to 100; the server's default if absent.
    pub limit: Option<u32>,
    /// Strictly older than this message.
    #[serde(default)]
    pub before_message_id: String,
}

/// Reads a page.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn list_messages(
    gateway: &dyn Gateway,
    call_id: &str,
    params: ListMessagesParams,
) -> Result<ToolOutput, ToolError> {
    if let Some(limit) = params.limit
        && !(1..=LIMIT).contains(&limit)
    {
        let actual = limit.to_string();
        return Err(ToolError::OutOfBounds { field: "limit", bounds: "from 1 to 100", actual });
    }
    let call = Call::List {
        channel: channel(params.channel.as_deref())?,
        topic: params.topic,
        limit: params.limit.unwrap_or(0),
        before_message_id: params.before_message_id,
    };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::List(mut messages) => {
            messages.reverse();
            let text = match messages.len() {
                0 => "No messages.".to_owned(),
                count => format!("{count} messages, oldest first."),
            };
            Ok(ToolOutput { messages: Some(messages), ..ToolOutput::text(text) })
        }
        other => Err(ToolError::protocol(NAME, "list", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{seen::SeenMessage, tools::testing::OneCall};

    fn seen(id: &str) -> SeenMessage {
        SeenMessage { id: id.into(), ..SeenMessage::default() }
    }

    #[tokio::test]
    async fn a_page_is_read_oldest_first() {
        let gateway = OneCall::new(Ok(CallResult::List(vec![seen("new"), seen("old")])));
        let output = list_messages(&gateway, "1", ListMessagesParams::default()).await.expect("read");
        assert_eq!(output.messages, Some(vec![seen("old"), seen("new")]));
    }

    #[tokio::test]
    async fn the_limit_is_from_1_to_100() {
        for (limit, fits) in [(0, false), (1, true), (100, true), (101, false)] {
            let gateway = OneCall::new(Ok(CallResult::List(vec![])));
            let params = ListMessagesParams { limit: Some(limit), ..ListMessagesParams::default() };
            assert_eq!(list_messages(&gateway, "1", params).await.is_ok(), fits, "{limit}");
        }
    }
}
