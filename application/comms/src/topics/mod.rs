//! Topics: listing, changing, and how far people have read them; a post creates and revives them.

pub mod list_topics;
pub mod mark_read;
pub mod read_positions;
pub mod update_topic;
