//! An ACP agent for the tests, on the official library: it starts the tools it is handed and does what prompts say.
//!
//! `acp-agent LOG` speaks the protocol on its standard input and output. What happens is appended to LOG, a line each.
//! A prompt is said back; texts in it that begin with `do:` tell the agent what to do.

#![expect(clippy::disallowed_methods, reason = "an agent's program has no ports of ours")]

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
    process::{ExitCode, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use agent_client_protocol::{
    Agent, Client, Error, Lines, Result, on_receive_notification, on_receive_request,
    v1::{
        ConnectionTo, Responder,
        schema::{
            AgentCapabilities, CancelNotification, ContentBlock, ContentChunk, CreateElicitationRequest,
            Implementation, InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse,
            McpServer, McpServerStdio, NewSessionRequest, NewSessionResponse, PermissionOption,
            PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionOutcome,
            RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate, StopReason, TextContent,
            ToolCallUpdate, ToolCallUpdateFields,
        },
    },
};
use futures::{sink, stream};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines as ReadLines},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::watch,
};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("acp agent: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What all handlers share.
struct Shared {
    log: Mutex<File>,
    path: String,
    tools: tokio::sync::Mutex<Option<Tools>>,
    /// Turns that were cancelled so far.
    cancels: watch::Sender<u64>,
}

impl Shared {
    /// A life that is noted in the log at `path`.
    fn begin(path: String) -> Result<Arc<Self>> {
        let log = OpenOptions::new().append(true).create(true).open(&path);
        let log = Mutex::new(log.map_err(Error::into_internal_error)?);
        let (tools, cancels) = (tokio::sync::Mutex::default(), watch::Sender::new(0));
        let shared = Arc::new(Self { log, path, tools, cancels });
        shared.note("life", &json!({ "parent": std::os::unix::process::parent_id() }));
        Ok(shared)
    }

    async fn create(&self, new: NewSessionRequest, responder: Responder<NewSessionResponse>) -> Result<()> {
        self.note("new", &json!({ "cwd": new.cwd }));
        self.start_tools(&new.mcp_servers).await?;
        responder.respond(NewSessionResponse::new("talk"))
    }

    async fn load(&self, load: LoadSessionRequest, responder: Responder<LoadSessionResponse>) -> Result<()> {
        self.note("load", &json!(load.session_id));
        self.start_tools(&load.mcp_servers).await?;
        responder.respond(LoadSessionResponse::new())
    }

    /// Runs a turn beside everything else; a cancel ends it.
    fn prompt(
        self: &Arc<Self>,
        prompt: PromptRequest,
        responder: Responder<PromptResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<()> {
        let session = prompt.session_id.clone();
        let turn = Turn { shared: Arc::clone(self), client: client.clone(), session };
        let mut cancels = self.cancels.subscribe();
        client.spawn(async move {
            let reason = tokio::select! {
                done = turn.run(prompt) => done?,
                _ = cancels.changed() => StopReason::Cancelled,
            };
            turn.shared.note("turn", &json!(reason));
            responder.respond(PromptResponse::new(reason))
        })
    }

    fn cancel(&self) {
        self.note("cancel", &json!({}));
        self.cancels.send_modify(|count| *count += 1);
    }
}

fn hello(hello: &InitializeRequest) -> InitializeResponse {
    InitializeResponse::new(hello.protocol_version)
        .agent_capabilities(AgentCapabilities::new().load_session(true))
        .agent_info(Implementation::new("acp-agent", "1"))
}

async fn run() -> Result<()> {
    type Whom = ConnectionTo<Client>;
    let shared = Shared::begin(std::env::args().nth(1).unwrap_or_default())?;
    let [created, loaded, prompted, cancelled] = [(); 4].map(|()| Arc::clone(&shared));
    Agent
        .v1()
        .name("acp-agent")
        .on_receive_request(
            async move |it: InitializeRequest, responder: Responder<InitializeResponse>, _: Whom| {
                responder.respond(hello(&it))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |new: NewSessionRequest, responder: Responder<NewSessionResponse>, _: Whom| {
                created.create(new, responder).await
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |load: LoadSessionRequest, responder: Responder<LoadSessionResponse>, _: Whom| {
                loaded.load(load, responder).await
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder: Responder<PromptResponse>, client: Whom| {
                prompted.prompt(prompt, responder, &client)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _: Whom| {
                cancelled.cancel();
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(Lines::new(outgoing(), incoming()))
        .await
}

fn incoming() -> impl futures::Stream<Item = io::Result<String>> + Send + 'static {
    let lines = BufReader::new(tokio::io::stdin()).lines();
    stream::unfold(lines, async |mut lines| Some((lines.next_line().await.transpose()?, lines)))
}

fn outgoing() -> impl futures::Sink<String, Error = io::Error> + Send + 'static {
    sink::unfold(tokio::io::stdout(), async |mut out, line: String| {
        out.write_all(format!("{line}\n").as_bytes()).await?;
        out.flush().await?;
        Ok(out)
    })
}

impl Shared {
    /// One line in one write, so that a kill leaves whole lines.
    fn note(&self, what: &str, value: &Value) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        let note = json!({ "what": what, "pid": std::process::id(), "at_us": at, "value": value });
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = log.write_all(format!("{note}\n").as_bytes()) {
            eprintln!("acp agent: {error}");
        }
    }

    async fn start_tools(&self, servers: &[McpServer]) -> Result<()> {
        let Some(McpServer::Stdio(server)) = servers.first() else {
            return Err(Error::invalid_params().data("no tools"));
        };
        let tools = Tools::start(server).await.map_err(Error::into_internal_error)?;
        *self.tools.lock().await = Some(tools);
        Ok(())
    }

    /// Calls a tool and notes what came of it.
    async fn call(&self, tool: &str, arguments: Value) -> Result<()> {
        let mut tools = self.tools.lock().await;
        let Some(tools) = tools.as_mut() else { return Err(Error::internal_error().data("no tools")) };
        let result = tools.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        self.note("called", &result.map_err(Error::into_internal_error)?);
        Ok(())
    }
}

/// One prompt and what is done about it.
struct Turn {
    shared: Arc<Shared>,
    client: ConnectionTo<Client>,
    session: SessionId,
}

impl Turn {
    async fn run(&self, prompt: PromptRequest) -> Result<StopReason> {
        let texts = prompt.prompt.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        self.shared.note("prompt", &json!(text));
        self.say(&format!("I read:\n{text}"))?;
        for order in text.lines().filter_map(|line| line.split_once("do:").map(|(_, order)| order)) {
            match order.split_once(' ').unwrap_or((order, "")) {
                ("ask", question) => {
                    let options = json!([{ "label": "Red" }, { "label": "Blue" }]);
                    let questions = json!([{ "id": "colour", "question": question, "options": options }]);
                    let arguments = json!({ "topic": "Work", "create_topic": true, "questions": questions });
                    self.shared.call("comms_post_ask", arguments).await?;
                }
                ("say", text) => {
                    let arguments = json!({ "topic": "Work", "create_topic": true, "text": text });
                    self.shared.call("comms_post_message", arguments).await?;
                }
                ("permission", _) => {
                    let response = self.client.send_request(self.permission()).block_task().await?;
                    self.permitted(&response.outcome);
                }
                // Waits until the test says so, then does not want to know any more.
                ("cancel-permission", _) => {
                    let sent = self.client.send_request(self.permission());
                    until_there(&format!("{}.cancel", self.shared.path)).await;
                    sent.cancel()?;
                    self.permitted(&sent.block_task().await?.outcome);
                }
                // Ends its turn although it asked.
                ("leave-permission", _) => {
                    let sent = self.client.send_request(self.permission());
                    until_there(&format!("{}.cancel", self.shared.path)).await;
                    sent.detach();
                }
                ("elicit", message) => {
                    let response = self.client.send_request(self.form(message)?).block_task().await?;
                    self.shared.note("elicited", &json!(response));
                }
                ("slow", _) => std::future::pending().await,
                ("exit", code) => std::process::exit(code.parse().unwrap_or(1)),
                (other, _) => eprintln!("acp agent: cannot {other:?}"),
            }
        }
        Ok(StopReason::EndTurn)
    }

    fn say(&self, text: &str) -> Result<()> {
        let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
        let update = SessionUpdate::AgentMessageChunk(chunk);
        self.client.send_notification(SessionNotification::new(self.session.clone(), update))
    }

    fn permission(&self) -> RequestPermissionRequest {
        let fields = ToolCallUpdateFields::new()
            .title("Drop the table of orders".to_owned())
            .raw_input(json!({ "command": "drop table orders" }));
        let options = vec![
            PermissionOption::new("yes", "Allow once", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
        ];
        RequestPermissionRequest::new(self.session.clone(), ToolCallUpdate::new("call-1", fields), options)
    }

    fn form(&self, message: &str) -> Result<CreateElicitationRequest> {
        let port = json!({ "type": "integer", "title": "Port", "minimum": 1, "maximum": 65535 });
        let schema = json!({ "type": "object", "properties": { "port": port }, "required": ["port"] });
        let form = json!({ "mode": "form", "sessionId": self.session, "message": message, "requestedSchema": schema });
        serde_json::from_value(form).map_err(Error::into_internal_error)
    }

    fn permitted(&self, outcome: &RequestPermissionOutcome) {
        let outcome = match outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
            _ => "nothing".to_owned(),
        };
        self.shared.note("permission", &json!(outcome));
    }
}

async fn until_there(path: &str) {
    while !Path::new(path).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A server of the Model Context Protocol that was started as its client wants.
struct Tools {
    _child: Child,
    input: ChildStdin,
    output: ReadLines<BufReader<ChildStdout>>,
    number: u64,
}

impl Tools {
    async fn start(server: &McpServerStdio) -> io::Result<Self> {
        let mut command = Command::new(&server.command);
        command.args(&server.args).envs(server.env.iter().map(|variable| (&variable.name, &variable.value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut tools = Self { _child: child, input, output: BufReader::new(output).lines(), number: 0 };
        let client = json!({ "name": "acp-agent", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        tools.request("initialize", hello).await?;
        tools.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(tools)
    }

    /// Sends a request and gives its result, or its error as one.
    async fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.number += 1;
        let number = self.number;
        self.send(&json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params })).await?;
        while let Some(line) = self.output.next_line().await? {
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == json!(number) {
                return Ok(message.get("result").or(message.get("error")).cloned().unwrap_or_default());
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        self.input.flush().await
    }
}
