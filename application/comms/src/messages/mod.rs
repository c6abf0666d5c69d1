//! Messages: posting, reading and searching.

pub mod list_messages;
pub mod post_message;
pub mod search_messages;
