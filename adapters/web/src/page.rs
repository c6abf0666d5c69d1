//! The page over HTTP: what is cached for how long, what is compressed, and what is not there.

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
    },
};

use crate::{
    encoding::Encoding,
    files::{File, Files, Variant},
};

/// For a file whose name changes with its content: a year, which is as good as forever.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// For every other file: kept, and asked for before each use.
const ASK_FIRST: HeaderValue = HeaderValue::from_static("no-cache");

/// Answers everything with the page.
pub(crate) fn router(files: Files) -> Router {
    Router::new().fallback(serve).with_state(files)
}

async fn serve(State(files): State<Files>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let allowed = [(ALLOW, HeaderValue::from_static("GET, HEAD"))];
        return (StatusCode::METHOD_NOT_ALLOWED, allowed, "only GET and HEAD are answered here\n")
            .into_response();
    }
    let Some(file) = files.find(request.uri().path()) else {
        let kept = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
        return (StatusCode::NOT_FOUND, kept, "there is nothing here\n").into_response();
    };
    answer(file, request.headers())
}

fn answer(file: &File, asked: &HeaderMap) -> Response {
    let (encoding, variant) = chosen(file, asked);
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.insert(ETAG, variant.tag.clone());
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(CACHE_CONTROL, if file.is_lasting { FOREVER } else { ASK_FIRST });
    if is_kept(asked, &variant.tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(CONTENT_TYPE, file.kind.clone());
    headers.insert(CONTENT_LENGTH, variant.content.len().into());
    if let Some(encoding) = encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    // The router leaves it out of the answer to HEAD.
    *response.body_mut() = Body::from(variant.content.clone());
    response
}

/// The smallest form of a file that the sender of these headers takes.
fn chosen<'a>(file: &'a File, asked: &HeaderMap) -> (Option<Encoding>, &'a Variant) {
    let mut taken = Encoding::ALL.into_iter().filter(|encoding| encoding.is_accepted(asked));
    let found = taken.find_map(|encoding| Some((encoding, file.compressed(encoding)?)));
    found.map_or((None, &file.plain), |(encoding, variant)| (Some(encoding), variant))
}

/// True if the sender of these headers has this form of the file.
fn is_kept(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    let lines = asked.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.any(|kept| kept == "*" || kept.strip_prefix("W/").unwrap_or(kept).as_bytes() == tag.as_bytes())
}
