//! Tells a server that was never heard of in the protocol from one that broke off.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tonic::{
    ConnectError, Status, TimeoutExpired,
    body::Body,
    codegen::{BoxFuture, Service, StdError, http},
};

/// Why a server was never heard of: it is something else than the address says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherProtocol {
    /// The address says http, and what answers does not speak HTTP/2 in clear.
    NotInClear,
    /// The address says https, and what answers does not speak TLS.
    NotTls,
}

impl std::fmt::Display for OtherProtocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotInClear => {
                "what answers there does not speak HTTP/2 in clear; the address of a server behind TLS begins with \
                 https://"
            }
            Self::NotTls => {
                "what answers there does not speak TLS; the address of a server without TLS begins with http://"
            }
        })
    }
}

impl Error for OtherProtocol {}

/// A connection that knows whether the server was ever heard of over it. Cloning it shares what is known.
#[derive(Debug, Clone)]
pub struct Contact<S> {
    inner: S,
    is_tls: bool,
    heard: Arc<AtomicBool>,
}

impl<S> Contact<S> {
    /// A connection over which nothing was heard yet, to an address of this scheme.
    pub fn new(inner: S, scheme: Option<&str>) -> Self {
        Self { inner, is_tls: scheme == Some("https"), heard: Arc::default() }
    }
}

impl<S> Service<http::Request<Body>> for Contact<S>
where
    S: Service<http::Request<Body>>,
    S::Error: Into<StdError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = StdError;
    type Future = BoxFuture<S::Response, StdError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        let ready = self.inner.poll_ready(context);
        ready.map_err(|error| told(error.into(), self.is_tls, self.heard.load(Ordering::Relaxed)))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (called, is_tls, heard) = (self.inner.call(request), self.is_tls, Arc::clone(&self.heard));
        Box::pin(async move {
            match called.await {
                Ok(response) => {
                    heard.store(true, Ordering::Relaxed);
                    Ok(response)
                }
                Err(error) => Err(told(error.into(), is_tls, heard.load(Ordering::Relaxed))),
            }
        })
    }
}

/// The error that says what the server is instead, if that is what is wrong.
fn told(error: StdError, is_tls: bool, heard: bool) -> StdError {
    let first: &(dyn Error + 'static) = &*error;
    if let Some(other) = of_connecting(first).filter(|_| is_tls) {
        return Box::new(other);
    }
    let is_other = |error: &(dyn Error + 'static)| {
        // No connection at all, or a slow one, tells nothing about what is at its other end.
        error.is::<ConnectError>() || error.is::<TimeoutExpired>() || error.is::<Status>()
    };
    if is_tls || heard || chain(first).any(is_other) {
        return error;
    }
    Box::new(OtherProtocol::NotInClear)
}

/// What the server is instead, by the error of a connection that was not made. The TLS library's type for it is not ours
/// to know, so its words are.
pub fn of_connecting(error: &(dyn Error + 'static)) -> Option<OtherProtocol> {
    let innermost = chain(error).last()?;
    innermost.to_string().contains("InvalidContentType").then_some(OtherProtocol::NotTls)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// What the server of a failed call is instead, if it was never heard of for that reason.
pub fn other_protocol(status: &Status) -> Option<OtherProtocol> {
    chain(status.source()?).find_map(|error| error.downcast_ref::<OtherProtocol>()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(text: &str) -> StdError {
        std::io::Error::other(text.to_owned()).into()
    }

    #[test]
    fn only_a_server_that_was_never_heard_of_may_be_something_else() {
        let says =
            |error: StdError, is_tls, heard| told(error, is_tls, heard).downcast::<OtherProtocol>().ok();
        let broke = || io("connection reset");
        assert_eq!(says(broke(), false, false).as_deref(), Some(&OtherProtocol::NotInClear));
        assert!(says(broke(), false, true).is_none(), "it broke off");
        assert!(says(broke(), true, false).is_none(), "TLS was agreed on");
        let no_tls = || io("received corrupt message of type InvalidContentType");
        assert_eq!(says(no_tls(), true, false).as_deref(), Some(&OtherProtocol::NotTls));
        assert!(says(Box::new(ConnectError(io("refused"))), false, false).is_none(), "nobody is there");
        assert!(says(Box::new(TimeoutExpired(())), false, false).is_none(), "it is slow");
    }

    #[test]
    fn what_the_server_is_instead_is_found_in_the_status_of_a_call() {
        let status = Status::from_error(Box::new(OtherProtocol::NotTls));
        assert_eq!(other_protocol(&status), Some(OtherProtocol::NotTls));
        assert_eq!(other_protocol(&Status::unavailable("x")), None);
    }
}
