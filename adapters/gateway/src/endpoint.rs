//! Where the server is and with which token it is spoken to.

use std::time::Duration;

use compass_proto::contact::Contact;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::Interceptor,
    transport::{self, Channel, ClientTlsConfig},
};

/// Bytes of one message in either direction.
pub(crate) const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// A call that takes longer has an unknown outcome.
pub(crate) const CALL_DEADLINE: Duration = Duration::from_secs(30);

/// A server's address and an agent's or runner's token.
#[derive(Clone)]
pub struct Endpoint {
    server: transport::Endpoint,
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
        let server =
            transport::Endpoint::from_shared(url.to_owned()).map_err(|error| bad_url(error.to_string()))?;
        let server = match server.uri().scheme_str() {
            Some("http") => server,
            Some("https") => {
                let tls = ClientTlsConfig::new().with_native_roots();
                server.tls_config(tls).map_err(|error| bad_url(error.to_string()))?
            }
            _ => return Err(bad_url("it must start with http:// or https://".into())),
        };
        let server = server
            .tcp_nodelay(true)
            .connect_timeout(Duration::from_secs(5))
            .http2_keep_alive_interval(Duration::from_secs(20))
            .keep_alive_timeout(Duration::from_secs(10))
            .keep_alive_while_idle(true);
        let mut bearer: MetadataValue<Ascii> =
            format!("Bearer {token}").parse().map_err(|_| EndpointError::Token)?;
        bearer.set_sensitive(true);
        Ok(Self { server, bearer })
    }

    /// A channel that connects on first use and again after it broke.
    pub(crate) fn channel(&self) -> Contact<Channel> {
        Contact::new(self.server.connect_lazy(), self.server.uri().scheme_str())
    }

    pub(crate) fn bearer(&self) -> Bearer {
        Bearer(self.bearer.clone())
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("uri", self.server.uri()).finish_non_exhaustive()
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
    use compass_agent::ports::{CallError, Mailbox};
    use tokio::{io::AsyncReadExt, net::TcpListener};

    use super::*;
    use crate::AgentDoor;

    #[test]
    fn an_address_needs_scheme_and_host() {
        for good in ["http://127.0.0.1:7420", "https://compass.example"] {
            assert!(Endpoint::new(good, "t").is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:7420", "not a url", "ftp://compass.example"] {
            assert!(matches!(Endpoint::new(bad, "t"), Err(EndpointError::Url { .. })), "{bad}");
        }
    }

    #[tokio::test]
    async fn an_https_address_is_spoken_to_in_tls() {
        let server = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}", server.local_addr().expect("an address"));
        let door = AgentDoor::new(&Endpoint::new(&url, "t").expect("valid"));
        let first_byte = async {
            let (mut client, _) = server.accept().await.expect("a client");
            client.read_u8().await.expect("a byte")
        };
        let (first_byte, fetched) = tokio::join!(first_byte, door.fetch(1, None));
        assert_eq!(first_byte, 22, "the type of a handshake record");
        assert!(matches!(fetched, Err(CallError::Unreachable(_))), "{fetched:?}");
    }

    #[tokio::test]
    async fn a_server_whose_name_is_unknown_cannot_be_reached() {
        let door = AgentDoor::new(&Endpoint::new("http://compass.invalid:1", "t").expect("valid"));
        let fetched = door.fetch(1, None).await;
        assert!(matches!(fetched, Err(CallError::Unreachable(_))), "{fetched:?}");
    }

    #[test]
    fn a_token_is_never_shown() {
        let endpoint = Endpoint::new("http://127.0.0.1:7420", "secret-token").expect("valid");
        assert!(!format!("{endpoint:?}").contains("secret-token"));
        let error = Endpoint::new("http://127.0.0.1:7420", "secret\ntoken").expect_err("refused");
        assert!(!error.to_string().contains("secret\n"));
    }
}
