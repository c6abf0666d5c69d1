//! Who calls: the bearer token of the `authorization` header and nothing else.

use std::{fmt, sync::Arc};

pub use compass_comms::tokens::authenticate::Principal;
use compass_comms::{
    Caller, Comms,
    tokens::authenticate::{self, authenticate},
};
use http::{HeaderMap, header::AUTHORIZATION};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::{believed::Believed, error::DoorError, recheck::Rechecks, status::status};

pub use crate::{believed::BELIEVED, recheck::RECHECKED};

/// Longer texts are no token of ours and are not hashed.
const LONGEST_TOKEN: usize = 256;

/// A caller whose token was checked, with the token for checking it again.
#[derive(Debug, Clone)]
pub struct Identity {
    principal: Arc<Principal>,
    credential: Credential,
}

impl Identity {
    /// Who it is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }
}

/// A token's value; never shown.
#[derive(Clone)]
struct Credential(Arc<str>);

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}

/// Why an open stream has to end.
#[derive(Debug)]
pub enum Ended {
    /// The server stops.
    Stopping,
    /// The token no longer works, or cannot be checked.
    Refused(Status),
}

/// Checks tokens and believes them for a moment.
#[derive(Clone)]
pub struct Auth {
    comms: Comms,
    believed: Arc<Believed>,
    rechecks: Arc<Rechecks>,
    revocations: Arc<watch::Sender<u64>>,
}

impl Auth {
    /// Checks tokens against the storage of `comms`.
    pub fn new(comms: Comms) -> Self {
        Self {
            rechecks: Arc::new(Rechecks::new(comms.clone())),
            comms,
            believed: Arc::default(),
            revocations: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Finds out who sent these headers.
    ///
    /// # Errors
    ///
    /// Unauthenticated, always in the same words, or what storage failed with.
    pub async fn identify(&self, headers: &HeaderMap) -> Result<Identity, Status> {
        let token = bearer(headers).ok_or_else(|| status(&DoorError::Unauthenticated))?;
        let principal = self.principal(token).await.map_err(|error| match error {
            authenticate::Error::Unauthenticated => status(&DoorError::Unauthenticated),
            failed @ authenticate::Error::Storage(_) => status(&failed),
        })?;
        Ok(Identity { principal, credential: Credential(token.into()) })
    }

    /// Finds out whom a token stands for.
    ///
    /// # Errors
    ///
    /// [`authenticate::Error`] if the token does not work, or storage fails.
    pub async fn principal(&self, token: &str) -> Result<Arc<Principal>, authenticate::Error> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let (known, generation) = self.believed.recall(&hash);
        if let Some(principal) = known {
            return Ok(principal);
        }
        let principal = Arc::new(authenticate(&self.comms, token).await?);
        self.believed.remember(hash, &principal, generation);
        Ok(principal)
    }

    /// Forgets every believed token and makes open streams check theirs, because one was revoked.
    pub fn revoked(&self) {
        self.believed.forget();
        self.revocations.send_modify(|count| *count += 1);
    }

    /// Waits until a stream opened by `identity` has to end: within [`RECHECKED`] of a revocation anywhere, at
    /// once for one on this node, and when the server stops.
    pub async fn ended(self, identity: Identity, stop: CancellationToken) -> Ended {
        let mut revocations = self.revocations.subscribe();
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ended::Stopping,
                () = self.rechecks.due() => {}
                _ = revocations.changed() => {}
            }
            match self.rechecks.ask(&identity.credential.0).await {
                Ok(now) if now == *identity.principal => {}
                Ok(_) => return Ended::Refused(status(&DoorError::Unauthenticated)),
                Err(refused) => return Ended::Refused(refused),
            }
        }
    }
}

/// The token of exactly one well-formed `authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
    let (scheme, rest) = value.split_once(' ')?;
    let token = rest.trim_start_matches(' ');
    let well_formed = scheme.eq_ignore_ascii_case("bearer")
        && !token.is_empty()
        && token.len() <= LONGEST_TOKEN
        && !token.contains(char::is_whitespace);
    well_formed.then_some(token)
}

/// Who called, as the guard found out.
///
/// # Errors
///
/// Unauthenticated if no guard stood before the door.
pub fn identity<T>(request: &tonic::Request<T>) -> Result<&Identity, Status> {
    request.extensions().get().ok_or_else(|| status(&DoorError::Unauthenticated))
}

/// The account that called.
///
/// # Errors
///
/// Unauthenticated if no guard stood before the door, or for a runner's token.
pub fn caller<T>(request: &tonic::Request<T>) -> Result<Caller, Status> {
    match identity(request)?.principal() {
        Principal::Account(caller) => Ok(caller.clone()),
        Principal::Runner { .. } => Err(status(&DoorError::Unauthenticated)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_scheme_is_case_insensitive_and_spaces_before_the_token_do_not_matter() {
        for value in ["Bearer abc", "bearer abc", "BEARER    abc"] {
            assert_eq!(bearer(&headers(&[value])), Some("abc"), "{value}");
        }
    }

    #[test]
    fn anything_but_one_bearer_token_is_no_token() {
        let long = format!("Bearer {}", "a".repeat(LONGEST_TOKEN + 1));
        for value in
            ["", "Bearer", "Bearer ", "abc", "Basic abc", "Bearer a b", "Bearer\tabc", "Bearer abc\t", &long]
        {
            assert_eq!(bearer(&headers(&[value])), None, "{value:?}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn a_second_authorization_header_makes_none() {
        assert_eq!(bearer(&headers(&["Bearer abc", "Bearer def"])), None);
    }

    #[test]
    fn identity_headers_of_proxies_are_inert() {
        let mut headers = HeaderMap::new();
        for name in ["x-forwarded-user", "x-remote-user", "proxy-authorization", "cookie"] {
            headers.insert(name, "Bearer abc".parse().unwrap());
        }
        assert_eq!(bearer(&headers), None);
    }

    #[test]
    fn a_credential_is_not_shown() {
        assert_eq!(format!("{:?}", Credential("secret".into())), "Credential(..)");
    }
}
