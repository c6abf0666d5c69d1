//! The page's files: where they are, how long they are kept, how they are compressed, and what the browser is told.

use axum::http::StatusCode;

use crate::support::{Answer, INDEX, Kept, get, house, script, send};

const FOREVER: &str = "public, max-age=31536000, immutable";

#[tokio::test]
async fn every_route_of_the_page_is_its_index_which_is_asked_for_before_each_use() {
    let house = house(&Kept::new());
    for path in
        ["/", "/index.html", "/channel/0a1b", "/settings", "/sign-in", "/a/b/c/", "/?x=a.b", "/dm/a.b/c"]
    {
        let answer = get(&house, path, &[]).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::OK, INDEX), "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
    }
}

#[tokio::test]
async fn a_file_with_a_hash_in_its_name_is_kept_forever_and_another_is_not() {
    let house = house(&Kept::new());
    let asset = get(&house, "/assets/page-1a2b.js", &[]).await;
    assert_eq!((asset.status, asset.text()), (StatusCode::OK, script().as_str()));
    assert_eq!(asset.header("cache-control"), Some(FOREVER));
    assert_eq!(asset.header("content-type"), Some("text/javascript; charset=utf-8"));
    let icon = get(&house, "/favicon.svg", &[]).await;
    assert_eq!(
        (icon.header("cache-control"), icon.header("content-type")),
        (Some("no-cache"), Some("image/svg+xml"))
    );
    let font = get(&house, "/assets/font-5e6f.woff2", &[]).await;
    assert_eq!(
        (font.header("cache-control"), font.header("content-type")),
        (Some(FOREVER), Some("font/woff2"))
    );
}

#[tokio::test]
async fn what_is_not_there_is_never_the_index() {
    let house = house(&Kept::new());
    for path in [
        "/assets/page-0000.js",
        "/assets/page",
        "/assets/",
        "/assets",
        "/assets/a/b",
        "/robots.txt",
        "/assets/twin-3c4d.css.br",
        "/assets/../index.html",
        "/compass.v1.CommsService/Invented",
        "/other.v1.Service/Call",
    ] {
        let answer = get(&house, path, &[]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(!answer.text().contains("doctype"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[tokio::test]
async fn who_has_a_file_is_not_sent_it_again() {
    let house = house(&Kept::new());
    for path in ["/", "/assets/page-1a2b.js"] {
        let first = get(&house, path, &[]).await;
        let tag = first.header("etag").unwrap();
        assert!(tag.starts_with('"') && tag.len() > 10, "strong: {tag}");
        for kept in [tag.to_owned(), format!("\"other\", {tag}"), format!("W/{tag}"), "*".to_owned()] {
            let again = get(&house, path, &[("if-none-match", &kept)]).await;
            assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0), "{kept}");
            assert_eq!(again.header("etag"), Some(tag));
            assert_eq!(again.header("cache-control"), first.header("cache-control"));
            assert_eq!(again.header("vary"), Some("accept-encoding"));
        }
        let other = get(&house, path, &[("if-none-match", "\"other\"")]).await;
        assert_eq!((other.status, other.body), (StatusCode::OK, first.body.clone()));
    }
    let (page, script) = (get(&house, "/", &[]).await, get(&house, "/assets/page-1a2b.js", &[]).await);
    assert_ne!(page.header("etag"), script.header("etag"));
}

#[tokio::test]
async fn a_head_request_gets_the_headers_of_the_file_alone() {
    let house = house(&Kept::new());
    let head = send(&house, "HEAD", "/", &[], "").await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    let length = INDEX.len().to_string();
    assert_eq!(head.header("content-length"), Some(length.as_str()));
    let get = get(&house, "/", &[]).await;
    assert_eq!(head.headers, get.headers);
}

#[tokio::test]
async fn other_methods_are_told_which_are_answered() {
    let house = house(&Kept::new());
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        for path in ["/", "/assets/page-1a2b.js", "/nothing.here"] {
            let answer = send(&house, method, path, &[], "").await;
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {path}");
        }
    }
}

fn unzipped(answer: &Answer) -> Vec<u8> {
    use std::io::Read as _;
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut plain).unwrap();
    plain
}

#[tokio::test]
async fn a_text_is_compressed_for_who_takes_it_and_tagged_as_another_form() {
    let house = house(&Kept::new());
    let path = "/assets/page-1a2b.js";
    let plain = get(&house, path, &[]).await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("accept-encoding")));
    let zipped = get(&house, path, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert_eq!(zipped.header("content-type"), plain.header("content-type"));
    assert_eq!(zipped.header("vary"), Some("accept-encoding"));
    assert!(zipped.body.len() * 4 < plain.body.len());
    assert_eq!(unzipped(&zipped), plain.body);
    let length = zipped.body.len().to_string();
    assert_eq!(zipped.header("content-length"), Some(length.as_str()));
    assert_ne!(zipped.header("etag"), plain.header("etag"), "two forms have two tags");
    let tag = zipped.header("etag").unwrap();
    let kept = get(&house, path, &[("accept-encoding", "gzip"), ("if-none-match", tag)]).await;
    assert_eq!(kept.status, StatusCode::NOT_MODIFIED);
    let kept = get(&house, path, &[("if-none-match", tag)]).await;
    assert_eq!(kept.status, StatusCode::OK, "the plain form is not kept");
}

