//! The tools by name: what a model is told of each, and a call with JSON parameters.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    PostKeys, ToolError, ToolOutput, cancel_ask, create_channel, create_channel_group, dm, list_messages,
    list_topics, open_dm, outcome::DETAIL, post_ask, post_message, roster, schema::schema, set_status, tree,
    update_members,
};
use crate::{
    guard::{Randomness, flat_cut},
    ports::Gateway,
};

/// Whether a tool changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It writes.
    Write,
}

/// One tool as a harness offers it.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// A short title for people.
    pub label: &'static str,
    /// What a model is told of it.
    pub description: &'static str,
    /// Whether it changes anything.
    pub access: Access,
    /// True if it takes away what was there before.
    pub destructive: bool,
    /// True if a repeat with the same parameters changes nothing more.
    pub idempotent: bool,
    schema: fn() -> Value,
}

impl Tool {
    /// The JSON schema of its parameters: an object.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }
}

/// Every tool, in the order in which they are offered.
pub static ALL: [Tool; 13] = [
    Tool {
        name: post_message::NAME,
        label: "Post channel message",
        description: post_message::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: false,
        schema: schema::<super::PostMessageParams>,
    },
    Tool {
        name: post_ask::NAME,
        label: "Post channel ask",
        description: post_ask::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: false,
        schema: schema::<super::PostAskParams>,
    },
    Tool {
        name: cancel_ask::NAME,
        label: "Withdraw channel ask",
        description: cancel_ask::DESCRIPTION,
        access: Access::Write,
        destructive: true,
        idempotent: true,
        schema: schema::<super::CancelAskParams>,
    },
    Tool {
        name: list_messages::NAME,
        label: "List channel messages",
        description: list_messages::DESCRIPTION,
        access: Access::Read,
        destructive: false,
        idempotent: true,
        schema: schema::<super::ListMessagesParams>,
    },
    Tool {
        name: list_topics::NAME,
        label: "List channel topics",
        description: list_topics::DESCRIPTION,
        access: Access::Read,
        destructive: false,
        idempotent: true,
        schema: schema::<super::ListTopicsParams>,
    },
    Tool {
        name: roster::NAME,
        label: "List agents",
        description: roster::DESCRIPTION,
        access: Access::Read,
        destructive: false,
        idempotent: true,
        schema: schema::<super::RosterParams>,
    },
    Tool {
        name: tree::NAME,
        label: "Show agents as a tree",
        description: tree::DESCRIPTION,
        access: Access::Read,
        destructive: false,
        idempotent: true,
        schema: schema::<super::RosterParams>,
    },
    Tool {
        name: set_status::NAME,
        label: "Set own status",
        description: set_status::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: true,
        schema: schema::<super::SetStatusParams>,
    },
    Tool {
        name: open_dm::NAME,
        label: "Open direct conversation",
        description: open_dm::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: true,
        schema: schema::<super::OpenDmParams>,
    },
    Tool {
        name: dm::NAME,
        label: "Post direct message",
        description: dm::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: false,
        schema: schema::<super::DmParams>,
    },
    Tool {
        name: create_channel::NAME,
        label: "Create channel",
        description: create_channel::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: false,
        schema: schema::<super::CreateChannelParams>,
    },
    Tool {
        name: update_members::NAME,
        label: "Change channel members",
        description: update_members::DESCRIPTION,
        access: Access::Write,
        destructive: true,
        idempotent: true,
        schema: schema::<super::UpdateMembersParams>,
    },
    Tool {
        name: create_channel_group::NAME,
        label: "Create channel group",
        description: create_channel_group::DESCRIPTION,
        access: Access::Write,
        destructive: false,
        idempotent: false,
        schema: schema::<super::CreateChannelGroupParams>,
    },
];

/// Why a call by name did not come to a result.
#[derive(Debug, thiserror::Error)]
pub enum CallFailed {
    /// No such tool.
    #[error("unknown tool {tool:?}; the tools are {}", names().join(", "))]
    UnknownTool {
        /// What was asked for.
        tool: String,
    },
    /// The parameters do not fit.
    #[error("arguments of {tool} do not fit: {reason}")]
    Arguments {
        /// Of which tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// The tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

/// The tools of one connection. Calls may run side by side.
#[derive(Clone, Copy)]
pub struct Toolbox<'a> {
    /// Where calls go; it knows which agent calls.
    pub gateway: &'a dyn Gateway,
    /// Keys of what is posted.
    pub keys: &'a PostKeys,
    /// What the fences of transcripts are made of.
    pub random: &'a Randomness,
}

impl Toolbox<'_> {
    /// Calls a tool; `null` parameters count as none given.
    ///
    /// # Errors
    ///
    /// [`CallFailed`], whose text is for the model.
    pub async fn call(&self, call_id: &str, tool: &str, arguments: Value) -> Result<ToolOutput, CallFailed> {
        let Self { gateway, keys, random } = *self;
        let done = match tool {
            post_message::NAME => super::post_message(gateway, keys, call_id, parse(tool, arguments)?).await,
            post_ask::NAME => super::post_ask(gateway, keys, call_id, parse(tool, arguments)?).await,
            cancel_ask::NAME => super::cancel_ask(gateway, call_id, parse(tool, arguments)?).await,
            list_messages::NAME => {
                super::list_messages(gateway, random, call_id, parse(tool, arguments)?).await
            }
            list_topics::NAME => super::list_topics(gateway, random, call_id, parse(tool, arguments)?).await,
            roster::NAME => super::roster(gateway, random, call_id, parse(tool, arguments)?).await,
            tree::NAME => super::tree(gateway, random, call_id, parse(tool, arguments)?).await,
            set_status::NAME => super::set_status(gateway, call_id, parse(tool, arguments)?).await,
            open_dm::NAME => super::open_dm(gateway, call_id, parse(tool, arguments)?).await,
            dm::NAME => super::dm(gateway, keys, call_id, parse(tool, arguments)?).await,
            create_channel::NAME => super::create_channel(gateway, call_id, parse(tool, arguments)?).await,
            update_members::NAME => super::update_members(gateway, call_id, parse(tool, arguments)?).await,
            create_channel_group::NAME => {
                super::create_channel_group(gateway, call_id, parse(tool, arguments)?).await
            }
            _ => return Err(CallFailed::UnknownTool { tool: tool.to_owned() }),
        };
        Ok(done?)
    }
}

/// The names of all tools, in their order.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|tool| tool.name).collect()
}

fn parse<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, CallFailed> {
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
    serde_json::from_value(arguments).map_err(|error| CallFailed::Arguments {
        tool: tool.to_owned(),
        reason: flat_cut(&error.to_string(), DETAIL),
    })
}
