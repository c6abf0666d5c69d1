//! The `blocks` column: how its JSON reads, and the only two functions whose SQL writes it.

use std::{borrow::Cow, collections::HashSet};

use compass_domain::{
    ClosedAsk, Corrupt, MessageBlock, NewMessage,
    ask::{End, StoredAsk, StoredOption, StoredQuestion},
    message::StoredBlock,
};
use compass_ports::StorageError;
use serde::{Deserialize, Serialize};

use crate::writer::{Change, Shape, Table};

/// One element of the stored array: `kind`, and exactly one payload under the key of that name.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BlockJson {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask: Option<AskJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask_answer: Option<AnswerJson>,
}

#[derive(Debug, Serialize, Deserialize)]
struct AnswerJson {
    ask: AskJson,
    asker_account_id: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct AskJson {
    ask_id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionJson>,
    #[serde(default, skip_serializing_if = "is_false")]
    answered: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    cancelled: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct QuestionJson {
    #[serde(default)]
    question_id: String,
    #[serde(default)]
    question: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    header: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<OptionJson>,
    #[serde(default, skip_serializing_if = "is_false")]
    allow_multiple: bool,
    // Absent and 0 differ: 0 is the first option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recommended: Option<i32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chosen_option_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    custom_text: String,
    #[serde(default, skip_serializing_if = "is_false")]
    timed_out: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct OptionJson {
    #[serde(default)]
    id: String,
    #[serde(default)]
    label: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    preview: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Reads a stored array of blocks; keys it does not know are ignored.
///
/// # Errors
///
/// [`Corrupt`] that names the block, for a kind it does not know or a payload that is not its kind's.
pub(crate) fn decode(stored: &str) -> Result<Vec<StoredBlock>, Corrupt> {
    let blocks: Vec<BlockJson> = serde_json::from_str(stored).map_err(|error| locate(stored, &error))?;
    let blocks = blocks.into_iter().enumerate();
    blocks.map(|(index, block)| block.open().map_err(|what| at(index, &what))).collect()
}

/// A new message as the parameter of [`insert`] holds it.
#[derive(Serialize)]
struct NewRow<'a> {
    id: String,
    channel: String,
    topic: String,
    author: String,
    at: i64,
    seq: u64,
    blocks: Vec<BlockJson>,
    search_text: String,
    key: Option<&'a str>,
    digest: Option<String>,
    answers: Option<String>,
    answers_digest: Option<String>,
    run: u32,
    mentions: Option<&'a str>,
}

/// The end of an ask, as the parameters of [`close`] hold it.
#[derive(Serialize)]
struct EndRow {
    ask: String,
    message: String,
    ended: i16,
    closed_by: String,
    at: i64,
}

/// The blocks of a message once an ask of it has ended.
#[derive(Serialize)]
struct EndedRow {
    ask: String,
    message: String,
    blocks: Vec<BlockJson>,
}

/// Stores new messages, in this order.
///
/// # Errors
///
/// [`StorageError::Internal`] if they cannot be written as JSON.
pub(crate) fn insert(messages: &[&NewMessage], shape: Shape) -> Result<Change, StorageError> {
    static INSERT: Table = Table {
        name: "insert_messages",
        columns: &[
            ("id", "uuid"),
            ("channel", "uuid"),
            ("topic", "uuid"),
            ("author", "uuid"),
            ("at", "bigint"),
            ("seq", "bigint"),
            ("blocks", "jsonb"),
            ("search_text", "text"),
            ("key", "text"),
            ("digest", "text"),
            ("answers", "uuid"),
            ("answers_digest", "text"),
            ("run", "bigint"),
            ("mentions", "text"),
        ],
        postgres: Cow::Borrowed(
            "
INSERT INTO messages (id, tenant, channel, topic, author, at_ms, seq, blocks, search_text, client_request_id,
    request_digest, answers_ask_id, answers_digest, agent_run, mentions)
SELECT i.id, $2, i.channel, i.topic, i.author, i.at, i.seq, i.blocks, i.search_text, i.key,
    decode(i.digest, 'hex'), i.answers, decode(i.answers_digest, 'hex'), i.run, i.mentions
FROM {rows}",
        ),
        many: "",
        known: None,
        sqlite: "
INSERT INTO messages (id, tenant, channel, topic, author, at_ms, seq, blocks, search_text, client_request_id,
    request_digest, answers_ask_id, answers_digest, agent_run, mentions)
SELECT unhex(i.value->>'id'), ?2, unhex(i.value->>'channel'), unhex(i.value->>'topic'),
    unhex(i.value->>'author'), i.value->>'at', i.value->>'seq', i.value->'blocks', i.value->>'search_text',
    i.value->>'key', unhex(i.value->>'digest'), unhex(i.value->>'answers'), unhex(i.value->>'answers_digest'),
    i.value->>'run', i.value->>'mentions'
FROM json_each(?1) i
ORDER BY i.key",
    };
    let rows: Vec<NewRow<'_>> = messages.iter().map(|new| NewRow::of(new)).collect();
    Change::new(&INSERT, &rows, Some(rows.len()), shape)
}

/// Stores the ends of asks: in their messages, then in their entries. Each statement changes fewer rows than it names
/// if an ask is not open any more or its message is gone.
///
/// # Errors
///
/// [`StorageError::Internal`] if they cannot be written as JSON.
pub(crate) fn close(closed: &[&ClosedAsk], shape: Shape) -> Result<[Change; 2], StorageError> {
    static STORE: Table = Table {
        name: "close_blocks",
        columns: &[("ask", "uuid"), ("message", "uuid"), ("blocks", "jsonb")],
        postgres: Cow::Borrowed(
            "
UPDATE messages m SET blocks = i.blocks FROM {rows}
WHERE m.id = i.message AND (SELECT a.closed_at_ms IS NULL FROM asks a WHERE a.ask_id = i.ask)",
        ),
        many: " AND m.id = ANY(ARRAY(SELECT r.message FROM jsonb_to_recordset($1) AS r(message uuid)))",
        known: None,
        sqlite: "
UPDATE messages SET blocks = i.blocks
FROM (
    SELECT unhex(value->>'ask') AS ask, unhex(value->>'message') AS message, value->'blocks' AS blocks
    FROM json_each(?1)
) i
WHERE messages.id = i.message AND +messages.tenant = ?2
    AND EXISTS (SELECT 1 FROM asks a WHERE a.ask_id = i.ask AND a.closed_at_ms IS NULL)",
    };
    static END: Table = Table {
        name: "close_asks",
        columns: &[
            ("ask", "uuid"),
            ("message", "uuid"),
            ("ended", "smallint"),
            ("closed_by", "uuid"),
            ("at", "bigint"),
        ],
        // As a number the condition is served by no index of open asks, which also holds those that ended since the
        // last vacuum.
        postgres: Cow::Borrowed(
            "
UPDATE asks a SET closed_at_ms = i.at, closed_by = i.closed_by, ended = i.ended FROM {rows}
WHERE a.ask_id = i.ask AND a.message = i.message AND (a.closed_at_ms IS NULL)::int = 1",
        ),
        many: " AND a.ask_id = ANY(ARRAY(SELECT r.ask FROM jsonb_to_recordset($1) AS r(ask uuid)))",
        known: None,
        sqlite: "
UPDATE asks SET closed_at_ms = i.at, closed_by = i.closed_by, ended = i.ended
FROM (
    SELECT unhex(value->>'ask') AS ask, unhex(value->>'message') AS message, value->>'at' AS at,
        unhex(value->>'closed_by') AS closed_by, value->>'ended' AS ended
    FROM json_each(?1)
) i
WHERE asks.ask_id = i.ask AND asks.message = i.message AND +asks.tenant = ?2 AND asks.closed_at_ms IS NULL",
    };
    let messages = EndedRow::list(closed);
    let ends: Vec<EndRow> = closed.iter().map(|closed| EndRow::of(closed)).collect();
    Ok([
        Change::new(&STORE, &messages, Some(messages.len()), shape)?,
        Change::new(&END, &ends, Some(ends.len()), shape)?,
    ])
}

impl<'a> NewRow<'a> {
    fn of(new: &'a NewMessage) -> Self {
        let message = new.message();
        let (key, digest) = new.key().map(|(key, digest)| (key.as_str(), hex(&digest.0))).unzip();
        let (answers, answers_digest) =
            new.answers().map(|(ask, digest)| (ask.to_string(), hex(&digest.0))).unzip();
        Self {
            id: message.id().to_string(),
            channel: message.channel().to_string(),
            topic: message.topic().to_string(),
            author: message.author().to_string(),
            at: message.at().0,
            seq: message.seq().0,
            blocks: encode(message.blocks()),
            search_text: message.search_text(),
            key,
            digest,
            answers,
            answers_digest,
            run: message.agent_run(),
            mentions: new.mentioned(),
        }
    }
}

impl EndRow {
    fn of(closed: &ClosedAsk) -> Self {
        Self {
            ask: closed.ask().to_string(),
            message: closed.message().id().to_string(),
            ended: match closed.end() {
                End::Answered => 1,
                End::Cancelled => 2,
            },
            closed_by: closed.by().to_string(),
            at: closed.at().0,
        }
    }
}

impl EndedRow {
    /// Each later end of a message holds the earlier ones, so the last one's blocks are the message's.
    fn list(closed: &[&ClosedAsk]) -> Vec<Self> {
        let mut stored = HashSet::new();
        let last = closed.iter().rev().filter(|closed| stored.insert(closed.message().id()));
        last.map(|closed| Self {
            ask: closed.ask().to_string(),
            message: closed.message().id().to_string(),
            blocks: encode(closed.message().blocks()),
        })
        .collect()
    }
}

fn encode(blocks: &[MessageBlock]) -> Vec<BlockJson> {
    blocks.iter().map(|block| BlockJson::new(block.stored())).collect()
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Says which block made the array unreadable.
fn locate(stored: &str, error: &serde_json::Error) -> Corrupt {
    let Ok(values) = serde_json::from_str::<Vec<serde_json::Value>>(stored) else {
        return Corrupt::new(format!("blocks: {error}"));
    };
    let faults = values.into_iter().enumerate().filter_map(|(index, value)| {
        serde_json::from_value::<BlockJson>(value).err().map(|error| at(index, &error.to_string()))
    });
    faults.into_iter().next().unwrap_or_else(|| Corrupt::new(format!("blocks: {error}")))
}

fn at(index: usize, what: &str) -> Corrupt {
    Corrupt::new(format!("block {index}: {what}"))
}

impl BlockJson {
    fn new(stored: StoredBlock) -> Self {
        match stored {
            StoredBlock::Text(text) => Self { kind: "text".into(), text: Some(text), ..Self::default() },
            StoredBlock::Ask(ask) => Self { kind: "ask".into(), ask: Some(ask.into()), ..Self::default() },
            StoredBlock::Answer { ask, asker } => Self {
                kind: "ask_answer".into(),
                ask_answer: Some(AnswerJson { ask: ask.into(), asker_account_id: asker }),
                ..Self::default()
            },
        }
    }

    fn open(self) -> Result<StoredBlock, String> {
        match (self.kind.as_str(), self.text, self.ask, self.ask_answer) {
            ("text", Some(text), None, None) => Ok(StoredBlock::Text(text)),
            ("ask", None, Some(ask), None) => Ok(StoredBlock::Ask(ask.into())),
            ("ask_answer", None, None, Some(answer)) => {
                Ok(StoredBlock::Answer { ask: answer.ask.into(), asker: answer.asker_account_id })
            }
            ("text" | "ask" | "ask_answer", ..) => Err(format!("kind {:?} and payload disagree", self.kind)),
            _ => Err(format!("unknown kind {:?}", self.kind)),
        }
    }
}

impl From<StoredAsk> for AskJson {
    fn from(ask: StoredAsk) -> Self {
        Self {
            ask_id: ask.ask_id,
            questions: ask.questions.into_iter().map(QuestionJson::from).collect(),
            answered: ask.answered,
            cancelled: ask.cancelled,
        }
    }
}

impl From<AskJson> for StoredAsk {
    fn from(ask: AskJson) -> Self {
        Self {
            ask_id: ask.ask_id,
            questions: ask.questions.into_iter().map(StoredQuestion::from).collect(),
            answered: ask.answered,
            cancelled: ask.cancelled,
        }
    }
}

impl From<StoredQuestion> for QuestionJson {
    fn from(question: StoredQuestion) -> Self {
        let options = question.options.into_iter();
        Self {
            question_id: question.question_id,
            question: question.question,
            header: question.header,
            options: options
                .map(|StoredOption { id, label, description, preview }| OptionJson {
                    id,
                    label,
                    description,
                    preview,
                })
                .collect(),
            allow_multiple: question.allow_multiple,
            recommended: question.recommended,
            chosen_option_ids: question.chosen_option_ids,
            custom_text: question.custom_text,
            timed_out: question.timed_out,
        }
    }
}

impl From<QuestionJson> for StoredQuestion {
    fn from(question: QuestionJson) -> Self {
        let options = question.options.into_iter();
        Self {
            question_id: question.question_id,
            question: question.question,
            header: question.header,
            options: options
                .map(|OptionJson { id, label, description, preview }| StoredOption {
                    id,
                    label,
                    description,
                    preview,
                })
                .collect(),
            allow_multiple: question.allow_multiple,
            recommended: question.recommended,
            chosen_option_ids: question.chosen_option_ids,
            custom_text: question.custom_text,
            timed_out: question.timed_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only path from stored text back to stored text.
    fn rewrite(stored: &str) -> String {
        let blocks: Vec<BlockJson> = decode(stored).unwrap().into_iter().map(BlockJson::new).collect();
        serde_json::to_string(&blocks).unwrap()
    }

    fn refusal(stored: &str) -> String {
        decode(stored).unwrap_err().to_string()
    }

    #[test]
    fn every_key_is_stored_under_its_name_and_in_full() {
        let full = concat!(
            r#"[{"kind":"text","text":"it's \" \u00e9 😀"},"#,
            r#"{"kind":"ask","ask":{"ask_id":"a","questions":[{"question_id":"q","question":"?","header":"h","#,
            r#""options":[{"id":"o","label":"l","description":"d","preview":"p"}],"allow_multiple":true,"#,
            r#""recommended":0,"chosen_option_ids":["o"],"custom_text":"c","timed_out":true}],"answered":true}},"#,
            r#"{"kind":"ask_answer","ask_answer":{"ask":{"ask_id":"a","cancelled":true},"asker_account_id":"b"}}]"#,
        );
        assert_eq!(rewrite(full), full.replace(r"\u00e9", "é"));
    }

    #[test]
    fn empty_and_false_keys_are_left_out_but_a_recommended_first_option_is_kept() {
        let full = concat!(
            r#"[{"kind":"ask","ask":{"ask_id":"a","answered":false,"cancelled":false,"questions":[{"question_id":"q","#,
            r#""question":"","header":"","allow_multiple":false,"recommended":0,"chosen_option_ids":[],"custom_text":"","#,
            r#""options":[{"id":"","label":"","description":"","preview":""}],"timed_out":false}]}}]"#,
        );
        let short = concat!(
            r#"[{"kind":"ask","ask":{"ask_id":"a","questions":[{"question_id":"q","question":"","#,
            r#""options":[{"id":"","label":""}],"recommended":0}]}}]"#,
        );
        assert_eq!(rewrite(full), short);
    }

    #[test]
    fn a_stored_ask_without_the_keys_answered_and_cancelled_is_open() {
        let stored =
            r#"[{"kind":"ask","ask":{"ask_id":"a","questions":[{"question_id":"q","question":"?"}]}}]"#;
        let blocks = decode(stored).unwrap();
        let [StoredBlock::Ask(ask)] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert_eq!((ask.answered, ask.cancelled), (false, false));
    }

    #[test]
    fn an_unknown_key_is_ignored_and_lost_on_the_next_write() {
        let newer =
            r#"[{"kind":"text","text":"t","color":"red"},{"kind":"ask","ask":{"ask_id":"a","due":5}}]"#;
        assert_eq!(rewrite(newer), r#"[{"kind":"text","text":"t"},{"kind":"ask","ask":{"ask_id":"a"}}]"#);
    }

    #[test]
    fn a_kind_and_a_payload_that_disagree_are_corrupt_and_the_block_is_named() {
        let text = r#"{"kind":"text","text":"t"}"#;
        for wrong in [
            r#"{"kind":"text"}"#,
            r#"{"kind":"text","ask":{"ask_id":"a"}}"#,
            r#"{"kind":"ask","ask":{"ask_id":"a"},"text":"t"}"#,
            r#"{"kind":"ask_answer","ask":{"ask_id":"a"}}"#,
        ] {
            let refused = refusal(&format!("[{text},{wrong}]"));
            assert!(refused.contains("block 1: kind") && refused.contains("disagree"), "{wrong}: {refused}");
        }
        let unknown = refusal(&format!(r#"[{text},{{"kind":"song"}}]"#));
        assert!(unknown.contains(r#"block 1: unknown kind "song""#), "{unknown}");
    }

    #[test]
    fn a_payload_of_another_shape_is_corrupt_and_the_block_is_named() {
        for wrong in [r#"{"kind":"text","text":5}"#, r#"{"text":"t"}"#, r#"{"kind":"ask","ask":{}}"#, "7"] {
            let refused = refusal(&format!(r#"[{{"kind":"text","text":"t"}},{wrong}]"#));
            assert!(refused.contains("block 1: "), "{wrong}: {refused}");
        }
        assert!(refusal("{}").contains("blocks: "));
    }
}
