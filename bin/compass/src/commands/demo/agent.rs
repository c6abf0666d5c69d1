//! The scripted agent of the demo: it drives `compass agent attach` over JSON lines, as any program would.

use std::{env, path::PathBuf, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{ChildStdin, ChildStdout, Command},
};

use crate::{failure::Failure, output::Output};

/// Options of the scripted agent.
#[derive(clap::Args, Debug)]
pub(crate) struct AgentArgs {
    /// Directory of the journal
    #[arg(long, value_name = "DIR")]
    state_dir: PathBuf,
}

/// Asks, waits for the delivered answer, prints it, acknowledges it.
pub(crate) async fn run(args: AgentArgs) -> Result<(), Failure> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["agent", "attach", "--state-dir"]).arg(&args.state_dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
        return Err(Failure::Local("the attached process has no pipes".to_owned()));
    };
    let mut attached = Attached { stdin, stdout: BufReader::new(stdout).lines() };
    attached.read("attached").await?;
    attached.write(&question()).await?;
    let posted = attached.read("result").await?;
    if posted["ok"] != json!(true) {
        return Err(Failure::Local(format!("the ask was not posted: {}", posted["error"])));
    }
    loop {
        let line = attached.read("message").await?;
        let message = &line["message"];
        if print(message)? {
            attached.write(&json!({ "type": "ack", "message_id": message["id"] })).await?;
            break;
        }
        attached.write(&json!({ "type": "ack", "message_id": message["id"] })).await?;
    }
    drop(attached);
    let status = process.wait().await?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Local(format!("the attached process failed: {status}")))
    }
}

fn question() -> Value {
    json!({
        "type": "call", "id": "1", "tool": "comms_post_ask", "arguments": {
            "topic": "Release 4.2", "create_topic": true,
            "questions": [{
                "id": "where", "header": "Rollout",
                "question": "Which environment should release 4.2 go to first?",
                "recommended": 0,
                "options": [
                    { "label": "Staging", "description": "Runs the smoke suite, then waits for you." },
                    { "label": "Canary 5%", "description": "Real traffic, automatic rollback." },
                    { "label": "All regions", "description": "No waiting. Not reversible for 20 minutes." }
                ]
            }]
        }
    })
}

/// Prints the answer in a message; false if it carries none.
fn print(message: &Value) -> Result<bool, Failure> {
    let out = Output::new(false);
    let blocks = message["blocks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(answer) = blocks.iter().find(|block| block["kind"] == json!("ask_answer")) else {
        return Ok(false);
    };
    let questions = answer["ask"]["questions"].as_array().map(Vec::as_slice).unwrap_or_default();
    for question in questions {
        out.line(&format!("agent: my question was: {}", crate::render::line(text(&question["question"]))))?;
        let chosen = question["chosen_option_ids"].as_array().map(Vec::as_slice).unwrap_or_default();
        let options = question["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        for id in chosen {
            let label =
                options.iter().find(|option| option["id"] == *id).map_or(id, |option| &option["label"]);
            out.line(&format!("agent: the answer is: {}", crate::render::line(text(label))))?;
        }
        let custom = text(&question["custom_text"]);
        if !custom.is_empty() {
            out.line(&format!("agent: in the person's words: {}", crate::render::line(custom)))?;
        }
        if chosen.is_empty() && custom.is_empty() {
            out.line("agent: the person skipped the question")?;
        }
    }
    Ok(true)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

struct Attached {
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Attached {
    async fn write(&mut self, line: &Value) -> Result<(), Failure> {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        self.stdin.flush().await?;
        Ok(())
    }

    /// The next line of a type; others are passed over, an end is a failure.
    async fn read(&mut self, wanted: &str) -> Result<Value, Failure> {
        while let Some(line) = self.stdout.next_line().await? {
            let line: Value =
                serde_json::from_str(&line).map_err(|error| Failure::Local(error.to_string()))?;
            match text(&line["type"]) {
                kind if kind == wanted => return Ok(line),
                "ended" | "stopped" => return Err(Failure::Local(format!("the link ended: {line}"))),
                _ => {}
            }
        }
        Err(Failure::Local("the attached process ended".to_owned()))
    }
}
