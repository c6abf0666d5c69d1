//! Clients of the Model Context Protocol: one that starts `compass agent mcp` and speaks lines, one over HTTP.

use std::process::ExitStatus;

use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, client::legacy::connect::HttpConnector, rt::TokioExecutor};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{ChildStdin, ChildStdout},
};

use super::{World, in_time, process::Process};

/// What a client says first.
fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "e2e", "version": "1" },
    })
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// What a tool said: the one block of text, and whether it failed.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) failed: bool,
}

impl Said {
    fn of(response: &Value) -> Self {
        let content = response["result"]["content"].as_array();
        let content = content.unwrap_or_else(|| panic!("no result: {response}"));
        assert_eq!(content.len(), 1, "exactly one block: {response}");
        let text = content[0]["text"].as_str().unwrap().to_owned();
        Self { text, failed: response["result"]["isError"] == true }
    }

    /// The text of a call that must succeed.
    pub(crate) fn ok(self) -> String {
        assert!(!self.failed, "{self:?}");
        self.text
    }
}

/// The id that a text names after a word, such as `ask`.
pub(crate) fn id_after(text: &str, word: &str) -> String {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.find(|other| *other == word).unwrap_or_else(|| panic!("no {word:?} in {text:?}"));
    words.next().unwrap().to_owned()
}

/// A running `compass agent mcp`.
pub(crate) struct Mcp {
    process: Process,
    stdin: ChildStdin,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
    requests: u32,
}

impl Mcp {
    /// Starts it as an agent and shakes hands.
    pub(crate) async fn start(world: &World, agent: &str) -> Self {
        Self::launch(world, &["--agent", agent]).await
    }

    /// Starts it with these options and shakes hands.
    pub(crate) async fn launch(world: &World, options: &[&str]) -> Self {
        let mut command = world.command();
        command.args(["agent", "mcp"]).args(options);
        let (process, stdin, stdout) = Process::spawn(&mut command);
        let mut mcp = Self { process, stdin, lines: BufReader::new(stdout).lines(), requests: 0 };
        let about = mcp.ask("initialize", &initialize()).await;
        assert_eq!(about["result"]["serverInfo"]["name"], "compass", "{about}");
        mcp.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        mcp
    }

    async fn write(&mut self, line: &Value) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.stdin.flush().await.unwrap();
    }

    /// Sends a request and waits for nothing.
    pub(crate) async fn begin(&mut self, method: &str, params: &Value) -> u32 {
        self.requests += 1;
        self.write(&request(self.requests, method, params)).await;
        self.requests
    }

    /// Sends a request; the whole response.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params).await;
        let line = in_time("a response", self.lines.next_line()).await.unwrap().expect("a line");
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Said {
        Said::of(&self.ask("tools/call", &json!({ "name": tool, "arguments": arguments })).await)
    }

    /// Kills it.
    pub(crate) async fn kill(mut self) {
        self.process.kill().await;
    }

    /// Closes its input and waits for its end.
    pub(crate) async fn close(mut self) -> ExitStatus {
        drop(self.stdin);
        self.process.ended().await
    }
}

/// A client over HTTP with a token.
pub(crate) struct McpHttp {
    client: Client<HttpConnector, Full<&'static [u8]>>,
    url: String,
    pub(crate) token: String,
    session: Option<String>,
    requests: u32,
}

impl McpHttp {
    /// A client that did not shake hands yet.
    pub(crate) fn new(world: &World, token: String) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { client, url: format!("{}/mcp", world.url()), token, session: None, requests: 0 }
    }

    /// A client of this agent's.
    pub(crate) async fn start(world: &World, agent: &str) -> Self {
        let mut http = Self::new(world, world.agent_token(agent));
        let about = http.ask("initialize", &initialize()).await;
        assert_eq!(about["result"]["serverInfo"]["name"], "compass", "{about}");
        assert!(http.session.is_some());
        http
    }

    /// Sends a request; the status, the challenge if there is one, and the text.
    pub(crate) async fn send(&mut self, method: &str, params: &Value) -> (u16, Option<String>, String) {
        self.requests += 1;
        let body = request(self.requests, method, params).to_string().into_bytes();
        let mut request = tonic::codegen::http::Request::post(&self.url)
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2025-11-25");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        // The body lives as long as the test.
        let request = request.body(Full::new(&*body.leak())).unwrap();
        let response = in_time("a response", self.client.request(request)).await.unwrap();
        let header =
            |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (status, challenge) = (response.status().as_u16(), header("www-authenticate"));
        if let Some(session) = header("mcp-session-id") {
            self.session = Some(session);
        }
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, challenge, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Sends a request that must be answered; the whole response.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let (status, _, text) = self.send(method, params).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Said {
        Said::of(&self.ask("tools/call", &json!({ "name": tool, "arguments": arguments })).await)
    }
}
