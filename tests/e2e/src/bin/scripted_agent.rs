//! An agent's program for the tests: it takes every message, writes down that it did, and does what some of them say.
//!
//! `scripted-agent LOG [ASKS [PAUSE_MS]]` speaks JSON lines on its standard input and output. Each line it is given is
//! appended to LOG before it is acknowledged. With ASKS it posts so many asks, one after another, and goes on where
//! an earlier life stopped. Texts that begin with `do:` tell it what to do.

#![expect(clippy::disallowed_methods, reason = "an agent's program has no ports of ours")]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let log = arguments.next().unwrap_or_default();
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    let (asks, pause) = (number(arguments.next()), number(arguments.next()));
    match Agent::open(&log).and_then(|mut agent| agent.run(asks, Duration::from_millis(pause))) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("scripted agent: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Agent {
    log: File,
    path: String,
    /// Messages are taken down and not acknowledged.
    holds: bool,
    results: Option<mpsc::Sender<Value>>,
    out: Arc<Mutex<io::Stdout>>,
}

impl Agent {
    fn open(path: &str) -> io::Result<Self> {
        let log = OpenOptions::new().append(true).create(true).open(path)?;
        let out = Arc::new(Mutex::new(io::stdout()));
        Ok(Self { log, path: path.to_owned(), holds: false, results: None, out })
    }

    /// Until its input ends, or a message says how it is to end.
    fn run(&mut self, asks: u64, pause: Duration) -> io::Result<u8> {
        self.note("life", &json!({}))?;
        if asks > 0 {
            let (results, taken) = mpsc::channel();
            self.results = Some(results);
            let (out, path) = (Arc::clone(&self.out), format!("{}.asks", self.path));
            thread::spawn(move || ask_all(&out, &path, asks, pause, &taken));
        }
        for line in io::stdin().lock().lines() {
            let line: Value = serde_json::from_str(&line?).map_err(io::Error::other)?;
            match line["type"].as_str() {
                Some("message") => {
                    self.note("message", &line)?;
                    if let Some(code) = self.obey(&line)? {
                        return Ok(code);
                    }
                    let id = &line["message"]["id"];
                    if !self.holds {
                        say(&self.out, &json!({ "type": "ack", "message_id": id }))?;
                        self.note("acked", id)?;
                    }
                }
                Some("result") => {
                    if let Some(results) = &self.results {
                        // The asking is over; nobody waits for this one.
                        drop(results.send(line));
                    }
                }
                _ => self.note("line", &line)?,
            }
        }
        Ok(0)
    }

    /// Does what a text of a person says; gives its exit code if it is to end.
    fn obey(&mut self, line: &Value) -> io::Result<Option<u8>> {
        let blocks = line["message"]["blocks"].as_array().map(Vec::as_slice).unwrap_or_default();
        for text in blocks.iter().filter_map(|block| block["text"].as_str()) {
            let Some((_, order)) = text.split_once("do:") else { continue };
            match order.split_once(' ').unwrap_or((order, "")) {
                // A later life that is told so once more does not hold.
                ("hold", _) => self.holds = line["delivered_before"] == json!(false),
                ("release", _) => self.holds = false,
                ("exit", code) => return Ok(Some(code.parse().unwrap_or(1))),
                ("say", text) => {
                    self.post(line, None, text)?;
                }
                // Says the same to another one, who is to say it back.
                ("echo", names) => {
                    let names: Vec<&str> = names.split_whitespace().collect();
                    let &[channel, other, own] = names.as_slice() else { continue };
                    let text = format!("@{other} do:echo {channel} {own} {other}");
                    self.post(line, Some(channel), &text)?;
                }
                (state @ ("working" | "ready"), _) => {
                    say(&self.out, &json!({ "type": "state", "state": state }))?;
                }
                (other, _) => eprintln!("scripted agent: cannot {other:?}"),
            }
        }
        Ok(None)
    }

    /// Posts as the agent, once for each message that says so.
    fn post(&self, because: &Value, channel: Option<&str>, text: &str) -> io::Result<()> {
        let arguments = json!({ "channel": channel, "topic": "Talk", "create_topic": true, "text": text });
        let id = &because["message"]["id"];
        let call = json!({ "type": "call", "id": id, "tool": "comms_post_message", "arguments": arguments });
        say(&self.out, &call)
    }

    /// One line in one write, so that a kill leaves whole lines.
    fn note(&mut self, what: &str, value: &Value) -> io::Result<()> {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        let note = json!({ "what": what, "pid": std::process::id(), "at_us": at, "value": value });
        self.log.write_all(format!("{note}\n").as_bytes())
    }
}

/// Posts asks until there are `count`, over all lives.
fn ask_all(
    out: &Mutex<io::Stdout>,
    path: &str,
    count: u64,
    pause: Duration,
    results: &mpsc::Receiver<Value>,
) {
    let posted = fs::read_to_string(path).unwrap_or_default().lines().count();
    for number in u64::try_from(posted).unwrap_or(count)..count {
        loop {
            let questions = json!([{
                "id": "go", "question": format!("Go with {number}?"),
                "options": [{ "label": "Yes" }, { "label": "No" }],
            }]);
            let arguments = json!({ "topic": "Asks", "create_topic": true, "questions": questions });
            let id = format!("ask {number}");
            let call = json!({ "type": "call", "id": id, "tool": "comms_post_ask", "arguments": arguments });
            if say(out, &call).is_err() {
                return;
            }
            let Ok(result) = results.recv() else { return };
            if result["ok"] == json!(true) {
                break;
            }
            // The server is away: the same call again, under the same key.
            thread::sleep(Duration::from_millis(20));
        }
        let noted = OpenOptions::new().append(true).create(true).open(path);
        if noted.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes())).is_err() {
            return;
        }
        thread::sleep(pause);
    }
}

fn say(out: &Mutex<io::Stdout>, line: &Value) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}
