//! The tools an agent calls: parse, one call of the gateway, render. None of them answers an ask.

mod cancel_ask;
mod create_channel;
mod create_channel_group;
mod dm;
mod list_messages;
mod list_topics;
mod open_dm;
mod outcome;
mod post_ask;
mod post_message;
mod registry;
mod roster;
mod schema;
mod set_status;
mod tree;
mod update_members;

pub use cancel_ask::{CancelAskParams, cancel_ask};
pub use create_channel::{CreateChannelParams, Kind, create_channel};
pub use create_channel_group::{CreateChannelGroupParams, Visibility, create_channel_group};
pub use dm::{DmParams, dm};
pub use list_messages::{ListMessagesParams, list_messages};
pub use list_topics::{ListTopicsParams, list_topics};
pub use open_dm::{OpenDmParams, open_dm};
pub use outcome::{ToolError, ToolOutput};
pub use post_ask::{OptionParams, PostAskParams, QuestionParams, post_ask};
pub(crate) use post_ask::{ask_under, post_ask_under};
pub use post_message::{PostMessageParams, post_message};
pub use registry::{ALL, Access, CallFailed, Tool, Toolbox, names};
pub use roster::{RosterParams, Scope, roster};
pub use set_status::{SetStatusParams, set_status};
pub use tree::tree;
pub use update_members::{UpdateMembersParams, update_members};

use compass_domain::limits::TOPIC_NAME_CODE_POINTS;

use crate::ports::Channel;

/// Keys for posts: a nonce of this connection and the call's id, so that call ids that repeat between sessions
/// do not collide.
#[derive(Debug, Clone)]
pub struct PostKeys {
    nonce: String,
}

impl PostKeys {
    /// Keys under a nonce.
    pub fn new(nonce: impl Into<String>) -> Self {
        Self { nonce: nonce.into() }
    }

    /// The key of a call.
    pub fn key(&self, call_id: &str) -> String {
        format!("{}:{call_id}", self.nonce)
    }
}

fn channel(name: Option<&str>) -> Result<Channel, ToolError> {
    match name {
        None => Ok(Channel::Home),
        Some(name) if name.trim().is_empty() => Err(ToolError::Blank("channel")),
        Some(name) => Ok(Channel::Name(name.to_owned())),
    }
}

fn require(field: &'static str, value: &str) -> Result<(), ToolError> {
    if value.trim().is_empty() { Err(ToolError::Blank(field)) } else { Ok(()) }
}

/// A parameter that may be left out, and must say something if it is not; empty if it is.
fn optional(field: &'static str, value: Option<String>) -> Result<String, ToolError> {
    match value {
        Some(value) => require(field, &value).map(|()| value),
        None => Ok(String::new()),
    }
}

fn require_each(field: &'static str, values: &[String]) -> Result<(), ToolError> {
    values.iter().try_for_each(|value| require(field, value))
}

/// A topic's name, checked by the rule of the server.
fn check_topic(name: &str) -> Result<(), ToolError> {
    require("topic", name)?;
    match name.trim().chars().count() {
        fits if fits <= TOPIC_NAME_CODE_POINTS => Ok(()),
        actual => Err(ToolError::OutOfBounds {
            field: "topic",
            bounds: "at most 120 characters",
            actual: actual.to_string(),
        }),
    }
}

/// A text of what was read, or that there was nothing.
fn listed(text: String, nothing: &str) -> ToolOutput {
    if text.is_empty() {
        ToolOutput { useless: true, ..ToolOutput::text(nothing.to_owned()) }
    } else {
        ToolOutput::text(text)
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
