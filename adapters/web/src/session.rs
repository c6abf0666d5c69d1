//! `/session`: a person signs in, signs out, or is found to be signed in.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
    routing::get,
};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, SET_COOKIE},
};

use crate::{
    cookie::{self, SessionCookie},
    credential::{self, Credential},
    error::Error,
    origin,
    sessions::Sessions,
};

type Port = State<Arc<dyn Sessions>>;

/// The one path.
pub(crate) fn router(sessions: Arc<dyn Sessions>) -> Router {
    Router::new().route("/session", get(is_open).post(open).delete(close)).with_state(sessions)
}

/// 204 if the cookie's session goes on, else 401.
async fn is_open(State(sessions): Port, request: Request) -> Result<Response, Error> {
    let Some(cookie) = request.extensions().get::<SessionCookie>() else { return Err(Error::NoSession) };
    if sessions.is_open(cookie.token()).await? { Ok(done(None)) } else { Err(Error::NoSession) }
}

/// Trades what the body holds for a session and sets the cookie; a session that the browser had ends.
async fn open(State(sessions): Port, request: Request) -> Result<Response, Error> {
    origin::check(request.uri(), request.headers())?;
    let is_secure = origin::is_secure(request.headers());
    let before = request.extensions().get::<SessionCookie>().cloned();
    let opened = match credential::read(request.into_body()).await? {
        Credential::SignIn(secret) => sessions.open_with_sign_in(&secret).await?,
        Credential::Token(token) => sessions.open_with_token(&token).await?,
    };
    if let Some(before) = before
        && let Err(refusal) = sessions.close(before.token()).await
    {
        // The new session stands; the old one ends by itself.
        tracing::warn!(kind = ?refusal.kind, "a session that was replaced could not be ended");
    }
    let cookie = cookie::set(&opened.token, opened.lasts, is_secure).ok_or(Error::NoCookie)?;
    Ok(done(Some(cookie)))
}

/// Ends the cookie's session and clears the cookie; without a session only that.
async fn close(State(sessions): Port, request: Request) -> Result<Response, Error> {
    origin::check(request.uri(), request.headers())?;
    if let Some(cookie) = request.extensions().get::<SessionCookie>() {
        sessions.close(cookie.token()).await?;
    }
    Ok(done(cookie::clear(origin::is_secure(request.headers()))))
}

fn done(cookie: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = cookie {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}
