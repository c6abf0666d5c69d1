//! What an agent does, as events for people who watch: words in pieces, calls of tools, its plan.

use std::{collections::HashMap, fmt::Write as _, time::Duration};

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, EmbeddedResourceResource, Plan, PlanEntryStatus, SessionUpdate, ToolCall,
    ToolCallContent, ToolCallStatus as Status, ToolCallUpdate,
};
use compass_agent::ports::{Activity, FileDiff, PlanStep, PlanStepStatus, ToolCallStatus};
use tokio::time::Instant;

/// How long words wait for more of them.
const GATHER: Duration = Duration::from_millis(500);
/// Bytes of words that are enough for an event.
const PIECE_BYTES: usize = 4 * 1024;
/// Bytes of one text in an event at the most.
const TEXT_BYTES: usize = 32 * 1024;
/// Bytes of all changes of files in an event at the most.
const DIFF_BYTES: usize = 256 * 1024;
/// Calls whose titles are remembered.
const CALLS: usize = 1024;

/// A call of a tool, as far as it was told.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) title: String,
    pub(super) status: ToolCallStatus,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Kind {
    Text,
    Thinking,
}

/// What is gathered, and what is known of the calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Activities {
    words: Option<Words>,
    calls: HashMap<String, Call>,
}

#[derive(Debug)]
struct Words {
    kind: Kind,
    text: String,
    since: Instant,
}

impl Activities {
    /// Takes an update in; gives what is to be shown now.
    pub(super) fn take(&mut self, update: SessionUpdate) -> Vec<Activity> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.say(Kind::Text, &chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.say(Kind::Thinking, &chunk),
            SessionUpdate::ToolCall(call) => self.behind_words(|this| this.begun(call)),
            SessionUpdate::ToolCallUpdate(update) => self.behind_words(|this| this.went_on(update)),
            SessionUpdate::Plan(plan) => self.behind_words(|_| vec![steps(plan)]),
            // Its modes, commands, options, titles and costs are not what it does.
            _ => Vec::new(),
        }
    }

    /// When gathered words are to be shown, if there are any.
    pub(super) fn due(&self) -> Option<Instant> {
        self.words.as_ref().map(|words| words.since + GATHER)
    }

    /// Gives the words that were gathered.
    pub(super) fn flush(&mut self) -> Option<Activity> {
        let Words { kind, text, .. } = self.words.take()?;
        Some(match kind {
            Kind::Text => Activity::Text { text },
            Kind::Thinking => Activity::Thinking { text },
        })
    }

    /// What was told of a call in this turn.
    pub(super) fn call(&self, id: &str) -> Option<&Call> {
        self.calls.get(id)
    }

    /// The turn is over: its calls are.
    pub(super) fn turn_ended(&mut self) -> Option<Activity> {
        self.calls.clear();
        self.flush()
    }

    fn behind_words(&mut self, then: impl FnOnce(&mut Self) -> Vec<Activity>) -> Vec<Activity> {
        let mut shown: Vec<Activity> = self.flush().into_iter().collect();
        shown.extend(then(self));
        shown
    }

    fn say(&mut self, kind: Kind, chunk: &ContentChunk) -> Vec<Activity> {
        let mut shown = Vec::new();
        if self.words.as_ref().is_some_and(|words| words.kind != kind) {
            shown.extend(self.flush());
        }
        let said = cut(block(&chunk.content), TEXT_BYTES);
        let words =
            self.words.get_or_insert_with(|| Words { kind, text: String::new(), since: Instant::now() });
        words.text.push_str(&said);
        if words.text.len() >= PIECE_BYTES {
            shown.extend(self.flush());
        }
        shown
    }

    fn begun(&mut self, call: ToolCall) -> Vec<Activity> {
        let id = call.tool_call_id.to_string();
        let status = status(call.status);
        let title = cut(call.title, TEXT_BYTES);
        self.remember(&id, Call { title: title.clone(), status });
        let begun = Activity::ToolCall { id: id.clone(), title, status };
        let (output, diffs) = content(&call.content);
        if output.is_empty() && diffs.is_empty() {
            return vec![begun];
        }
        vec![begun, Activity::ToolCallUpdate { id, status, output, diffs }]
    }

    fn went_on(&mut self, update: ToolCallUpdate) -> Vec<Activity> {
        let id = update.tool_call_id.to_string();
        let fields = update.fields;
        let known = self.calls.get(&id).cloned();
        let status = fields.status.map(status);
        let status = status.or(known.as_ref().map(|call| call.status)).unwrap_or(ToolCallStatus::InProgress);
        let title = fields.title.map(|title| cut(title, TEXT_BYTES));
        let mut shown = Vec::new();
        let renamed =
            title.as_ref().is_some_and(|title| known.as_ref().is_none_or(|call| call.title != *title));
        let title = title.or(known.map(|call| call.title)).unwrap_or_default();
        self.remember(&id, Call { title: title.clone(), status });
        if renamed {
            shown.push(Activity::ToolCall { id: id.clone(), title, status });
        }
        let (mut output, diffs) = content(fields.content.as_deref().unwrap_or_default());
        if let (true, Some(raw)) = (output.is_empty() && diffs.is_empty(), fields.raw_output) {
            output = cut(raw.to_string(), TEXT_BYTES);
        }
        shown.push(Activity::ToolCallUpdate { id, status, output, diffs });
        shown
    }

    fn remember(&mut self, id: &str, call: Call) {
        if self.calls.len() < CALLS || self.calls.contains_key(id) {
            self.calls.insert(id.to_owned(), call);
        }
    }
}

