//! The page on the server's own port: where it is, and the sessions of the people who use it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use compass_comms::{
    Comms,
    tokens::{
        authenticate,
        session::{self, Session},
    },
};
use compass_domain::Classified;
use compass_relay::{
    auth::{Auth, Principal},
    status::refusal,
};
use compass_web::{Files, Opened, Refusal, Sessions};

use crate::failure::Failure;

/// The address of the page of a server that listens at `address`; whoever listens everywhere is here, too.
pub(crate) fn url(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("http://localhost:{}", address.port());
    }
    format!("http://{address}")
}

/// What opens the page for who signs in with this secret. It stands behind the `#`, so that no browser sends it
/// anywhere before the page does, and no proxy logs it.
pub(crate) fn sign_in_link(url: &str, secret: &str) -> String {
    format!("{url}/sign-in#{secret}")
}

/// People's sessions, over the use cases and what the doors believe.
pub(crate) struct People {
    comms: Comms,
    auth: Auth,
}

impl People {
    /// Sessions whose end the doors that `auth` guards hear of at once.
    pub(crate) fn new(comms: Comms, auth: Auth) -> Arc<Self> {
        Arc::new(Self { comms, auth })
    }

    fn opened(&self, session: Session) -> Opened {
        let lasts_ms = session.expires_at.0.saturating_sub(self.comms.clock.now().0);
        let lasts = Duration::from_millis(u64::try_from(lasts_ms).unwrap_or(0));
        Opened { token: session.token, lasts }
    }
}

/// The page that is built into this program.
///
/// # Errors
///
/// [`Failure::Local`] if there is none.
pub(crate) fn files() -> Result<Files, Failure> {
    Files::embedded().map_err(|error| Failure::Local(error.to_string()))
}

#[async_trait]
impl Sessions for People {
    async fn open_with_sign_in(&self, secret: &str) -> Result<Opened, Refusal> {
        let session =
            session::open_with_sign_in(&self.comms, secret).await.map_err(|error| refused(&error))?;
        Ok(self.opened(session))
    }

    async fn open_with_token(&self, token: &str) -> Result<Opened, Refusal> {
        let session = session::open_with_token(&self.comms, token).await.map_err(|error| refused(&error))?;
        Ok(self.opened(session))
    }

    async fn is_open(&self, token: &str) -> Result<bool, Refusal> {
        match self.auth.principal(token).await.as_deref() {
            Ok(Principal::Account(caller)) => Ok(!caller.actor.is_agent()),
            Ok(Principal::Runner { .. }) | Err(authenticate::Error::Unauthenticated) => Ok(false),
            Err(error @ authenticate::Error::Storage(_)) => Err(refused(error)),
        }
    }

    async fn close(&self, token: &str) -> Result<(), Refusal> {
        let closed = session::close(&self.comms, token).await;
        // After a failure too: its outcome may be unknown.
        self.auth.revoked();
        closed.map_err(|error| refused(&error))
    }
}

fn refused(error: &dyn Classified) -> Refusal {
    Refusal { kind: error.kind(), text: refusal(error).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_server_that_listens_everywhere_is_on_this_machine() {
        let url = |address: &str| url(address.parse().expect("an address"));
        assert_eq!(url("127.0.0.1:7420"), "http://127.0.0.1:7420");
        assert_eq!(url("[::1]:80"), "http://[::1]:80");
        assert_eq!(url("0.0.0.0:7420"), "http://localhost:7420");
        assert_eq!(url("[::]:7420"), "http://localhost:7420");
    }

    #[test]
    fn the_secret_of_a_link_stands_behind_the_hash() {
        assert_eq!(sign_in_link("http://127.0.0.1:7420", "s3cret"), "http://127.0.0.1:7420/sign-in#s3cret");
    }
}
