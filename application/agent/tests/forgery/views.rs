//! What a model reads, made of content in every place where members, people or a server put some.

use std::{
    collections::HashMap,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use compass_agent::{
    guard::flat,
    lanes::Handed,
    ports::{Call, CallError, CallResult, Gateway},
    prompt,
    seen::{
        Delivery, Handles, SeenAsk, SeenBlock, SeenChannel, SeenGroup, SeenMessage, SeenOption, SeenQuestion,
        SeenRosterEntry, SeenTopic,
    },
    tools::{PostKeys, Toolbox},
};
use serde_json::{Value, json};

/// The first fence that the random source offers: what a forger may have guessed.
pub(crate) const GUESS: &str = "abababababababab";

/// How a place is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    /// A token, or malformed.
    Token,
    /// Words on one line.
    Line,
    /// A body.
    Body,
}

use Class::{Body, Line, Token};

/// Every place: its name, and how it is read.
const PLACES: [(&str, Class); 24] = [
    ("message id", Token),
    ("topic id", Token),
    ("author", Token),
    ("body", Body),
    ("channel name", Line),
    ("topic name", Line),
    ("handle", Token),
    ("ask id", Token),
    ("question", Line),
    ("other question", Line),
    ("option id", Line),
    ("label", Line),
    ("chosen id", Line),
    ("custom text", Line),
    ("answered by", Token),
    ("asker", Token),
    ("display name", Line),
    ("activity", Line),
    ("other body", Body),
    ("topic asked for", Line),
    ("account id", Token),
    ("parent", Token),
    ("answerer's handle", Token),
    ("asker's handle", Token),
];

/// One content for each place.
#[derive(Clone)]
pub(crate) struct Content(Vec<String>);

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |value: &String| value.chars().take(120).collect::<String>();
        f.debug_map().entries(PLACES.iter().map(|(name, _)| name).zip(self.0.iter().map(cut))).finish()
    }
}

impl Content {
    /// How many places there are.
    pub(crate) const PLACES: usize = PLACES.len();

    /// These values, in the order of the places.
    pub(crate) fn of(values: Vec<String>) -> Self {
        assert_eq!(values.len(), Self::PLACES);
        Self(values)
    }

    /// One value in every place.
    pub(crate) fn everywhere(value: &str) -> Self {
        Self(vec![value.to_owned(); Self::PLACES])
    }

    fn at(&self, place: &str) -> String {
        let index = PLACES.iter().position(|(name, _)| *name == place).expect("a place");
        self.0[index].clone()
    }

    /// Content of the same kind everywhere (token or not, blank or not, equal to one another or not) that says nothing.
    pub(crate) fn harmless(&self) -> Self {
        let mut known: HashMap<(Class, &str), usize> = HashMap::new();
        let harmless = PLACES.iter().zip(&self.0).map(|((_, class), value)| {
            let next = known.len() + 1;
            let number = *known.entry((*class, value)).or_insert(next);
            let blank = match class {
                Token => !is_token(value),
                Line => flat(value).trim().is_empty(),
                Body => value.is_empty(),
            };
            match (value.is_empty(), blank) {
                (true, _) => String::new(),
                (false, true) => " ".repeat(number),
                (false, false) => format!("x{number}"),
            }
        });
        Self(harmless.collect())
    }
}

fn is_token(value: &str) -> bool {
    compass_agent::guard::attr(value) == value
}

/// The value in one place at a time, and words elsewhere.
pub(crate) fn contents_of_one(value: &str) -> Vec<Content> {
    let places = 0..Content::PLACES;
    let one = |hostile: usize| {
        let value = |place: usize| if place == hostile { value.to_owned() } else { format!("w{place}") };
        Content(places.clone().map(value).collect())
    };
    places.clone().map(one).collect()
}

/// A recorded question and its options in the places of an ask.
pub(crate) fn hostile_ask(recorded: &Value) -> Content {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let option = |index: usize, field: &str| text(&recorded["options"][index][field]);
    let mut content = Content::everywhere("w").0;
    for (place, value) in [
        ("question", text(&recorded["question"])),
        ("other question", text(&recorded["header"])),
        ("label", option(0, "label")),
        ("custom text", option(0, "description")),
        ("body", option(1, "label")),
        ("activity", option(1, "description")),
    ] {
        let index = PLACES.iter().position(|(name, _)| *name == place).expect("a place");
        content[index] = value;
    }
    Content(content)
}

