//! What an agent must not do, and what it does not get.

use agent_client_protocol::v1::schema::ReadTextFileRequest;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, Lines};

use super::*;

impl World {
    /// An agent that can be prompted and of which the test has seen the set-up.
    pub(super) async fn ready_and_quiet() -> Self {
        let mut world = Self::ready().await;
        assert!(matches!(world.got().await, Got::Initialize(_)));
        assert!(matches!(world.got().await, Got::New(_)));
        world
    }
}

#[tokio::test(start_paused = true)]
async fn files_and_terminals_are_not_there() {
    let mut world = World::ready_and_quiet().await;
    let request = ReadTextFileRequest::new(peer::SESSION, "/etc/passwd");
    let asked = world.peer.client().send_request(request).block_task();
    let (response, said) = world.meanwhile(asked).await;
    assert_eq!(i32::from(response.unwrap_err().code), -32601);
    assert!(said.is_empty(), "{said:?}");
}

/// Speaks the protocol by hand.
struct Raw {
    lines: Lines<BufReader<DuplexStream>>,
    out: DuplexStream,
}

impl Raw {
    async fn say(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn heard(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().expect("a line")).unwrap()
    }

    async fn answer(&mut self, method: &str, result: Value) {
        let request = self.heard().await;
        assert_eq!(request["method"], method);
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_no_messages_are_told_and_the_agent_works_on() {
    let folder = tempfile::tempdir().unwrap();
    let (mut agent, input, out, _stop) = harness(&folder);
    let mut raw = Raw { lines: BufReader::new(input).lines(), out };
    let program = async {
        raw.say("Loading the model\u{1b}[0m").await;
        raw.answer("initialize", json!({ "protocolVersion": 1 })).await;
        raw.say("{\"broken\": ").await;
        let heard = [raw.heard().await, raw.heard().await];
        assert!(heard.iter().any(|line| line["method"] == "session/new"), "{heard:?}");
        assert!(heard.iter().any(|line| line["error"]["code"] == -32700), "{heard:?}");
        raw.say(&json!({ "jsonrpc": "2.0", "id": "unknown", "result": {} }).to_string()).await;
        raw
    };
    let mut shown = Vec::new();
    let harness = async {
        loop {
            shown.push(label(&agent.next().await.unwrap()));
        }
    };
    let raw = tokio::select! { raw = program => raw, () = harness => unreachable!() };
    assert_eq!(
        shown,
        ["shows notice The agent's program printed a line that is no message: Loading the model [0m"]
    );
    drop(raw);
}

#[tokio::test(start_paused = true)]
async fn an_agent_of_another_version_is_an_error_that_names_both() {
    let folder = tempfile::tempdir().unwrap();
    let (mut agent, input, out, _stop) = harness(&folder);
    let mut raw = Raw { lines: BufReader::new(input).lines(), out };
    let program = raw.answer("initialize", json!({ "protocolVersion": 7 }));
    let ((), said) = tokio::join!(program, agent.next());
    let error = said.unwrap_err().to_string();
    assert!(error.contains("protocol version 7") && error.contains("version 1"), "{error}");
}

#[tokio::test]
async fn a_line_without_end_is_an_error_and_does_not_fill_the_memory() {
    use futures::StreamExt as _;
    let endless = BufReader::new(tokio::io::repeat(b'{'));
    let mut lines = Box::pin(super::super::lines::incoming(endless, drop));
    let error = lines.next().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("more than 16777216 bytes"), "{error}");
    assert!(lines.next().await.is_none());
}
