//! What a tool comes to, and the one way its failures read.

use crate::{
    guard::{attr, flat_cut},
    ports::{CallError, CallResult},
    seen::{SeenChannel, SeenGroup, SeenMessage, SeenRosterEntry, SeenTopic},
};

/// Characters of a failure's detail at the most.
pub(super) const DETAIL: usize = 500;

/// What a tool returns: one text, and the same as data.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct ToolOutput {
    /// For a model.
    pub text: String,
    /// The message that was posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Its topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<String>,
    /// The ask that was posted or withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_id: Option<String>,
    /// The messages that were read, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<SeenMessage>>,
    /// The topics that were read, latest activity first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<SeenTopic>>,
    /// The agents that were read, by account id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<SeenRosterEntry>>,
    /// The channel that was opened, created or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<SeenChannel>,
    /// Whether the direct conversation is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<bool>,
    /// The group that was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<SeenGroup>,
    /// True if there was nothing to read, so that the text may be left out of a context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub useless: bool,
}

/// Why a tool failed. A failure is never a text that looks like success.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// A parameter that must say something is blank.
    #[error("{0} must not be blank")]
    Blank(&'static str),
    /// A parameter is out of its bounds.
    #[error("{field} must be {bounds}, got {actual}")]
    OutOfBounds {
        /// Which.
        field: &'static str,
        /// What is allowed.
        bounds: &'static str,
        /// What was given.
        actual: String,
    },
    /// The server or the connection failed it.
    #[error("{tool} failed: {code}: {detail}")]
    Failed {
        /// Which tool.
        tool: &'static str,
        /// The status token.
        code: String,
        /// The guarded text.
        detail: String,
    },
    /// The server answered something else than was asked.
    #[error("{tool}: protocol violation: expected {expected}, got {actual}")]
    Protocol {
        /// Which tool.
        tool: &'static str,
        /// Which arm was expected.
        expected: &'static str,
        /// What arrived.
        actual: String,
    },
}

impl ToolOutput {
    pub(super) fn text(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl ToolError {
    pub(super) fn call(tool: &'static str, error: &CallError) -> Self {
        let (code, detail) = match error {
            CallError::Refused { code, message } => (code.as_str(), message.as_str()),
            CallError::Unreachable(detail) => ("unavailable", detail.as_str()),
            CallError::OutcomeUnknown(detail) => ("unknown", detail.as_str()),
        };
        Self::Failed { tool, code: attr(code).to_owned(), detail: flat_cut(detail, DETAIL) }
    }

    pub(super) fn protocol(tool: &'static str, expected: &'static str, actual: &CallResult) -> Self {
        Self::Protocol { tool, expected, actual: attr(actual.arm()).to_owned() }
    }
}
