//! Words in pieces, calls with their titles, and what is too long.

use agent_client_protocol::v1::schema::{
    Content, Diff, PlanEntry, PlanEntryPriority, TextContent, ToolCallUpdateFields,
};

use super::*;

fn chunk(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

fn says(text: &str) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(chunk(text))
}

fn printed(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

#[tokio::test(start_paused = true)]
async fn words_are_gathered_until_something_else_comes_or_they_are_enough() {
    let mut activities = Activities::default();
    assert_eq!(activities.due(), None);
    assert!(activities.take(says("a")).is_empty() && activities.take(says("b")).is_empty());
    assert_eq!(activities.due(), Some(Instant::now() + GATHER));
    let thought = activities.take(SessionUpdate::AgentThoughtChunk(chunk("hm")));
    assert_eq!(thought, [Activity::Text { text: "ab".into() }]);
    let call = activities.take(SessionUpdate::ToolCall(ToolCall::new("c", "Look")));
    assert_eq!(call[0], Activity::Thinking { text: "hm".into() });
    assert!(matches!(&call[1], Activity::ToolCall { title, .. } if title == "Look"));
    let long = "x".repeat(PIECE_BYTES);
    assert_eq!(activities.take(says(&long)), [Activity::Text { text: long }]);
    activities.take(says("end"));
    assert_eq!(activities.turn_ended(), Some(Activity::Text { text: "end".into() }));
    assert_eq!(activities.due(), None);
}

#[test]
fn an_update_keeps_what_was_known_of_its_call() {
    let mut activities = Activities::default();
    activities.take(SessionUpdate::ToolCall(ToolCall::new("c", "Look").status(Status::InProgress)));
    let fields = ToolCallUpdateFields::new().content(vec![
        printed("found"),
        ToolCallContent::Diff(Diff::new("/a", "new").old_text("old".to_owned())),
    ]);
    let shown = activities.take(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("c", fields)));
    let diff = FileDiff { path: "/a".into(), old_text: Some("old".into()), new_text: "new".into() };
    let (id, status, output) = ("c".to_owned(), ToolCallStatus::InProgress, "found".to_owned());
    assert_eq!(shown, [Activity::ToolCallUpdate { id, status, output, diffs: vec![diff] }]);
    assert_eq!(activities.call("c").expect("known").title, "Look");
    let fields = ToolCallUpdateFields::new().title("Look again".to_owned()).status(Status::Failed);
    let shown = activities.take(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("c", fields)));
    assert!(
        matches!(&shown[0], Activity::ToolCall { title, status: ToolCallStatus::Failed, .. } if title == "Look again")
    );
    activities.turn_ended();
    assert!(activities.call("c").is_none());
}

#[test]
fn a_plan_is_its_steps() {
    let entry = PlanEntry::new("do it", PlanEntryPriority::High, PlanEntryStatus::InProgress);
    let shown = Activities::default().take(SessionUpdate::Plan(Plan::new(vec![entry])));
    let step = PlanStep { content: "do it".into(), status: PlanStepStatus::InProgress };
    assert_eq!(shown, [Activity::Plan { steps: vec![step] }]);
}

#[test]
fn what_is_too_long_says_how_much_is_left_out() {
    assert_eq!(cut("abc".into(), 3), "abc");
    assert_eq!(cut("äää".into(), 3), "ä\n[4 more bytes are not shown]");
    let big = ToolCallContent::Diff(Diff::new("/big", "x".repeat(DIFF_BYTES + 1)));
    let (output, diffs) = content(&[big, ToolCallContent::Diff(Diff::new("/small", "y"))]);
    assert_eq!(
        output,
        "[the change of /big has 262145 bytes and is not shown]\n[the change of /small has 1 bytes and is not shown]"
    );
    assert!(diffs.is_empty());
}
