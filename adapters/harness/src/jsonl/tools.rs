//! Tool calls by name, with JSON parameters.

use compass_agent::{
    ports::Gateway,
    tools::{self, PostKeys, ToolError, ToolOutput},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a call did not come to a result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallFailed {
    /// No such tool.
    #[error("unknown tool {tool:?}; the tools are {}", tools::NAMES.join(", "))]
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

pub(super) async fn call(
    gateway: &dyn Gateway,
    keys: &PostKeys,
    id: &str,
    tool: &str,
    arguments: Value,
) -> Result<ToolOutput, CallFailed> {
    let done = match tool {
        "comms_post_message" => tools::post_message(gateway, keys, id, parse(tool, arguments)?).await,
        "comms_post_ask" => tools::post_ask(gateway, keys, id, parse(tool, arguments)?).await,
        "comms_cancel_ask" => tools::cancel_ask(gateway, id, parse(tool, arguments)?).await,
        "comms_list_messages" => tools::list_messages(gateway, id, parse(tool, arguments)?).await,
        "compass_set_status" => tools::set_status(gateway, id, parse(tool, arguments)?).await,
        _ => return Err(CallFailed::UnknownTool { tool: tool.to_owned() }),
    };
    Ok(done?)
}

fn parse<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, CallFailed> {
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
    serde_json::from_value(arguments)
        .map_err(|error| CallFailed::Arguments { tool: tool.to_owned(), reason: error.to_string() })
}
