//! Wire to domain and back: what comes in is checked and stripped here, what goes out is complete here.

mod account;
mod blocks;
mod call;
mod channel;
mod control;
mod event;
mod group;
mod ids;
mod message;
mod request;
mod roster;
mod token;
mod topic;

pub use account::account;
pub use blocks::blocks_in;
pub use call::{ARMS, comms_call};
pub use channel::channel;
pub use control::{delivery, steer};
pub(crate) use event::{Beside, boundary, frame, resync};
pub use group::group;
pub(crate) use ids::{given, optional, required};
pub use message::message;
pub(crate) use request::{
    Unnamed, create_channel_in, create_group_in, list_messages_in, list_open_asks_in, list_topics_in,
    list_topics_of_channels_in, mark_read_in, open_dm_in, post_in, read_positions_in, reparent_in,
    respond_in, search_in, set_policy_in, update_board_in, update_members_in, update_topic_in,
};
pub(crate) use roster::{get_roster_in, presence, roster};
pub(crate) use token::token;
pub(crate) use topic::{listed_topics, topics_of_channels};
pub use topic::{read_position, topic};