#[tokio::test]
async fn twins_that_came_with_the_page_are_sent_the_smaller_one_first() {
    let house = house(&Kept::new());
    for (accepted, encoding, body) in [
        ("gzip, deflate, br", Some("br"), "as brotli"),
        ("gzip", Some("gzip"), "as gzip"),
        ("br;q=0, gzip", Some("gzip"), "as gzip"),
    ] {
        let answer = get(&house, "/assets/twin-3c4d.css", &[("accept-encoding", accepted)]).await;
        assert_eq!((answer.header("content-encoding"), answer.text()), (encoding, body), "{accepted}");
        assert_eq!(answer.header("content-type"), Some("text/css; charset=utf-8"));
    }
    let answer = get(&house, "/assets/twin-3c4d.css", &[("accept-encoding", "zstd")]).await;
    assert_eq!((answer.header("content-encoding"), answer.body.len()), (None, 1800));
}

#[tokio::test]
async fn small_and_compressed_files_are_sent_as_they_are() {
    let house = house(&Kept::new());
    for path in ["/", "/assets/font-5e6f.woff2"] {
        let answer = get(&house, path, &[("accept-encoding", "gzip, br")]).await;
        assert_eq!(answer.header("content-encoding"), None, "{path}");
    }
}

#[tokio::test]
async fn every_answer_tells_the_browser_what_not_to_allow() {
    let house = house(&Kept::new());
    let tag = get(&house, "/", &[]).await.header("etag").unwrap().to_owned();
    let answers = [
        get(&house, "/", &[]).await,
        get(&house, "/", &[("if-none-match", &tag)]).await,
        get(&house, "/assets/page-1a2b.js", &[]).await,
        get(&house, "/assets/missing.js", &[]).await,
        send(&house, "PUT", "/", &[], "").await,
        get(&house, "/session", &[]).await,
        send(&house, "PUT", "/session", &[], "").await,
    ];
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                  connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for answer in &answers {
        let status = answer.status;
        assert_eq!(answer.header("content-security-policy"), Some(policy), "{status}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{status}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{status}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"), "{status}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{status}");
        let permissions = answer.header("permissions-policy").unwrap();
        assert!(permissions.contains("camera=()") && permissions.contains("microphone=()"), "{status}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{status}");
    }
    assert_eq!(answers.map(|answer| answer.status.as_u16()), [200, 304, 200, 404, 405, 401, 405]);
}
