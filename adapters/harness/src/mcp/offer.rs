//! The tools as a client is told of them.

use compass_agent::tools::{self, Access};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

/// Every tool, in order.
pub(super) fn tools() -> Vec<Tool> {
    tools::ALL.iter().map(tool).collect()
}

/// The tool of this name.
pub(super) fn named(name: &str) -> Option<Tool> {
    tools::ALL.iter().find(|tool| tool.name == name).map(tool)
}

fn tool(of: &tools::Tool) -> Tool {
    // People answer, and channels hold what anybody wrote: the world of every tool is open.
    let annotations = ToolAnnotations::with_title(of.label)
        .read_only(of.access == Access::Read)
        .destructive(of.destructive)
        .idempotent(of.idempotent)
        .open_world(true);
    Tool::new(of.name, of.description, schema(of)).with_title(of.label).with_annotations(annotations)
}

fn schema(of: &tools::Tool) -> JsonObject {
    match of.schema() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
