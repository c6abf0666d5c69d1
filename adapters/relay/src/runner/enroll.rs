//! Enroll: a process says which runner it is and what its sessions are for.

use compass_domain::{
    AccountId, Classified, ErrorKind, WakePolicy,
    limits::{self, LimitError},
};
use compass_hub::{
    ports::AttachMode,
    sessions::{Enroll, EnrollError, RunnerKey},
};
use compass_ports::StorageError;
use compass_proto::v1;
use tonic::{Request, Status};

use super::{RunnerDoor, key};
use crate::{error::DoorError, mapping, status::status};

/// Why an enrolment is refused.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Door(#[from] DoorError),
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error(transparent)]
    Hub(#[from] EnrollError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Door(error) => error.kind(),
            Self::Limit(_) => ErrorKind::InvalidArgument,
            Self::Hub(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }
}

impl RunnerDoor {
    pub(super) async fn enroll_process(
        &self,
        request: Request<v1::EnrollRequest>,
    ) -> Result<v1::EnrollResponse, Status> {
        let (_, runner) = key::runner(&request)?;
        let request = request.into_inner();
        // Another runner's name is as good as no credential: the answer tells nothing about it.
        if !request.runner_id.is_empty() && request.runner_id != runner.name() {
            return Err(status(&DoorError::Unauthenticated));
        }
        let wake = wake(&request.wake).map_err(|error| status(&error))?;
        let enroll = Enroll {
            instance: instance(&runner, request.instance_id).map_err(|error| status(&error))?,
            runner,
            mode: mode(request.mode).map_err(|error| status(&error))?,
            take_over: request.take_over,
        };
        let reattached = self.hub.enroll(&enroll).await.map_err(|error| status(&Error::from(error)))?;
        let kept = self.hub.set_wake_policies(&enroll.runner, wake).await;
        kept.map_err(|error| status(&Error::from(error)))?;
        Ok(v1::EnrollResponse { reattached })
    }
}

/// When to wake which agent.
fn wake(entries: &[v1::AgentWake]) -> Result<Vec<(AccountId, WakePolicy)>, Error> {
    let policies = entries.iter().enumerate().map(|(index, entry)| {
        let field = format!("wake[{index}].agent_account_id");
        let text = mapping::given(&field, &entry.agent_account_id)?;
        let account =
            text.parse().map_err(|_| DoorError::UnknownReference { field, text: text.to_owned() })?;
        let policy = match v1::WakePolicy::try_from(entry.policy) {
            Ok(v1::WakePolicy::Mention) => WakePolicy::Mention,
            Ok(v1::WakePolicy::Any) => WakePolicy::Any,
            Ok(v1::WakePolicy::Never) => WakePolicy::Never,
            Err(_) => return Err(DoorError::EnumValue { field: "policy", value: entry.policy }.into()),
        };
        Ok((account, policy))
    });
    policies.collect()
}

/// The id of a process; short, because the server keeps it. A runner that is no agent has to name its process, or
/// a second one could not be told from it.
fn instance(runner: &RunnerKey, text: String) -> Result<String, Error> {
    if let RunnerKey::Named { .. } = runner {
        mapping::given("instance_id", &text)?;
    }
    limits::check_bytes("instance_id", &text, limits::ID_BYTES)?;
    Ok(text)
}

fn mode(value: i32) -> Result<AttachMode, Error> {
    match v1::AttachMode::try_from(value) {
        Ok(v1::AttachMode::Deliveries) => Ok(AttachMode::Deliveries),
        Ok(v1::AttachMode::PresenceOnly) => Ok(AttachMode::PresenceOnly),
        Err(_) => Err(DoorError::EnumValue { field: "mode", value }.into()),
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::TenantId;

    use super::*;

    #[test]
    fn an_unknown_mode_names_its_field() {
        assert_eq!(mode(7).unwrap_err().to_string(), "mode cannot be 7");
        assert_eq!(mode(1).unwrap(), AttachMode::PresenceOnly);
    }

    fn named() -> RunnerKey {
        RunnerKey::Named { tenant: TenantId::default_tenant(), name: "r1".into() }
    }

    #[test]
    fn an_instance_id_is_bounded() {
        assert!(instance(&named(), "a".repeat(64)).is_ok());
        let text = instance(&named(), "a".repeat(65)).unwrap_err().to_string();
        assert!(text.contains("instance_id") && text.contains("65") && text.contains("64"), "{text}");
    }

    #[test]
    fn a_named_runner_names_its_process_and_an_agent_need_not() {
        let error = instance(&named(), String::new()).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::InvalidArgument, "instance_id is empty")
        );
        let account = AccountId::from_bytes([1; 16]);
        let agent = RunnerKey::Agent { tenant: TenantId::default_tenant(), account };
        assert_eq!(instance(&agent, String::new()).unwrap(), "");
    }

    #[test]
    fn a_wake_policy_names_the_entry_that_is_wrong() {
        let entry = |account: &str, policy| v1::AgentWake { agent_account_id: account.into(), policy };
        let id = "000102030405060708090a0b0c0d0e0f";
        assert_eq!(wake(&[entry(id, 2)]).unwrap(), [(id.parse().unwrap(), WakePolicy::Never)]);
        assert_eq!(wake(&[entry("", 0)]).unwrap_err().to_string(), "wake[0].agent_account_id is empty");
        let unknown = wake(&[entry(id, 0), entry("bot", 0)]).unwrap_err().to_string();
        assert_eq!(unknown, "wake[1].agent_account_id \"bot\" is unknown");
        assert_eq!(wake(&[entry(id, 9)]).unwrap_err().to_string(), "policy cannot be 9");
    }
}