/// The line breaks of every kind of reader divide a text.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}', '\u{1b}'];
    text.trim_end_matches('\n').split(breaks).collect()
}

/// The fence of a text, from its first line.
pub(crate) fn fence(text: &str) -> &str {
    text.split([' ', ']']).nth(1).expect("a framing line")
}

/// What the product wrote: each line that is not of a body, as its mark without the values in it, how many fences it
/// has and how many line breaks of other kinds. A record without a mark inside is a body.
pub(crate) fn skeleton(text: &str) -> Vec<(String, usize, usize)> {
    let fence = fence(text);
    let shape = |line: &str| (mark(line, fence), line.matches(fence).count(), lines(line).len());
    let mut skeleton = Vec::new();
    let mut inside: Option<Vec<&str>> = None;
    for line in text.split('\n') {
        let closes = line.starts_with(&format!("</msg {fence}"));
        match inside.as_mut() {
            Some(record) if !closes => {
                record.push(line);
                continue;
            }
            Some(record) => {
                let marked = record.iter().any(|line| line.contains(fence));
                skeleton.extend(record.iter().filter(|_| marked).map(|line| shape(line)));
                inside = None;
            }
            None => {}
        }
        skeleton.push(shape(line));
        if line.starts_with(&format!("<msg {fence}")) {
            inside = Some(Vec::new());
        }
    }
    assert_eq!(inside, None, "a record that is not closed: {text}");
    skeleton
}

/// The mark a line begins with, without the values in quotes.
fn mark(line: &str, fence: &str) -> String {
    let end = line.find(['>', ']']).map_or(line.len(), |end| end + 1);
    let fixed: Vec<&str> = line[..end].split('"').step_by(2).collect();
    fixed.join("\"\"").replace(fence, "F")
}

type Render = fn(&Content) -> String;

/// What a model reads that has more than one line.
pub(crate) const VIEWS: [(&str, Render); 6] = [
    ("prompt", prompt),
    ("transcript", |content| tool("comms_list_messages", json!({}), CallResult::List(page(content)))),
    ("transcript of a topic", |content| {
        // A topic's name that is refused never reaches a page.
        let topic: String = content.at("topic asked for").chars().take(120).collect();
        let arguments = if topic.trim().is_empty() { json!({}) } else { json!({ "topic": topic }) };
        tool("comms_list_messages", arguments, CallResult::List(page(content)))
    }),
    ("topics", |content| tool("comms_list_topics", json!({}), CallResult::ListTopics(topics(content)))),
    ("roster", |content| tool("compass_roster", json!({}), CallResult::Roster(agents(content)))),
    ("tree", |content| tool("compass_tree", json!({}), CallResult::Roster(agents(content)))),
];

/// The results of one line that carry a name, each with the value as that name.
pub(crate) fn one_line_results(value: &str) -> Vec<(&'static str, String)> {
    let channel = || {
        let ids = vec![value.to_owned()];
        Some(SeenChannel {
            id: value.to_owned() + "x",
            name: value.to_owned(),
            member_account_ids: [ids.clone(), vec!["m".to_owned()]].concat(),
            subscriber_account_ids: ids.clone(),
            handles: [("m".to_owned(), value.to_owned())].into_iter().collect(),
            ..SeenChannel::default()
        })
    };
    let group = SeenGroup { id: value.to_owned(), name: value.to_owned() };
    let mut results = vec![
        (
            "comms_open_dm",
            json!({ "peer_handle": "p" }),
            CallResult::OpenDm { channel: channel(), created: true },
        ),
        ("comms_create_channel", json!({ "name": "n" }), CallResult::CreateChannel(channel())),
        ("comms_update_members", json!({ "channel": "n" }), CallResult::UpdateMembers(channel())),
        ("comms_create_channel_group", json!({ "name": "n" }), CallResult::CreateChannelGroup(Some(group))),
    ];
    if !value.trim().is_empty() {
        results.push(("compass_set_status", json!({ "activity": value }), CallResult::SetStatus));
        results.push(("comms_cancel_ask", json!({ "ask_id": value }), CallResult::CancelAsk));
    }
    let run = |(name, arguments, result)| (name, tool(name, arguments, result));
    results.into_iter().map(run).collect()
}

