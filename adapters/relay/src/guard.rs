//! What every request passes before its door: who calls, may it, and for how long.

use std::{future::Future, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, StatusCode, header::WWW_AUTHENTICATE};
use tonic::Status;
use tracing::Instrument as _;

use crate::{
    auth::{Auth, Principal},
    doors::{self, Class, Rpc, Shape},
    error::DoorError,
    status::{over_http, status},
};

/// After this a call that is no stream ends, with a code that says what is known of its outcome.
pub const UNARY_DEADLINE: Duration = Duration::from_secs(30);

/// The same for a call that waits for a runner, which may be asked two things one after the other.
pub const COMMAND_DEADLINE: Duration = Duration::from_secs(150);

/// Lets a request through to its door, or answers for it.
pub(crate) async fn guard(State(auth): State<Auth>, mut request: Request, next: Next) -> Response {
    let rpc = doors::find(request.uri().path());
    if rpc.is_none_or(|rpc| rpc.class != Class::Open) {
        let admitted = match auth.identify(request.headers()).await {
            Ok(identity) => doors::admit(rpc.map(|rpc| rpc.class), identity.principal())
                .map(|()| identity)
                .map_err(|error| status(&error)),
            Err(refused) => Err(refused),
        };
        match admitted {
            Ok(identity) => drop(request.extensions_mut().insert(identity)),
            Err(refused) => return refused.into_http(),
        }
    }
    let Some(rpc) = rpc else { return status(&DoorError::Unauthenticated).into_http() };
    let span = tracing::debug_span!("rpc.serve", rpc.service = rpc.service, rpc.method = rpc.method);
    bounded(rpc, next.run(request)).instrument(span).await
}

async fn bounded(rpc: &Rpc, response: impl Future<Output = Response>) -> Response {
    let limit = match rpc.shape {
        Shape::Stream => return response.await,
        Shape::Read | Shape::Write => UNARY_DEADLINE,
        Shape::Command => COMMAND_DEADLINE,
    };
    let late = match rpc.shape {
        Shape::Read => DoorError::TooSlow(limit.as_secs()),
        Shape::Write | Shape::Command | Shape::Stream => DoorError::OutcomeUnknown(limit.as_secs()),
    };
    match tokio::time::timeout(limit, response).await {
        Ok(response) => response,
        Err(_) => status(&late).into_http(),
    }
}

/// Lets an agent's request over plain HTTP through, or answers for it: 401 without a token that works, 403 for a
/// token that is nobody's who is served here.
pub(crate) async fn agents_only(State(auth): State<Auth>, mut request: Request, next: Next) -> Response {
    let identity = match auth.identify(request.headers()).await {
        Ok(identity) => identity,
        Err(refused) => {
            let status = over_http(&refused);
            let mut response = (status, refused.message().to_owned()).into_response();
            if status == StatusCode::UNAUTHORIZED {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            return response;
        }
    };
    let is_agent = matches!(identity.principal(), Principal::Account(caller) if caller.actor.is_agent());
    if !is_agent {
        return (StatusCode::FORBIDDEN, DoorError::Forbidden("agents").to_string()).into_response();
    }
    request.extensions_mut().insert(identity);
    next.run(request).instrument(tracing::debug_span!("agents.serve")).await
}

/// Answers gRPC requests for services that are not here; everything else goes on to the page.
pub(crate) async fn outside(request: Request, next: Next) -> Response {
    let kind = request.headers().get(http::header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc")) {
        return unknown_service().into_http();
    }
    next.run(request).await
}

fn unknown_service() -> Status {
    crate::status::unimplemented("this service")
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tonic::Code;

    use super::*;

    async fn code_of_a_call_that_hangs(path: &str) -> Option<Code> {
        let rpc = doors::find(path).unwrap();
        let response = bounded(rpc, pending()).await;
        response.headers().get("grpc-status").map(|status| Code::from_bytes(status.as_bytes()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_hangs_ends_as_unavailable_and_a_write_as_unknown() {
        let read = code_of_a_call_that_hangs("/compass.v1.CommsService/ListMessages").await;
        assert_eq!(read, Some(Code::Unavailable));
        let write = code_of_a_call_that_hangs("/compass.v1.CommsService/PostMessage").await;
        assert_eq!(write, Some(Code::Unknown), "it may still be kept");
        let began = tokio::time::Instant::now();
        let command = code_of_a_call_that_hangs("/compass.v1.CompassService/SpawnAgent").await;
        assert_eq!((command, began.elapsed()), (Some(Code::Unknown), COMMAND_DEADLINE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_and_an_answer_in_time_are_left_alone() {
        let stream = doors::find("/compass.v1.CommsService/SubscribeComms").unwrap();
        let days = Duration::from_hours(168);
        let late = async {
            tokio::time::sleep(days).await;
            Response::default()
        };
        assert_eq!(bounded(stream, late).await.headers().get("grpc-status"), None);
        let read = doors::find("/compass.v1.CommsService/ListMessages").unwrap();
        assert_eq!(bounded(read, ready(Response::default())).await.headers().get("grpc-status"), None);
    }
}
