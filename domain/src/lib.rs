//! What is true whatever the technology: entities, their invariants and the arithmetic of delivery.
//!
//! Nothing here does I/O, reads a clock, draws randomness or knows an encoding. Values are parsed once, at
//! an edge, into types that cannot be wrong; a stored row comes back through a `restore` that calls every
//! impossible combination corrupt.

pub mod account;
pub mod ask;
pub mod board;
pub mod brake;
pub mod channel;
pub mod delivery;
pub mod error;
pub mod event;
pub mod group;
pub mod id;
pub mod limits;
pub mod mention;
pub mod message;
pub mod participation;
pub mod presence;
pub mod read_position;
pub mod roster;
pub mod search;
pub mod text;
pub mod topic;
pub mod wake;

pub use account::{Account, AccountKind, Actor, ActorKind, Handle, Human, UserRole};
pub use ask::{Answers, Ask, AskState, ClosedAsk, LockedAsk, OpenAsk};
pub use channel::Channel;
pub use error::{Classified, Corrupt, ErrorKind};
pub use event::Event;
pub use group::ChannelGroup;
pub use id::{
    AccountId, AskId, ChannelId, GroupId, MessageId, NodeId, Position, Seq, SessionId, TenantId, TokenId,
    TopicId, UnixMillis,
};
pub use message::{BlockView, Message, MessageBlock, NewMessage};
pub use presence::{LifecycleState, Presence};
pub use read_position::ReadPosition;
pub use search::SearchQuery;
pub use topic::{Topic, TopicName};
pub use wake::WakePolicy;
