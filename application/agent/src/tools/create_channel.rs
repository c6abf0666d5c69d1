//! `comms_create_channel`: creates a channel with its first members.

use super::{ToolError, ToolOutput, optional, require, require_each};
use crate::{
    guard::{attr, flat},
    ports::{Call, CallResult, Gateway},
};

/// Its name.
pub(super) const NAME: &str = "comms_create_channel";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Creates a channel. You become a member, and so do the accounts you name; the owner of an agent comes along with it. \
     Nobody is subscribed yet: see comms_update_members.";

/// Parameters of `comms_create_channel`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct CreateChannelParams {
    /// The channel's name; not blank, at most 120 characters.
    #[schemars(length(max = 120))]
    pub name: String,
    /// The name of the group to put it in; not blank. No group if left out.
    pub group: Option<String>,
    /// channel is the only kind to create; a direct conversation is opened with `comms_open_dm`.
    #[serde(default)]
    pub kind: Kind,
    /// Handles of further members; each is not blank.
    #[serde(default)]
    pub members: Vec<String>,
}

/// What is created.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A channel with members.
    #[default]
    Channel,
}

/// Creates a channel.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn create_channel(
    gateway: &dyn Gateway,
    call_id: &str,
    params: CreateChannelParams,
) -> Result<ToolOutput, ToolError> {
    require("name", &params.name)?;
    require_each("members[]", &params.members)?;
    let Kind::Channel = params.kind;
    let group = optional("group", params.group)?;
    let call = Call::CreateChannel { name: params.name, group, members: params.members };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::CreateChannel(Some(channel)) => {
            let text = format!("Created channel {}: {}", attr(&channel.id), flat(&channel.name));
            Ok(ToolOutput { channel: Some(channel), ..ToolOutput::text(text) })
        }
        other => Err(ToolError::protocol(NAME, "create_channel with a channel", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        seen::SeenChannel,
        tools::testing::{OneCall, run},
    };

    #[tokio::test]
    async fn a_channel_is_created_with_what_was_given() {
        let created = SeenChannel { id: "c".into(), name: "a\nb".into(), ..SeenChannel::default() };
        for (arguments, group, members) in [
            (r#"{"name":"ops"}"#, "", vec![]),
            (r#"{"name":"ops","group":"g","kind":"channel","members":["bo"]}"#, "g", vec!["bo".to_owned()]),
        ] {
            let gateway = OneCall::new(Ok(CallResult::CreateChannel(Some(created.clone()))));
            let output = run(&gateway, NAME, arguments).await.expect("created");
            assert_eq!(output.text, "Created channel c: a b");
            let call = Call::CreateChannel { name: "ops".into(), group: group.into(), members };
            assert_eq!(gateway.call_seen(), Some(call));
        }
    }

    #[tokio::test]
    async fn another_kind_is_refused_and_no_channel_is_a_protocol_violation() {
        let gateway = OneCall::new(Ok(CallResult::CreateChannel(None)));
        assert!(run(&gateway, NAME, r#"{"name":"ops","kind":"dm"}"#).await.is_err());
        assert_eq!(gateway.call_seen(), None);
        let error = run(&gateway, NAME, r#"{"name":"ops"}"#).await.expect_err("none");
        assert!(error.to_string().starts_with("comms_create_channel: protocol violation: "), "{error}");
    }
}
