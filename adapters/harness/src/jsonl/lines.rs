//! The lines in both directions.

use compass_agent::{lanes::Handed, seen::SeenMessage, tools::ToolOutput};
use serde::{Deserialize, Serialize};

/// A line the agent's program writes.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    deny_unknown_fields,
    expecting = "an object whose type is call, ack or state"
)]
pub enum InLine {
    /// Calls a tool; its result carries the same id.
    Call {
        /// The program's own id of the call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// Its parameters.
        #[serde(default)]
        arguments: serde_json::Value,
    },
    /// Says that a message was taken: it is never handed over again.
    Ack {
        /// Which message.
        message_id: String,
    },
    /// Says where the program stands; without such lines it counts as between turns.
    State {
        /// `ready` or `working`.
        state: State,
    },
}

/// Where the agent's program stands.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Between turns.
    Ready,
    /// In a turn.
    Working,
}

/// A line the agent's program reads.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutLine {
    /// A session runs; messages follow.
    Attached {
        /// The session; empty if only the runner knows it.
        session_id: String,
    },
    /// A message; it must be acknowledged after it was taken.
    Message {
        /// The message.
        message: SeenMessage,
        /// The topic's name.
        topic_name: String,
        /// The channel's name.
        channel_name: String,
        /// The author's handle.
        from_handle: String,
        /// True if it interrupts.
        steer: bool,
        /// True if an earlier life of this agent may have seen it.
        delivered_before: bool,
    },
    /// A call came to an end.
    Result {
        /// The call's id.
        id: String,
        /// True if it did what it should.
        ok: bool,
        /// What it came to.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<ToolOutput>,
        /// Why it did not.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The connection is lost and is being made again.
    Detached {
        /// Why.
        reason: String,
    },
    /// The server ended the session.
    Stopped,
    /// The link is over.
    Ended {
        /// The status token.
        code: String,
        /// The server's text.
        reason: String,
    },
    /// A line that came in could not be used.
    Error {
        /// What is wrong with it.
        error: String,
    },
}

impl OutLine {
    pub(super) fn message(handed: Handed) -> Self {
        let Handed { delivery, delivered_before } = handed;
        Self::Message {
            message: delivery.message,
            topic_name: delivery.topic_name,
            channel_name: delivery.channel_name,
            from_handle: delivery.from_handle,
            steer: delivery.steer,
            delivered_before,
        }
    }
}
