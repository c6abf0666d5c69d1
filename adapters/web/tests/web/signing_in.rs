//! `/session`: who is let in, what the cookie is, how a session ends, and what a refusal says.

use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};

use crate::support::{Kept, get, house, send};

const MARK: (&str, &str) = ("x-compass-page", "1");
const SIGN_IN: &str = r#"{"sign_in": "secret"}"#;
const TOKEN: &str = r#"{"token": "persons"}"#;
const COOKIE: (&str, &str) = ("cookie", "compass_session=persons");

#[tokio::test]
async fn a_sign_in_is_traded_once_for_a_cookie_that_lives_as_long_as_its_session() {
    let sessions = Kept::new();
    let house = house(&sessions);
    let answer = send(&house, "POST", "/session", &[MARK], SIGN_IN).await;
    assert_eq!((answer.status, answer.body.len()), (StatusCode::NO_CONTENT, 0));
    let cookie = "compass_session=session-2; HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000";
    assert_eq!(answer.header("set-cookie"), Some(cookie));
    assert!(answer.headers["set-cookie"].is_sensitive());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let again = send(&house, "POST", "/session", &[MARK], SIGN_IN).await;
    assert_eq!((again.status, again.header("set-cookie")), (StatusCode::UNAUTHORIZED, None));
    assert_eq!(again.error(), "the sign-in does not work");
    assert_eq!(again.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn a_token_is_traded_for_a_session_of_its_own() {
    let sessions = Kept::new();
    let house = house(&sessions);
    let answer = send(&house, "POST", "/session", &[MARK], TOKEN).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("compass_session=session-2;"), "{cookie}");
    let session = [MARK, ("cookie", "compass_session=session-2")];
    assert_eq!(send(&house, "DELETE", "/session", &session, "").await.status, StatusCode::NO_CONTENT);
    assert!(sessions.has("persons") && !sessions.has("session-2"));
    let agents = send(&house, "POST", "/session", &[MARK], r#"{"token": "agents"}"#).await;
    assert_eq!((agents.status, agents.error().as_str()), (StatusCode::FORBIDDEN, "the page is for people"));
    assert_eq!(agents.header("set-cookie"), None);
}

#[tokio::test]
async fn over_tls_the_cookie_comes_back_over_tls_only() {
    let house = house(&Kept::new());
    let host = ("host", "compass.example");
    for secure in [("origin", "https://compass.example"), ("x-forwarded-proto", "https")] {
        let headers = [MARK, host, secure];
        let opened = send(&house, "POST", "/session", &headers, TOKEN).await;
        assert!(opened.header("set-cookie").unwrap().ends_with("; Secure"), "{secure:?}");
        let closed = send(&house, "DELETE", "/session", &headers, "").await;
        assert!(closed.header("set-cookie").unwrap().ends_with("; Secure"), "{secure:?}");
    }
    let plain =
        send(&house, "POST", "/session", &[MARK, host, ("origin", "http://compass.example")], TOKEN).await;
    assert!(!plain.header("set-cookie").unwrap().contains("Secure"));
}

#[tokio::test]
async fn signing_out_ends_the_session_and_clears_the_cookie_and_a_repeat_is_fine() {
    let sessions = Kept::new();
    let house = house(&sessions);
    for headers in [&[MARK, COOKIE][..], &[MARK, COOKIE], &[MARK]] {
        let answer = send(&house, "DELETE", "/session", headers, "").await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT);
        let cookie = "compass_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0";
        assert_eq!(answer.header("set-cookie"), Some(cookie));
        assert!(!sessions.has("persons"));
    }
}

#[tokio::test]
async fn signing_in_again_ends_the_session_that_the_browser_had() {
    let sessions = Kept::new();
    let house = house(&sessions);
    let refused = send(&house, "POST", "/session", &[MARK, COOKIE], r#"{"token": "junk"}"#).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(sessions.has("persons"), "a failed try leaves the session");
    let answer = send(&house, "POST", "/session", &[MARK, COOKIE], SIGN_IN).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert!(!sessions.has("persons") && sessions.has("session-2"));
}

#[tokio::test]
async fn the_page_finds_out_whether_somebody_is_signed_in() {
    let house = house(&Kept::new());
    let open = get(&house, "/session", &[MARK, COOKIE]).await;
    assert_eq!((open.status, open.header("cache-control")), (StatusCode::NO_CONTENT, Some("no-store")));
    for headers in [
        &[MARK][..],
        &[COOKIE],
        &[MARK, ("cookie", "compass_session=agents")],
        &[MARK, ("cookie", "compass_session=old")],
    ] {
        let answer = get(&house, "/session", headers).await;
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (StatusCode::UNAUTHORIZED, "nobody is signed in")
        );
    }
}

#[tokio::test]
async fn another_sites_request_changes_nothing() {
    let sessions = Kept::new();
    let house = house(&sessions);
    let foreign: [&[(&str, &str)]; 5] = [
        &[COOKIE],
        &[MARK, COOKIE, ("sec-fetch-site", "cross-site")],
        &[MARK, COOKIE, ("sec-fetch-site", "same-site")],
        &[MARK, COOKIE, ("host", "compass.example"), ("origin", "https://evil.example")],
        &[MARK, COOKIE, ("host", "compass.example"), ("origin", "null")],
    ];
    for headers in foreign {
        for (method, body) in [("POST", SIGN_IN), ("POST", TOKEN), ("DELETE", "")] {
            let answer = send(&house, method, "/session", headers, body).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {headers:?}");
            assert!(answer.error().contains("only Compass's own page"), "{method} {headers:?}");
            assert_eq!(answer.header("set-cookie"), None);
        }
    }
    assert!(sessions.has("persons") && !*sessions.spent.lock().unwrap());
    let own =
        [MARK, ("host", "c.example"), ("origin", "http://c.example"), ("sec-fetch-site", "same-origin")];
    assert_eq!(send(&house, "POST", "/session", &own, SIGN_IN).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused_in_words() {
    let house = house(&Kept::new());
    for (body, text) in [
        ("", "the body is not a JSON object with sign_in or token in it"),
        (r#"{"sign_in": "a", "token": "b"}"#, "the body has 2 fields; it takes one, sign_in or token"),
        (r#"{"sign_in": ""}"#, "sign_in is empty"),
    ] {
        let answer = send(&house, "POST", "/session", &[MARK], body).await;
        assert_eq!((answer.status, answer.error().as_str()), (StatusCode::BAD_REQUEST, text));
    }
}

#[tokio::test]
async fn a_body_over_its_limit_is_not_read() {
    let house = house(&Kept::new());
    let padded = |bytes: usize| format!("{SIGN_IN}{}", " ".repeat(bytes - SIGN_IN.len()));
    let answer = send(&house, "POST", "/session", &[MARK], padded(4097)).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.error(), "the body is 4097 bytes long, at most 4096 are allowed");
    let parts = |parts: usize| {
        let stream = (0..parts).map(|_| Ok::<_, std::io::Error>(Bytes::from(" ".repeat(1024))));
        Body::from_stream(futures::stream::iter(stream))
    };
    let endless = send(&house, "POST", "/session", &[MARK], parts(5)).await;
    assert_eq!(endless.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(endless.error(), "the body goes on after the 4096 bytes that are allowed");
    assert_eq!(send(&house, "POST", "/session", &[MARK], parts(4)).await.status, StatusCode::BAD_REQUEST);
    let broken = futures::stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]);
    let broken = send(&house, "POST", "/session", &[MARK], Body::from_stream(broken)).await;
    assert_eq!((broken.status, broken.error().contains("to its end")), (StatusCode::BAD_REQUEST, true));
    assert_eq!(send(&house, "POST", "/session", &[MARK], padded(4096)).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_server_that_cannot_say_now_says_that_and_keeps_the_session() {
    let sessions = Kept::new();
    let house = house(&sessions);
    *sessions.is_down.lock().unwrap() = true;
    for (method, body) in [("POST", SIGN_IN), ("POST", TOKEN), ("DELETE", ""), ("GET", "")] {
        let answer = send(&house, method, "/session", &[MARK, COOKIE], body).await;
        assert_eq!((answer.status, answer.error().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "try again"));
        assert_eq!(answer.header("set-cookie"), None, "{method}");
    }
    assert!(sessions.has("persons"));
}

#[tokio::test]
async fn other_methods_are_told_which_are_answered() {
    let house = house(&Kept::new());
    let answer = send(&house, "PUT", "/session", &[MARK], SIGN_IN).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.header("allow"), Some("GET,HEAD,POST,DELETE"));
}
