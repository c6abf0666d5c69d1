//! Command hooks of Claude Code: one JSON object in, at most one out, and what it says about messages and questions.
//!
//! Messages are handed over as context of a prompt, of a session's start, of a tool's result, or as the reason to go
//! on at a turn's end. Questions of the built-in question tool and elicitations of its MCP servers become asks.

mod elicit;
mod input;
mod output;
mod question;
mod run;

pub use input::{Event, Input, InputError};
pub use run::{Hook, HookError, Place};
