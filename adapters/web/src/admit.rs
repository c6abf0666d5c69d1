//! Turns the session's cookie of the page's own requests into the bearer token that every door asks for.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderValue, header::AUTHORIZATION};

use crate::{cookie, origin, sessions::Sessions};

/// Passes a request on without our cookie, and with its token if the request is the page's own.
///
/// A request that brings a token itself keeps that and no other.
pub(crate) async fn admit(
    State(sessions): State<Arc<dyn Sessions>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(cookie) = cookie::take(request.headers_mut()) else { return next.run(request).await };
    let is_of_page = origin::check(request.uri(), request.headers()).is_ok();
    if is_of_page && !request.headers().contains_key(AUTHORIZATION) {
        // What cannot be found out now is left to the doors, which find it out again and say why they cannot.
        if sessions.is_open(cookie.token()).await.unwrap_or(true)
            && let Ok(mut bearer) = HeaderValue::try_from(format!("Bearer {}", cookie.token()))
        {
            bearer.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, bearer);
        }
        request.extensions_mut().insert(cookie);
    }
    next.run(request).await
}