fn status(status: Status) -> ToolCallStatus {
    match status {
        Status::InProgress => ToolCallStatus::InProgress,
        Status::Completed => ToolCallStatus::Completed,
        Status::Failed => ToolCallStatus::Failed,
        _ => ToolCallStatus::Pending,
    }
}

fn steps(plan: Plan) -> Activity {
    let step = |entry: agent_client_protocol::v1::schema::PlanEntry| PlanStep {
        content: cut(entry.content, TEXT_BYTES),
        status: match entry.status {
            PlanEntryStatus::InProgress => PlanStepStatus::InProgress,
            PlanEntryStatus::Completed => PlanStepStatus::Completed,
            _ => PlanStepStatus::Pending,
        },
    };
    Activity::Plan { steps: plan.entries.into_iter().map(step).collect() }
}

/// What a tool printed, and what it changed.
pub(super) fn content(content: &[ToolCallContent]) -> (String, Vec<FileDiff>) {
    let (mut output, mut diffs, mut bytes) = (Vec::new(), Vec::new(), 0);
    for part in content {
        match part {
            ToolCallContent::Content(part) => output.push(block(&part.content)),
            ToolCallContent::Diff(diff) => {
                let path = diff.path.display().to_string();
                let size = diff.new_text.len() + diff.old_text.as_ref().map_or(0, String::len);
                bytes += size;
                if bytes > DIFF_BYTES {
                    output.push(format!("[the change of {path} has {size} bytes and is not shown]"));
                    continue;
                }
                diffs.push(FileDiff {
                    path,
                    old_text: diff.old_text.clone(),
                    new_text: diff.new_text.clone(),
                });
            }
            ToolCallContent::Terminal(terminal) => {
                output.push(format!("[terminal {}]", terminal.terminal_id));
            }
            _ => output.push("[content of an unknown kind]".to_owned()),
        }
    }
    (cut(output.join("\n"), TEXT_BYTES), diffs)
}

/// A block as text; what is no text is named.
pub(super) fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio, {}]", audio.mime_type),
        ContentBlock::ResourceLink(link) => format!("[{}: {}]", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            EmbeddedResourceResource::BlobResourceContents(blob) => format!("[data of {}]", blob.uri),
            _ => "[content of an unknown kind]".to_owned(),
        },
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// The beginning of a text that is too long, with a remark that says how much is left out.
pub(super) fn cut(mut text: String, most: usize) -> String {
    let all = text.len();
    if all > most {
        text.truncate(text.floor_char_boundary(most));
        let left = all - text.len();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[{left} more bytes are not shown]");
    }
    text
}

#[cfg(test)]
mod tests;
