//! `comms_create_channel_group`: creates a group of channels.

use compass_domain::group;

use super::{ToolError, ToolOutput, optional, require};
use crate::{
    guard::{attr, flat},
    ports::{Call, CallResult, Gateway},
};

/// Its name.
pub(super) const NAME: &str = "comms_create_channel_group";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str =
    "Creates a group that channels and other groups can stand in. It belongs to you.";

/// Parameters of `comms_create_channel_group`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct CreateChannelGroupParams {
    /// The group's name; not blank, at most 120 characters.
    #[schemars(length(max = 120))]
    pub name: String,
    /// The name of the group it stands in; not blank. The top level if left out.
    pub parent_group: Option<String>,
    /// Who sees it and its channels. owner: you alone; shared: everybody, unless the group it stands in is not shared.
    #[serde(default)]
    pub visibility: Visibility,
}

/// Who sees a group.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The agent that made it.
    #[default]
    Owner,
    /// Everybody.
    Shared,
}

impl From<Visibility> for group::Visibility {
    fn from(visibility: Visibility) -> Self {
        match visibility {
            Visibility::Owner => Self::Owner,
            Visibility::Shared => Self::Shared,
        }
    }
}

/// Creates a group.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn create_channel_group(
    gateway: &dyn Gateway,
    call_id: &str,
    params: CreateChannelGroupParams,
) -> Result<ToolOutput, ToolError> {
    require("name", &params.name)?;
    let parent_group = optional("parent_group", params.parent_group)?;
    let visibility = params.visibility.into();
    let call = Call::CreateChannelGroup { name: params.name, parent_group, visibility };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::CreateChannelGroup(Some(group)) => {
            let text = format!("Created group {}: {}", attr(&group.id), flat(&group.name));
            Ok(ToolOutput { group: Some(group), ..ToolOutput::text(text) })
        }
        other => Err(ToolError::protocol(NAME, "create_channel_group with a group", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        seen::SeenGroup,
        tools::testing::{OneCall, run},
    };

    #[tokio::test]
    async fn a_group_is_created_with_what_was_given() {
        for (arguments, parent, visibility) in [
            (r#"{"name":"g"}"#, "", group::Visibility::Owner),
            (r#"{"name":"g","parent_group":"p","visibility":"shared"}"#, "p", group::Visibility::Shared),
        ] {
            let created = SeenGroup { id: "id".into(), name: "g\u{2028}h".into() };
            let gateway = OneCall::new(Ok(CallResult::CreateChannelGroup(Some(created))));
            let output = run(&gateway, NAME, arguments).await.expect("created");
            assert_eq!(output.text, "Created group id: g h");
            let call = Call::CreateChannelGroup { name: "g".into(), parent_group: parent.into(), visibility };
            assert_eq!(gateway.call_seen(), Some(call));
        }
    }
}
