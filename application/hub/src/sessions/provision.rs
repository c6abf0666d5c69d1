//! Places an agent on a runner.

use std::fmt::Write as _;

use compass_domain::{AccountId, Classified, ErrorKind, TenantId, limits};
use compass_ports::StorageError;
use sha2::{Digest as _, Sha256};

use super::RunnerKey;
use crate::{
    Hub,
    notes::NoteKind,
    ports::{Address, Command, LaunchError, NewPlacement, Outcome},
};

/// Keeps these request ids apart from every other hash.
const DOMAIN: &[u8] = b"compass.provision.v1";

/// Where an agent is to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provision {
    /// Which agent.
    pub account: AccountId,
    /// The caller's id of this request; a repeat joins. Without one nothing does.
    pub client_request_id: String,
    /// On which runner; without one its placement decides, or the only one that is attached.
    pub runner: Option<String>,
}

/// Why an agent was not placed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProvisionError {
    /// Nothing says where.
    #[error("no runner is attached: start one with \"compass runner\"")]
    NoRunner,
    /// More than one could take it.
    #[error("several runners are attached; name one of {}", .names.join(", "))]
    SeveralRunners {
        /// Their names.
        names: Vec<String>,
    },
    /// The runner did not place it.
    #[error("runner {runner}: {error}")]
    Runner {
        /// Which runner.
        runner: String,
        /// What it said.
        error: LaunchError,
    },
    /// The container is another agent's.
    #[error("runner {runner} gave a container that belongs to another agent")]
    ContainerTaken {
        /// Which runner.
        runner: String,
    },
    /// The placement could not be read or kept.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The server stops.
    #[error("the server is stopping")]
    Stopping,
}

impl Classified for ProvisionError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoRunner | Self::SeveralRunners { .. } => ErrorKind::FailedPrecondition,
            Self::Runner { error, .. } => error.kind(),
            Self::ContainerTaken { .. } => ErrorKind::Conflict,
            Self::Storage(error) => error.kind(),
            Self::Stopping => ErrorKind::Unavailable,
        }
    }
}

impl Hub {
    /// Has a runner make a container for an agent and keeps where it is. The container's name.
    ///
    /// A repeat with the same client request id joins the one in flight. Hanging up cancels nothing.
    ///
    /// # Errors
    ///
    /// [`ProvisionError`]; the agent's placement is as it was.
    pub async fn provision(&self, tenant: &TenantId, request: Provision) -> Result<String, ProvisionError> {
        let tenant = tenant.clone();
        let placed =
            self.detached_from_caller(|hub| async move { hub.provision_noted(&tenant, request).await });
        placed.await.unwrap_or(Err(ProvisionError::Stopping))
    }

    async fn provision_noted(&self, tenant: &TenantId, request: Provision) -> Result<String, ProvisionError> {
        let account = request.account;
        let placed = self.provision_now(tenant, request).await;
        if let Err(error) = &placed {
            self.note(tenant, account, NoteKind::Failed, &format!("not placed: {error}"));
        }
        placed
    }

    async fn provision_now(&self, tenant: &TenantId, request: Provision) -> Result<String, ProvisionError> {
        let account = request.account;
        let runner = self.choose_runner(tenant, account, request.runner).await?;
        let key = RunnerKey::Named { tenant: tenant.clone(), name: runner.clone() };
        let request_id = match request.client_request_id.as_str() {
            "" => self.request_id(),
            given => request_id(given, account),
        };
        let wake = self.enrollments.wake_policy(&key, account);
        let sent = self.command(&Address::Runner(key), &request_id, Command::Provision { account }).await;
        let container = match sent {
            Ok(Outcome::Provisioned { container }) if is_name(&container) => container,
            Ok(_) => return Err(ProvisionError::Runner { runner, error: LaunchError::Mismatch }),
            Err(error) => return Err(ProvisionError::Runner { runner, error }),
        };
        let placement = NewPlacement { account, runner: runner.clone(), container: container.clone(), wake };
        match self.ports.placements.upsert(tenant, &placement).await {
            Ok(()) => Ok(container),
            Err(StorageError::Conflict(_)) => Err(ProvisionError::ContainerTaken { runner }),
            Err(error) => Err(error.into()),
        }
    }

    /// The runner that is asked for; else the agent's; else the only one that is attached.
    async fn choose_runner(
        &self,
        tenant: &TenantId,
        account: AccountId,
        asked: Option<String>,
    ) -> Result<String, ProvisionError> {
        if let Some(asked) = asked {
            return Ok(asked);
        }
        if let Some(placement) = self.ports.placements.find(tenant, account).await? {
            return Ok(placement.runner);
        }
        let mut names = self.ports.launcher.attached(tenant);
        match (names.pop(), names.is_empty()) {
            (None, _) => Err(ProvisionError::NoRunner),
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                names.push(last);
                Err(ProvisionError::SeveralRunners { names })
            }
        }
    }
}

/// A container's name is kept, so it is bounded; a runner that gives another one is at fault.
fn is_name(container: &str) -> bool {
    !container.is_empty() && limits::check_bytes("container_name", container, limits::ID_BYTES).is_ok()
}

/// The same for a repeat, another one for another account: every part goes in with its length.
fn request_id(client_request_id: &str, account: AccountId) -> String {
    let mut hash = Sha256::new();
    for part in [DOMAIN, client_request_id.as_bytes(), account.as_bytes()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_containers_name_is_bounded() {
        for (name, expected) in [("", false), ("box", true)] {
            assert_eq!(is_name(name), expected, "{name:?}");
        }
        assert!(is_name(&"x".repeat(64)) && !is_name(&"x".repeat(65)));
    }

    #[test]
    fn a_request_id_depends_on_the_client_and_on_the_account() {
        let account = |byte| AccountId::from_bytes([byte; 16]);
        let id = request_id("a", account(1));
        assert_eq!(id, request_id("a", account(1)));
        assert_ne!(id, request_id("b", account(1)));
        assert_ne!(id, request_id("a", account(2)));
        assert_eq!(id.len(), 64);
    }
}
