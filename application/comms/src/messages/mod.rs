//! Messages: posting and reading.

pub mod list_messages;
pub mod post_message;
