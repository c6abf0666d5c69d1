//! `comms_list_messages`: reads a page of a channel, oldest first.

use super::{ToolError, ToolOutput, channel, check_topic, listed, optional};
use crate::{
    guard::Randomness,
    ports::{Call, CallResult, Gateway},
    transcript,
};

/// Its name.
pub(super) const NAME: &str = "comms_list_messages";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Reads messages of a channel, oldest first, by topic; each record has its id, its author's handle and its time. Asks \
     show their ids and how they stand. Without a channel it reads your home channel. To read further back, give the \
     oldest id as before_message_id. comms_list_topics has the names of topics.";
/// Messages a model may ask for at once.
const LIMIT: u32 = 100;

/// Parameters of `comms_list_messages`.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct ListMessagesParams {
    /// The channel's name, or `group/name` if several have it; not blank. Your home channel if left out.
    pub channel: Option<String>,
    /// Reads one topic only: its name; not blank, at most 120 characters.
    #[schemars(length(max = 120))]
    pub topic: Option<String>,
    /// How many messages, from 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Reads only messages older than this one: its id; not blank.
    pub before_message_id: Option<String>,
}

/// Reads a page.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn list_messages(
    gateway: &dyn Gateway,
    random: &Randomness,
    call_id: &str,
    params: ListMessagesParams,
) -> Result<ToolOutput, ToolError> {
    let channel = channel(params.channel.as_deref())?;
    params.topic.as_deref().map_or(Ok(()), check_topic)?;
    if let Some(limit) = params.limit
        && !(1..=LIMIT).contains(&limit)
    {
        let actual = limit.to_string();
        return Err(ToolError::OutOfBounds { field: "limit", bounds: "from 1 to 100", actual });
    }
    let call = Call::List {
        channel,
        topic: params.topic.clone(),
        limit: params.limit.unwrap_or(0),
        before_message_id: optional("before_message_id", params.before_message_id)?,
    };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::List(mut messages) => {
            let text = transcript::render(&messages, params.topic.as_deref(), random);
            messages.reverse();
            Ok(ToolOutput { messages: Some(messages), ..listed(text, "No messages.") })
        }
        other => Err(ToolError::protocol(NAME, "list", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ports::Channel,
        seen::SeenMessage,
        tools::testing::{OneCall, run},
    };

    fn seen(id: &str) -> SeenMessage {
        SeenMessage { id: id.into(), topic_id: "t".into(), ..SeenMessage::default() }
    }

    #[tokio::test]
    async fn a_page_is_read_oldest_first_as_text_and_as_data() {
        let gateway = OneCall::new(Ok(CallResult::List(vec![seen("new"), seen("old")])));
        let output = run(&gateway, NAME, r#"{"topic":"Plan"}"#).await.expect("read");
        let place = |text: &str| output.text.find(text).expect(text);
        assert!(place("id=\"t\"> Plan\n") < place("id=\"old\"") && place("id=\"old\"") < place("id=\"new\""));
        assert_eq!(output.messages, Some(vec![seen("old"), seen("new")]));
    }

    #[tokio::test]
    async fn a14_what_is_left_out_is_left_to_the_server_and_the_rest_is_sent() {
        let call = |channel, topic: Option<&str>, limit, before: &str| Call::List {
            channel,
            topic: topic.map(str::to_owned),
            limit,
            before_message_id: before.into(),
        };
        let all = r#"{"channel":"ops","topic":"Plan","limit":7,"before_message_id":"m"}"#;
        for (arguments, expected) in [
            ("{}", call(Channel::Home, None, 0, "")),
            (all, call(Channel::Name("ops".into()), Some("Plan"), 7, "m")),
        ] {
            let gateway = OneCall::new(Ok(CallResult::List(vec![])));
            run(&gateway, NAME, arguments).await.expect("read");
            assert_eq!(gateway.call_seen(), Some(expected));
        }
    }

    #[tokio::test]
    async fn a8_the_limit_is_from_1_to_100() {
        for (limit, fits) in [("0", false), ("1", true), ("100", true), ("101", false), ("-1", false)] {
            let gateway = OneCall::new(Ok(CallResult::List(vec![])));
            let done = run(&gateway, NAME, &format!(r#"{{"limit":{limit}}}"#)).await;
            assert_eq!((done.is_ok(), gateway.call_seen().is_some()), (fits, fits), "{limit}");
        }
    }
}
