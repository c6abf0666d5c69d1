//! `comms_update_members`: changes who takes part in a channel.

use super::{ToolError, ToolOutput, optional, require, require_each};
use crate::{
    guard::{attr, flat},
    ports::{Call, CallResult, Gateway, MemberChanges},
    records::count,
    seen::SeenChannel,
};

/// Its name.
pub(super) const NAME: &str = "comms_update_members";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Changes the members of a channel and who of them is subscribed, and returns who is a member then, by handle. \
     For one account, unsubscribe beats subscribe, and remove beats everything. Without changes it only tells who is a \
     member.";

/// Parameters of `comms_update_members`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct UpdateMembersParams {
    /// The channel's name, or `group/name` if several have it; not blank.
    pub channel: String,
    /// Handles of accounts to make members; each is not blank.
    #[serde(default)]
    pub add: Vec<String>,
    /// Handles of accounts to take out; each is not blank.
    #[serde(default)]
    pub remove: Vec<String>,
    /// Handles of accounts to make members that are delivered its messages; each is not blank.
    #[serde(default)]
    pub subscribe: Vec<String>,
    /// Handles of accounts that stay members and are no longer delivered its messages; each is not blank.
    #[serde(default)]
    pub unsubscribe: Vec<String>,
    /// The channel's new name; not blank, at most 120 characters. A direct conversation that somebody joins becomes a
    /// channel and needs one.
    #[schemars(length(max = 120))]
    pub new_name: Option<String>,
}

/// Changes who takes part in a channel.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn update_members(
    gateway: &dyn Gateway,
    call_id: &str,
    params: UpdateMembersParams,
) -> Result<ToolOutput, ToolError> {
    require("channel", &params.channel)?;
    for (field, handles) in [
        ("add[]", &params.add),
        ("remove[]", &params.remove),
        ("subscribe[]", &params.subscribe),
        ("unsubscribe[]", &params.unsubscribe),
    ] {
        require_each(field, handles)?;
    }
    let changes = MemberChanges {
        add: params.add,
        remove: params.remove,
        subscribe: params.subscribe,
        unsubscribe: params.unsubscribe,
        new_name: optional("new_name", params.new_name)?,
    };
    let call = Call::UpdateMembers { channel: params.channel, changes };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::UpdateMembers(Some(channel)) => {
            Ok(ToolOutput { text: text(&channel), channel: Some(channel), ..ToolOutput::text(String::new()) })
        }
        other => Err(ToolError::protocol(NAME, "update_members with a channel", &other)),
    }
}

fn text(channel: &SeenChannel) -> String {
    let names = |ids: &[String]| match ids.iter().map(|id| attr(channel.handles.name(id))).collect::<Vec<_>>()
    {
        none if none.is_empty() => "nobody".to_owned(),
        names => names.join(", "),
    };
    format!(
        "{}: {}. Subscribed: {}. Channel: {}",
        count(channel.member_account_ids.len(), "member"),
        names(&channel.member_account_ids),
        names(&channel.subscriber_account_ids),
        flat(&channel.name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{OneCall, run};

    #[tokio::test]
    async fn changes_go_by_handle_and_who_is_a_member_then_is_told() {
        let after = SeenChannel {
            id: "c".into(),
            name: "ops\nb".into(),
            member_account_ids: vec!["a1".into(), "a2".into(), "b 2".into()],
            subscriber_account_ids: vec!["a2".into()],
            handles: [("a2".into(), "bo".into())].into_iter().collect(),
            ..SeenChannel::default()
        };
        let gateway = OneCall::new(Ok(CallResult::UpdateMembers(Some(after))));
        let arguments = r#"{"channel":"ops","add":["a"],"remove":["r"],"subscribe":["s"],"unsubscribe":["u"],
            "new_name":"n"}"#;
        let output = run(&gateway, NAME, arguments).await.expect("changed");
        assert_eq!(output.text, "3 members: a1, bo, (malformed). Subscribed: bo. Channel: ops b");
        let changes = MemberChanges {
            add: vec!["a".into()],
            remove: vec!["r".into()],
            subscribe: vec!["s".into()],
            unsubscribe: vec!["u".into()],
            new_name: "n".into(),
        };
        assert_eq!(gateway.call_seen(), Some(Call::UpdateMembers { channel: "ops".into(), changes }));
    }

    #[tokio::test]
    async fn no_channel_is_a_protocol_violation() {
        let gateway = OneCall::new(Ok(CallResult::UpdateMembers(None)));
        let error = run(&gateway, NAME, r#"{"channel":"ops"}"#).await.expect_err("none");
        assert!(matches!(error, crate::tools::CallFailed::Tool(ToolError::Protocol { .. })));
        let call = Call::UpdateMembers { channel: "ops".into(), changes: MemberChanges::default() };
        assert_eq!(gateway.call_seen(), Some(call));
    }
}
