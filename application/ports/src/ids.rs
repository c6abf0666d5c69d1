//! Randomness as a port: every id and secret is minted here.

use compass_domain::{AccountId, AskId, ChannelId, GroupId, MessageId, NodeId, SessionId, TokenId, TopicId};

/// Mints ids and secrets.
pub trait Ids: Send + Sync {
    /// 16 bytes that increase with time (UUID version 7).
    fn ordered(&self) -> [u8; 16];

    /// 16 bytes that nobody can guess.
    fn random(&self) -> [u8; 16];

    /// 32 bytes that nobody can guess; the value of a token.
    fn secret(&self) -> [u8; 32];

    /// A new message's id.
    fn message(&self) -> MessageId {
        MessageId::from_bytes(self.ordered())
    }

    /// A new ask's id.
    fn ask(&self) -> AskId {
        AskId::from_bytes(self.ordered())
    }

    /// A new account's id.
    fn account(&self) -> AccountId {
        AccountId::from_bytes(self.random())
    }

    /// A new channel's id.
    fn channel(&self) -> ChannelId {
        ChannelId::from_bytes(self.random())
    }

    /// A new group's id.
    fn group(&self) -> GroupId {
        GroupId::from_bytes(self.random())
    }

    /// A new topic's id.
    fn topic(&self) -> TopicId {
        TopicId::from_bytes(self.random())
    }

    /// A new session's id.
    fn session(&self) -> SessionId {
        SessionId::from_bytes(self.random())
    }

    /// A new token's public id.
    fn token(&self) -> TokenId {
        TokenId::from_bytes(self.random())
    }

    /// A server process's id.
    fn node(&self) -> NodeId {
        NodeId::from_bytes(self.random())
    }
}
