//! Topics: listing; a post creates and revives them.

pub mod list_topics;
