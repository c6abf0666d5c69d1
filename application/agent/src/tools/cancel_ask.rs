//! `comms_cancel_ask`: withdraws the agent's own open ask.

use super::{ToolError, ToolOutput, require};
use crate::{
    guard::attr,
    ports::{Call, CallResult, Gateway},
};

/// Its name.
pub(super) const NAME: &str = "comms_cancel_ask";
/// What a model is told of it.
pub(super) const DESCRIPTION: &str = "Withdraws your own pending ask, so that it takes no answer. A repeat succeeds. already_exists means that the ask was \
     answered first, and that answer arrives in a later turn.";

/// Parameters of `comms_cancel_ask`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct CancelAskParams {
    /// Your ask's id, from the result of `comms_post_ask` or the id="…" of an ask marker of `comms_list_messages`; not
    /// blank.
    pub ask_id: String,
}

/// Withdraws an ask; a repeat succeeds. `already_exists` means it was answered first.
///
/// # Errors
///
/// [`ToolError`] that names the parameter, or what the server said.
pub async fn cancel_ask(
    gateway: &dyn Gateway,
    call_id: &str,
    params: CancelAskParams,
) -> Result<ToolOutput, ToolError> {
    require("ask_id", &params.ask_id)?;
    let call = Call::CancelAsk { ask_id: params.ask_id.clone() };
    match gateway.call(call_id, call).await.map_err(|error| ToolError::call(NAME, &error))? {
        CallResult::CancelAsk => Ok(ToolOutput {
            text: format!("Withdrew ask {}; no answer will arrive.", attr(&params.ask_id)),
            ask_id: Some(params.ask_id),
            ..ToolOutput::text(String::new())
        }),
        other => Err(ToolError::protocol(NAME, "cancel_ask", &other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ports::CallError, tools::testing::OneCall};

    fn params(id: &str) -> CancelAskParams {
        CancelAskParams { ask_id: id.into() }
    }

    #[tokio::test]
    async fn a23_a_withdrawal_says_that_no_answer_will_arrive() {
        let gateway = OneCall::new(Ok(CallResult::CancelAsk));
        let output = cancel_ask(&gateway, "1", params("ask-1")).await.expect("withdrawn");
        assert_eq!(output.text, "Withdrew ask ask-1; no answer will arrive.");
        assert_eq!(gateway.call_seen(), Some(Call::CancelAsk { ask_id: "ask-1".into() }));
    }

    #[tokio::test]
    async fn a24_an_answer_that_was_first_fails_the_tool() {
        let refused = CallError::Refused { code: "already_exists".into(), message: "it is answered".into() };
        let error = cancel_ask(&OneCall::new(Err(refused)), "1", params("a")).await.expect_err("refused");
        assert_eq!(error.to_string(), "comms_cancel_ask failed: already_exists: it is answered");
    }

    #[tokio::test]
    async fn a25_a_bad_id_is_not_echoed() {
        let gateway = OneCall::new(Ok(CallResult::CancelAsk));
        let output = cancel_ask(&gateway, "1", params("a b")).await.expect("withdrawn");
        assert_eq!(output.text, "Withdrew ask (malformed); no answer will arrive.");
    }
}
