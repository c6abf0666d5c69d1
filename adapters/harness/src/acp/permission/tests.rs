//! What a person is shown of a request.

use agent_client_protocol::v1::schema::{
    Diff, ToolCallContent, ToolCallLocation, ToolCallUpdate, ToolCallUpdateFields,
};
use compass_agent::ports::ToolCallStatus;

use super::*;

fn request(fields: ToolCallUpdateFields) -> RequestPermissionRequest {
    let options = vec![
        PermissionOption::new("a", "", PermissionOptionKind::AllowAlways),
        PermissionOption::new("r", "No\nway", PermissionOptionKind::RejectAlways),
    ];
    RequestPermissionRequest::new("s", ToolCallUpdate::new("call\n1", fields), options)
}

#[test]
fn a_title_comes_from_the_request_or_the_call_before_it_and_is_never_blank() {
    let told = Call { title: "Told before".into(), status: ToolCallStatus::Pending };
    let titled = ToolCallUpdateFields::new().title("Own".to_owned());
    for (fields, call, expected) in [
        (titled, Some(&told), "Own"),
        (ToolCallUpdateFields::new(), Some(&told), "Told before"),
        (ToolCallUpdateFields::new().title("\n".to_owned()), None, "Tool call call 1"),
    ] {
        assert_eq!(ask(&request(fields), call).unwrap().questions[0].question, expected);
    }
}

#[test]
fn places_changes_and_input_are_shown_with_the_options_that_allow() {
    let fields = ToolCallUpdateFields::new()
        .title("Edit".to_owned())
        .locations(vec![ToolCallLocation::new("/srv/a\nb")])
        .content(vec![ToolCallContent::Diff(Diff::new("/srv/a", "new\0").old_text("old".to_owned()))]);
    let asked = ask(&request(fields), None).unwrap();
    let question = &asked.questions[0];
    assert_eq!(question.question, "Edit\n/srv/a b");
    let [allow, reject] = question.options.as_slice() else { panic!("two options") };
    assert_eq!((allow.label.as_str(), allow.preview.as_str()), ("a", "/srv/a\n-old\n+new\u{fffd}"));
    assert_eq!((reject.label.as_str(), reject.preview.as_str()), ("No way", ""));
    let input = ToolCallUpdateFields::new().raw_input(serde_json::json!({ "command": "rm" }));
    let asked = ask(&request(input), None).unwrap();
    assert_eq!(asked.questions[0].options[0].preview, "{\n  \"command\": \"rm\"\n}");
}
