//! The two ways into storage, and what may be asked without knowing the tenant.

use async_trait::async_trait;
use compass_domain::TenantId;
use compass_ports::StorageError;

use super::{
    AccountReads, AccountRepository, AskReads, ChannelReads, ChannelRepository, CursorRepository, GroupReads,
    GroupRepository, MessageReads, ParticipantRepository, PinRepository, PurposeRepository,
    ReadPositionRepository, SettingsRepository, TokenHash, TokenReads, TokenRepository, TokenRow, TopicReads,
    TopicRepository,
};

/// Hands out units over one tenant's rows.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait Storage: Send + Sync {
    /// A read-only snapshot.
    ///
    /// # Errors
    ///
    /// [`StorageError::Unavailable`] if the database cannot be reached.
    async fn read(&self, tenant: &TenantId) -> Result<Box<dyn ReadUnit>, StorageError>;

    /// A unit of work for rare writes; dropping it keeps none of them.
    ///
    /// # Errors
    ///
    /// [`StorageError::Unavailable`] if the database cannot be reached.
    async fn begin(&self, tenant: &TenantId) -> Result<Box<dyn UnitOfWork>, StorageError>;

    /// The tenant and the row of a token, by its hash. A credential comes without a tenant, so this asks across all.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if it cannot be read.
    async fn find_token(&self, hash: &TokenHash) -> Result<Option<(TenantId, TokenRow)>, StorageError>;

    /// The same for many tokens, in no order; the unknown ones are left out.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if they cannot be read.
    async fn find_tokens(&self, hashes: &[TokenHash]) -> Result<Vec<(TenantId, TokenRow)>, StorageError>;

    /// Every tenant.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if they cannot be read.
    async fn tenants(&self) -> Result<Vec<TenantId>, StorageError>;
}

/// Reads of one snapshot.
pub trait ReadUnit:
    AccountReads + ChannelReads + GroupReads + TopicReads + MessageReads + AskReads + TokenReads + Send
{
}

impl<T> ReadUnit for T where
    T: AccountReads + ChannelReads + GroupReads + TopicReads + MessageReads + AskReads + TokenReads + Send
{
}

/// All writes of one rare use case, and the reads they rest on.
#[async_trait]
pub trait UnitOfWork: Send {
    /// Account rows.
    fn accounts(&mut self) -> &mut dyn AccountRepository;

    /// Channel, member and pin rows.
    fn channels(&mut self) -> &mut dyn ChannelRepository;

    /// Group rows.
    fn groups(&mut self) -> &mut dyn GroupRepository;

    /// Who takes part, member rows or not.
    fn participants(&mut self) -> &mut dyn ParticipantRepository;

    /// Channels that the server made for a purpose.
    fn purposes(&mut self) -> &mut dyn PurposeRepository;

    /// Names and policies of channels.
    fn settings(&mut self) -> &mut dyn SettingsRepository;

    /// Pinned boards.
    fn pins(&mut self) -> &mut dyn PinRepository;

    /// Topic rows.
    fn topics(&mut self) -> &mut dyn TopicRepository;

    /// How far people have read.
    fn read_positions(&mut self) -> &mut dyn ReadPositionRepository;

    /// Delivery cursors.
    fn cursors(&mut self) -> &mut dyn CursorRepository;

    /// Token rows.
    fn tokens(&mut self) -> &mut dyn TokenRepository;

    /// Keeps everything.
    ///
    /// # Errors
    ///
    /// [`StorageError::OutcomeUnknown`] if the connection broke while committing; otherwise nothing was kept.
    async fn commit(self: Box<Self>) -> Result<(), StorageError>;
}
