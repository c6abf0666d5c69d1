//! Where the server is and with which token it is spoken to.

use std::time::Duration;

use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::Interceptor,
    transport::{Channel, Uri},
};

/// Bytes of one message in either direction.
pub(crate) const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// A call that takes longer has an unknown outcome.
pub(crate) const CALL_DEADLINE: Duration = Duration::from_secs(30);

/// A server's address and an agent's or runner's token.
#[derive(Clone)]
pub struct Endpoint {
    uri: Uri,
    bearer: MetadataValue<Ascii>,
}

/// Why an address or a token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not a URL.
    #[error("url {url:?} is not valid: {reason}")]
    Url {
        /// What was given.
        url: String,
        /// Why not.
        reason: String,
    },
    /// A token holds characters no token has.
    #[error("the token holds characters that no token has")]
    Token,
}

impl Endpoint {
    /// Checks an address and a token; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`EndpointError`] that shows the address, never the token.
    pub fn new(url: &str, token: &str) -> Result<Self, EndpointError> {
        let bad_url = |reason: String| EndpointError::Url { url: url.to_owned(), reason };
        let uri: Uri =
            url.parse().map_err(|error: tonic::codegen::http::uri::InvalidUri| bad_url(error.to_string()))?;
        if uri.scheme().is_none() || uri.authority().is_none() {
            return Err(bad_url("it needs a scheme and a host, such as http://127.0.0.1:7420".into()));
        }
        let mut bearer: MetadataValue<Ascii> =
            format!("Bearer {token}").parse().map_err(|_| EndpointError::Token)?;
        bearer.set_sensitive(true);
        Ok(Self { uri, bearer })
    }

    /// A channel that connects on first use and again after it broke.
    pub(crate) fn channel(&self) -> Channel {
        Channel::builder(self.uri.clone())
            .tcp_nodelay(true)
            .connect_timeout(Duration::from_secs(5))
            .http2_keep_alive_interval(Duration::from_secs(20))
            .keep_alive_timeout(Duration::from_secs(10))
            .keep_alive_while_idle(true)
            .connect_lazy()
    }

    pub(crate) fn bearer(&self) -> Bearer {
        Bearer(self.bearer.clone())
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("uri", &self.uri).finish_non_exhaustive()
    }
}

/// Puts the token on every call.
#[derive(Clone)]
pub(crate) struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_scheme_and_host() {
        assert!(Endpoint::new("http://127.0.0.1:7420", "t").is_ok());
        for bad in ["", "127.0.0.1:7420", "not a url"] {
            assert!(matches!(Endpoint::new(bad, "t"), Err(EndpointError::Url { .. })), "{bad}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let endpoint = Endpoint::new("http://127.0.0.1:7420", "secret-token").expect("valid");
        assert!(!format!("{endpoint:?}").contains("secret-token"));
        let error = Endpoint::new("http://127.0.0.1:7420", "secret\ntoken").expect_err("refused");
        assert!(!error.to_string().contains("secret\n"));
    }
}
