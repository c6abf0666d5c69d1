//! What the model side of an agent speaks.

pub mod acp;
pub mod hook;
pub mod jsonl;
pub mod mcp;
