//! `compass_set_status`: says what the agent is doing.

use super::{ToolError, ToolOutput, require};
use crate::{
    guard::flat,
    ports::{Call, CallResult, Gateway},
};

/// Its name.
pub(super) const NAME: &str = "compass_set_status";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str =
    "Tells people what you are doing now, in one short line. It replaces the line before.";

/// Parameters of `compass_set_status`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct SetStatusParams {
    /// Not blank; the server cuts it at 140 code points.
    pub activity: String,
}

/// Records an activity in place of the one before.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn set_status(
    gateway: &dyn Gateway,
    call_id: &str,
    params: SetStatusParams,
) -> Result<ToolOutput, ToolError> {
    require("activity", &params.activity)?;
    let call = Call::SetStatus { activity: params.activity.clone() };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::SetStatus => Ok(ToolOutput::text(format!("Status: {}", flat(&params.activity)))),
        other => Err(ToolError::protocol(NAME, "set_status", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::OneCall;

    #[tokio::test]
    async fn the_activity_is_sent_whole_and_echoed_on_one_line() {
        let gateway = OneCall::new(Ok(CallResult::SetStatus));
        let params = SetStatusParams { activity: "a\nb".into() };
        assert_eq!(set_status(&gateway, "1", params).await.expect("set").text, "Status: a b");
        assert_eq!(gateway.call_seen(), Some(Call::SetStatus { activity: "a\nb".into() }));
    }

    #[tokio::test]
    async fn a_blank_activity_is_refused() {
        let gateway = OneCall::new(Ok(CallResult::SetStatus));
        let refused = set_status(&gateway, "1", SetStatusParams { activity: "\t".into() }).await;
        assert_eq!(refused, Err(ToolError::Blank("activity")));
    }
}
