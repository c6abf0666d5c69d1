//! What the use cases of the conversation need of storage.

mod channel_writes;
mod groups;
mod reads;
mod storage;
mod tokens;
mod writes;

pub use channel_writes::{ParticipantRepository, PinRepository, PurposeRepository, SettingsRepository};
pub use groups::{GroupReads, GroupRepository};
pub use reads::{
    AccountReads, AskReads, ChannelReads, MessagePage, MessageReads, MovedTopic, NamedChannel, OpenAsksPage,
    SearchPage, TopicReads, TopicSummary,
};
#[cfg(test)]
pub(crate) use storage::MockStorage;
pub use storage::{ReadUnit, Storage, UnitOfWork};
pub use tokens::{Subject, TokenHash, TokenReads, TokenRepository, TokenRow};
pub use writes::{
    AccountRepository, ChannelRepository, CursorRepository, ReadPositionRepository, TopicRepository,
};
