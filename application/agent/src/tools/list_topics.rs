//! `comms_list_topics`: reads the topics of a channel.

use super::{ToolError, ToolOutput, channel, listed};
use crate::{
    guard::Randomness,
    ports::{Call, CallResult, Gateway},
    rows,
};

/// Its name.
pub(super) const NAME: &str = "comms_list_topics";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Lists the topics of a channel, latest activity first: id, number of messages and of open asks, time of the last \
     message, and the name, by which you post to it. Without a channel it reads your home channel.";

/// Parameters of `comms_list_topics`.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct ListTopicsParams {
    /// The channel's name, or `group/name` if several have it; not blank. Your home channel if left out.
    pub channel: Option<String>,
    /// Lists archived topics as well.
    #[serde(default)]
    pub include_archived: bool,
}

/// Lists the topics of a channel.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn list_topics(
    gateway: &dyn Gateway,
    random: &Randomness,
    call_id: &str,
    params: ListTopicsParams,
) -> Result<ToolOutput, ToolError> {
    let channel = channel(params.channel.as_deref())?;
    let call = Call::ListTopics { channel, include_archived: params.include_archived };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::ListTopics(topics) => {
            let output = listed(rows::topics(&topics, random), "No topics.");
            Ok(ToolOutput { topics: Some(topics), ..output })
        }
        other => Err(ToolError::protocol(NAME, "list_topics", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ports::Channel, seen::SeenTopic, tools::testing::OneCall};

    #[tokio::test]
    async fn topics_are_read_of_the_channel_and_listed() {
        let topic = SeenTopic { id: "t".into(), name: "Plan".into(), ..SeenTopic::default() };
        for (name, include_archived, channel) in
            [(None, false, Channel::Home), (Some("ops"), true, Channel::Name("ops".into()))]
        {
            let gateway = OneCall::new(Ok(CallResult::ListTopics(vec![topic.clone()])));
            let params = ListTopicsParams { channel: name.map(str::to_owned), include_archived };
            let output = list_topics(&gateway, &|| [7; 8], "1", params).await.expect("read");
            assert!(output.text.ends_with("] Plan\n") && !output.useless, "{}", output.text);
            assert_eq!(output.topics, Some(vec![topic.clone()]));
            assert_eq!(gateway.call_seen(), Some(Call::ListTopics { channel, include_archived }));
        }
    }
}
