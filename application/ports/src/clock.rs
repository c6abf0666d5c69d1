//! Time as a port.

use compass_domain::UnixMillis;

/// The server's clock.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970 now.
    fn now(&self) -> UnixMillis;
}
