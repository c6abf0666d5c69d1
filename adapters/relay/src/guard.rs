//! What every request passes before its door: who calls, may it, and for how long.

use std::{future::Future, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use tonic::Status;
use tracing::Instrument as _;

use crate::{
    auth::Auth,
    doors::{self, Class, Rpc, Shape},
    error::DoorError,
    status::status,
};

/// After this a call that is no stream ends, with a code that says what is known of its outcome.
pub const UNARY_DEADLINE: Duration = Duration::from_secs(30);

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
    let limit = UNARY_DEADLINE.as_secs();
    let late = match rpc.shape {
        Shape::Stream => return response.await,
        Shape::Read => DoorError::TooSlow(limit),
        Shape::Write => DoorError::OutcomeUnknown(limit),
    };
    match tokio::time::timeout(UNARY_DEADLINE, response).await {
        Ok(response) => response,
        Err(_) => status(&late).into_http(),
    }
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
