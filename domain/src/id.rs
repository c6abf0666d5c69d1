//! One typed id per entity, and the numbers that order things.

use std::{fmt, str::FromStr, sync::Arc};

/// A text that is not 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id: expected 32 lower-case hexadecimal digits")]
pub struct InvalidId;

macro_rules! typed_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Wraps 16 bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_hex(text).map(Self)
            }
        }
    )*};
}

typed_id! {
    /// A person, an agent or the system sender.
    AccountId;
    /// A channel.
    ChannelId;
    /// A group of channels.
    GroupId;
    /// A topic of a channel.
    TopicId;
    /// A message; time-ordered.
    MessageId;
    /// An ask; time-ordered, minted by the server.
    AskId;
    /// A live session of an agent; unguessable, minted by the server.
    SessionId;
    /// The public name of a token; says nothing about its value.
    TokenId;
    /// A server process.
    NodeId;
}

/// The tenant every row belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// The tenant of a fresh install.
    pub fn default_tenant() -> Self {
        Self("default".into())
    }

    /// Wraps a tenant's name as storage gave it.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message's place in its channel: dense, starting at 1, in commit order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Seq(pub u64);

impl Seq {
    /// The seq after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// A message's place in the whole table: increasing with gaps; only bounds snapshots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub u64);

/// Milliseconds since 1970-01-01T00:00:00Z by the server's clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct UnixMillis(pub i64);

fn write_hex(bytes: &[u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

fn parse_hex(text: &str) -> Result<[u8; 16], InvalidId> {
    let digits = text.as_bytes();
    if digits.len() != 32 {
        return Err(InvalidId);
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        for &digit in pair {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return Err(InvalidId),
            };
            *byte = (*byte << 4) | value;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_what_it_prints() {
        let id = MessageId::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xff]);
        assert_eq!(id.to_string(), "000102030405060708090a0b0c0d0eff");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn only_32_lower_case_hex_digits_are_an_id() {
        for text in ["", "00", "000102030405060708090A0b0c0d0eff", "g00102030405060708090a0b0c0d0eff"] {
            assert_eq!(text.parse::<AskId>(), Err(InvalidId), "{text}");
        }
    }
}
