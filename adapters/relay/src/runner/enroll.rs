//! Enroll: a process says which runner it is and what its sessions are for.

use compass_domain::{
    Classified, ErrorKind,
    limits::{self, LimitError},
};
use compass_hub::{
    ports::AttachMode,
    sessions::{Enroll, EnrollError},
};
use compass_proto::v1;
use tonic::{Request, Status};

use super::{RunnerDoor, key};
use crate::{error::DoorError, status::status};

/// Why an enrolment is refused.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Door(#[from] DoorError),
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error(transparent)]
    Hub(#[from] EnrollError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Door(error) => error.kind(),
            Self::Limit(_) => ErrorKind::InvalidArgument,
            Self::Hub(error) => error.kind(),
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
        let enroll = Enroll {
            runner,
            mode: mode(request.mode).map_err(|error| status(&error))?,
            take_over: request.take_over,
            instance: instance(request.instance_id).map_err(|error| status(&error))?,
        };
        let reattached = self.hub.enroll(&enroll).await.map_err(|error| status(&Error::from(error)))?;
        Ok(v1::EnrollResponse { reattached })
    }
}

/// The id of a process; short, because the server keeps it.
fn instance(text: String) -> Result<String, Error> {
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
    use super::*;

    #[test]
    fn an_unknown_mode_names_its_field() {
        assert_eq!(mode(7).unwrap_err().to_string(), "mode cannot be 7");
        assert_eq!(mode(1).unwrap(), AttachMode::PresenceOnly);
    }

    #[test]
    fn an_instance_id_is_bounded() {
        assert!(instance("a".repeat(64)).is_ok());
        let text = instance("a".repeat(65)).unwrap_err().to_string();
        assert!(text.contains("instance_id") && text.contains("65") && text.contains("64"), "{text}");
    }
}
