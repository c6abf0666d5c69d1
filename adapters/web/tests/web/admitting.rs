//! When the cookie of a request counts, and that it never goes on.

use crate::support::{Kept, get, house, send};

const MARK: (&str, &str) = ("x-compass-page", "1");
const COOKIE: (&str, &str) = ("cookie", "a=1; compass_session=persons; b=2");
/// What the door is sent of a request whose cookie counts.
const COUNTS: &str = r#"Some("Bearer persons") Some("a=1; b=2")"#;
/// What it is sent of one whose cookie does not.
const DOES_NOT: &str = r#"None Some("a=1; b=2")"#;

#[tokio::test]
async fn the_cookie_of_the_pages_own_request_is_a_bearer_token_for_the_doors() {
    let house = house(&Kept::new());
    let host = ("host", "c.example:7420");
    let own: [&[(&str, &str)]; 4] = [
        &[MARK, COOKIE],
        &[MARK, COOKIE, ("sec-fetch-site", "same-origin")],
        &[MARK, COOKIE, host, ("origin", "http://c.example:7420")],
        &[MARK, COOKIE, host, ("origin", "http://c.example:7420"), ("sec-fetch-site", "same-origin")],
    ];
    for headers in own {
        assert_eq!(send(&house, "POST", "/door", headers, "").await.text(), COUNTS, "{headers:?}");
    }
}

#[tokio::test]
async fn the_cookie_of_any_other_request_does_not_count_and_goes_nowhere() {
    let house = house(&Kept::new());
    let host = ("host", "c.example:7420");
    let foreign: [&[(&str, &str)]; 7] = [
        &[COOKIE],
        &[COOKIE, ("x-compass-page", "true")],
        &[COOKIE, host, ("origin", "http://c.example:7420"), ("sec-fetch-site", "same-origin")],
        &[MARK, COOKIE, ("sec-fetch-site", "cross-site")],
        &[MARK, COOKIE, ("sec-fetch-site", "same-site")],
        &[MARK, COOKIE, host, ("origin", "http://evil.example")],
        &[MARK, COOKIE, host, ("origin", "http://c.example")],
    ];
    for headers in foreign {
        for method in ["GET", "POST"] {
            assert_eq!(send(&house, method, "/door", headers, "").await.text(), DOES_NOT, "{headers:?}");
        }
    }
}

#[tokio::test]
async fn a_request_with_a_token_of_its_own_keeps_that() {
    let house = house(&Kept::new());
    for token in ["Bearer other", "Basic x", ""] {
        let answer = get(&house, "/door", &[MARK, COOKIE, ("authorization", token)]).await;
        assert_eq!(answer.text(), format!("Some({token:?}) Some(\"a=1; b=2\")"));
    }
    // Nor does it sign out whoever the cookie stands for.
    let sessions = Kept::new();
    let house = crate::support::house(&sessions);
    let headers = [MARK, COOKIE, ("authorization", "Bearer persons")];
    assert_eq!(send(&house, "DELETE", "/session", &headers, "").await.status.as_u16(), 204);
    assert!(sessions.has("persons"));
}

#[tokio::test]
async fn a_request_without_our_cookie_is_left_as_it_is() {
    let house = house(&Kept::new());
    assert_eq!(get(&house, "/door", &[MARK]).await.text(), "None None");
    assert_eq!(get(&house, "/door", &[MARK, ("cookie", "a=1")]).await.text(), "None Some(\"a=1\")");
    let bearer = get(&house, "/door", &[("authorization", "Bearer cli")]).await;
    assert_eq!(bearer.text(), "Some(\"Bearer cli\") None");
}

#[tokio::test]
async fn a_cookie_that_is_no_persons_session_does_not_count() {
    let house = house(&Kept::new());
    for token in ["agents", "old"] {
        let cookie = format!("compass_session={token}");
        assert_eq!(get(&house, "/door", &[MARK, ("cookie", &cookie)]).await.text(), "None None", "{token}");
    }
}

#[tokio::test]
async fn what_cannot_be_found_out_now_is_left_to_the_doors() {
    let sessions = Kept::new();
    let house = house(&sessions);
    *sessions.is_down.lock().unwrap() = true;
    assert_eq!(get(&house, "/door", &[MARK, COOKIE]).await.text(), COUNTS);
}