/// Offers the guess first, then others.
fn random() -> impl Fn() -> [u8; 8] + Send + Sync {
    let calls = AtomicU64::new(0);
    move || match calls.fetch_add(1, Ordering::Relaxed) {
        0 => [0xab; 8],
        later => later.to_be_bytes(),
    }
}

struct Played(CallResult);

#[async_trait]
impl Gateway for Played {
    async fn call(&self, _: &str, _: Call) -> Result<CallResult, CallError> {
        Ok(self.0.clone())
    }
}

fn tool(name: &'static str, arguments: Value, result: CallResult) -> String {
    let (gateway, keys, random) = (Played(result), PostKeys::new("n"), random());
    let toolbox = Toolbox { gateway: &gateway, keys: &keys, random: &random };
    futures::executor::block_on(toolbox.call("1", name, arguments)).expect("a result").text
}

fn prompt(content: &Content) -> String {
    let handed = |message, delivered_before| {
        let delivery = Delivery {
            message,
            topic_name: content.at("topic name"),
            channel_name: content.at("channel name"),
            from_handle: content.at("handle"),
            steer: false,
        };
        Handed { delivery, delivered_before }
    };
    let batch: Vec<Handed> =
        page(content).into_iter().rev().zip([false, true, true]).map(|(m, d)| handed(m, d)).collect();
    prompt::render(&batch, 1, "reader", &random())
}

/// A page, newest first: an answer, an ask in each of its states, and texts.
fn page(content: &Content) -> Vec<SeenMessage> {
    let message = |topic_id: String, blocks| SeenMessage {
        id: content.at("message id"),
        topic_id,
        author_account_id: content.at("author"),
        at_unix_ms: 0,
        channel_seq: 1,
        blocks,
        handles: handles(content),
    };
    let answer =
        SeenBlock::AskAnswer { ask: ask(content, true, false), asker_account_id: content.at("asker") };
    let asks = [(false, false), (true, false), (false, true)];
    let asks = asks.map(|(answered, cancelled)| SeenBlock::Ask { ask: ask(content, answered, cancelled) });
    let text = |place| SeenBlock::Text { text: content.at(place) };
    // Bodies stand in records of their own, so that every line of another record has to be a mark.
    vec![
        message("other".into(), vec![answer, SeenBlock::Unknown]),
        message(content.at("topic id"), asks.to_vec()),
        message(content.at("topic id"), vec![text("body"), text("other body")]),
    ]
}

/// Nobody's handle is known if it says nothing.
fn handles(content: &Content) -> Handles {
    let of = |account: &str, handle: &str| (content.at(account), content.at(handle));
    [of("author", "handle"), of("asker", "asker's handle"), of("answered by", "answerer's handle")]
        .into_iter()
        .collect()
}

fn ask(content: &Content, answered: bool, cancelled: bool) -> SeenAsk {
    let open = SeenQuestion {
        question: content.at("other question"),
        options: vec![SeenOption {
            id: content.at("option id"),
            label: content.at("label"),
            ..SeenOption::default()
        }],
        ..SeenQuestion::default()
    };
    let settled = SeenQuestion {
        question: content.at("question"),
        chosen_option_ids: vec![content.at("option id"), content.at("chosen id")],
        custom_text: content.at("custom text"),
        timed_out: true,
        ..open.clone()
    };
    SeenAsk {
        ask_id: content.at("ask id"),
        questions: vec![settled, open],
        answered,
        cancelled,
        answered_by_account_id: content.at("answered by"),
        closed_at_unix_ms: 0,
    }
}

fn topics(content: &Content) -> Vec<SeenTopic> {
    let topic =
        SeenTopic { id: content.at("topic id"), name: content.at("topic name"), ..SeenTopic::default() };
    let archived = SeenTopic { archived: true, ..topic.clone() };
    vec![topic, archived]
}

fn agents(content: &Content) -> Vec<SeenRosterEntry> {
    let parent = SeenRosterEntry {
        agent_account_id: content.at("account id"),
        handle: content.at("handle"),
        display_name: content.at("display name"),
        activity: content.at("activity"),
        ..SeenRosterEntry::default()
    };
    let child = SeenRosterEntry {
        agent_account_id: "child".into(),
        parent_agent_id: content.at("parent"),
        ..parent.clone()
    };
    vec![child, parent]
}
