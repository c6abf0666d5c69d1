//! `compass_set_status`: says what the agent is doing.

use compass_domain::limits::ACTIVITY_CODE_POINTS;

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
    /// What you are doing; not blank. It is cut at 140 characters.
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
        CallResult::SetStatus => Ok(ToolOutput::text(recorded(&params.activity))),
        other => Err(ToolError::protocol(NAME, "set_status", &other)),
    }
}

/// The status as the server keeps it.
fn recorded(activity: &str) -> String {
    let kept: String = activity.chars().take(ACTIVITY_CODE_POINTS).collect();
    let cut =
        if kept == activity { String::new() } else { format!(", cut at {ACTIVITY_CODE_POINTS} characters") };
    format!("Status{cut}: {}", flat(&kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::OneCall;

    #[tokio::test]
    async fn a42_the_activity_is_sent_whole_and_echoed_on_one_line() {
        let gateway = OneCall::new(Ok(CallResult::SetStatus));
        let params = SetStatusParams { activity: "a\nb".into() };
        assert_eq!(set_status(&gateway, "1", params).await.expect("set").text, "Status: a b");
        assert_eq!(gateway.call_seen(), Some(Call::SetStatus { activity: "a\nb".into() }));
    }

    #[tokio::test]
    async fn an_activity_that_is_cut_is_said_to_be() {
        let gateway = OneCall::new(Ok(CallResult::SetStatus));
        let params = SetStatusParams { activity: "é".repeat(141) };
        let text = set_status(&gateway, "1", params).await.expect("set").text;
        assert_eq!(text, format!("Status, cut at 140 characters: {}", "é".repeat(140)));
        assert_eq!(gateway.call_seen(), Some(Call::SetStatus { activity: "é".repeat(141) }));
    }
}
