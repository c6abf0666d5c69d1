//! A browser with the page open: one cookie, the headers that a page's script sends, gRPC-Web over HTTP/1.1.

use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper_util::{client::legacy::Client, client::legacy::connect::HttpConnector, rt::TokioExecutor};
use prost::{Message, bytes::Bytes};
use tonic::{
    Code,
    codegen::http::{HeaderMap, Request, Response, StatusCode},
};

use super::{World, in_time};

type Body = BoxBody<Bytes, String>;

/// What came back, whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// A browser that has opened the page.
pub(crate) struct Browser {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    /// The headers of every request, but for the cookie.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The token in the cookie that the server set.
    pub(crate) cookie: Option<String>,
}

impl Browser {
    /// One that sends what browsers send for a script of the page.
    pub(crate) fn open(world: &World) -> Self {
        Self::at(world.url())
    }

    /// The same for the page at an address.
    pub(crate) fn at(url: String) -> Self {
        let headers = vec![
            ("x-compass-page", "1".to_owned()),
            ("origin", url.clone()),
            ("sec-fetch-site", "same-origin".to_owned()),
        ];
        Self { client: Client::builder(TokioExecutor::new()).build_http(), url, headers, cookie: None }
    }

    /// The same browser with one header changed, or left out.
    pub(crate) fn with(&self, name: &'static str, value: Option<&str>) -> Self {
        let mut headers = self.headers.clone();
        headers.retain(|header| header.0 != name);
        headers.extend(value.map(|value| (name, value.to_owned())));
        let (client, url, cookie) = (self.client.clone(), self.url.clone(), self.cookie.clone());
        Self { client, url, headers, cookie }
    }

    async fn request(&self, method: &str, path: &str, kind: &str, body: Bytes) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(token) = &self.cookie {
            request = request.header("cookie", format!("theme=dark; compass_session={token}"));
        }
        let request = request.header("content-type", kind).body(Full::new(body)).unwrap();
        let response = in_time("a response", self.client.request(request)).await.unwrap();
        response.map(|body| body.map_err(|error| error.to_string()).boxed())
    }

    /// Sends a request that is no RPC, and keeps the cookie that comes back.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) -> Answer {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let (parts, body) = self.request(method, path, "application/json", body).await.into_parts();
        let body = in_time("a body", body.collect()).await.unwrap().to_bytes();
        if let Some(set) = parts.headers.get("set-cookie") {
            let value = set.to_str().unwrap().strip_prefix("compass_session=").unwrap();
            let token = value.split(';').next().unwrap();
            self.cookie = (!token.is_empty()).then(|| token.to_owned());
        }
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Calls an RPC and reads what comes as it comes.
    pub(crate) async fn call(&self, rpc: &str, request: &impl Message) -> Frames {
        let body = frame(&request.encode_to_vec());
        let path = format!("/compass.v1.{rpc}");
        let response = self.request("POST", &path, "application/grpc-web+proto", body).await;
        let (parts, body) = response.into_parts();
        assert_eq!(parts.status, StatusCode::OK, "{rpc}");
        Frames { headers: parts.headers, body, rest: Vec::new() }
    }

    /// Calls an RPC with one message in its answer.
    pub(crate) async fn ask<A: Message + Default>(
        &self,
        rpc: &str,
        request: &impl Message,
    ) -> Result<A, Code> {
        let mut frames = self.call(rpc, request).await;
        let answer = frames.next().await;
        let code = if answer.is_some() { frames.end().await } else { frames.code() };
        if code == Code::Ok { Ok(answer.expect("a message")) } else { Err(code) }
    }
}

/// A message behind its mark and its length.
fn frame(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0][..], &length, message].concat().into()
}

/// The frames of an answer over gRPC-Web.
pub(crate) struct Frames {
    pub(crate) headers: HeaderMap,
    body: Body,
    rest: Vec<u8>,
}

impl Frames {
    /// The next message; none at the end, or before the trailers.
    pub(crate) async fn next<A: Message + Default>(&mut self) -> Option<A> {
        loop {
            if let Some(&mark) = self.rest.first() {
                if mark == 0x80 {
                    return None;
                }
                assert_eq!(mark, 0, "a message that is not compressed");
                if let Some(length) = self.rest.get(1..5) {
                    let end = 5 + u32::from_be_bytes(length.try_into().unwrap()) as usize;
                    if self.rest.len() >= end {
                        let message: Vec<u8> = self.rest.drain(..end).collect();
                        return Some(A::decode(&message[5..]).unwrap());
                    }
                }
            }
            if !self.read().await {
                return None;
            }
        }
    }

    /// Reads everything to the end; the code that it ended with.
    pub(crate) async fn end(&mut self) -> Code {
        while self.read().await {}
        self.code()
    }

    /// The code in the headers, or in the trailers if they have come.
    fn code(&self) -> Code {
        if let Some(code) = self.headers.get("grpc-status") {
            return Code::from_bytes(code.as_bytes());
        }
        let text = String::from_utf8_lossy(&self.rest);
        let (_, code) = text.rsplit_once("grpc-status:").unwrap_or_else(|| panic!("no trailers in {text:?}"));
        Code::from_bytes(code.trim_start().split('\r').next().unwrap().as_bytes())
    }

    async fn read(&mut self) -> bool {
        let Some(frame) = in_time("a frame of the answer", self.body.frame()).await else { return false };
        self.rest.extend_from_slice(&frame.unwrap().into_data().unwrap_or_default());
        true
    }
}
