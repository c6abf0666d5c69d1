//! Topics: listing, changing, and how far people have read them; a post creates and revives them.

pub mod list_topics;
pub mod list_topics_of_channels;
pub mod mark_read;
pub mod read_positions;
pub mod update_topic;
