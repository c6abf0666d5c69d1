//! A request for permission as an ask, and the answer as the option that was chosen.

use std::collections::HashSet;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
};
use compass_agent::{
    guard::flat,
    seen::SeenAsk,
    tools::{OptionParams, PostAskParams, QuestionParams},
};

use super::activity::{Call, content, cut};

/// The topic of such asks in the agent's home channel.
pub(super) const TOPIC: &str = "Permissions";
/// Bytes of what a person is shown of the call's input and changes.
const PREVIEW_BYTES: usize = 32 * 1024;

/// The ask of a request; `call` is what was told of the call before.
///
/// # Errors
///
/// Why people cannot be asked this.
pub(super) fn ask(request: &RequestPermissionRequest, call: Option<&Call>) -> Result<PostAskParams, String> {
    if request.options.is_empty() {
        return Err("a request for permission offers no options".to_owned());
    }
    let mut ids = HashSet::new();
    if let Some(twice) = request.options.iter().find(|offered| !ids.insert(&offered.option_id.0)) {
        let id = flat(&twice.option_id.0);
        return Err(format!("a request for permission offers two options of the id {id:?}"));
    }
    let fields = &request.tool_call.fields;
    let title = fields.title.as_deref().or(call.map(|call| call.title.as_str())).unwrap_or_default();
    let mut question = match flat(title) {
        title if title.trim().is_empty() => format!("Tool call {}", flat(&request.tool_call.tool_call_id.0)),
        title => title,
    };
    for location in fields.locations.iter().flatten() {
        question.push('\n');
        question.push_str(&flat(&location.path.display().to_string()));
    }
    let preview = preview(request);
    let question = QuestionParams {
        id: "permission".to_owned(),
        question,
        header: "Permission".to_owned(),
        options: request.options.iter().map(|offered| option(offered, &preview)).collect(),
        multi: false,
        recommended: None,
    };
    Ok(PostAskParams {
        questions: vec![question],
        topic: TOPIC.to_owned(),
        channel: None,
        create_topic: true,
    })
}

fn option(offered: &PermissionOption, preview: &str) -> OptionParams {
    let (kind, allows) = match offered.kind {
        PermissionOptionKind::AllowOnce => ("allow_once: this time only", true),
        PermissionOptionKind::AllowAlways => ("allow_always: the agent remembers it", true),
        PermissionOptionKind::RejectOnce => ("reject_once: this time only", false),
        PermissionOptionKind::RejectAlways => ("reject_always: the agent remembers it", false),
        _ => ("of a kind this version of Compass does not know", false),
    };
    let label = match flat(&offered.name) {
        name if name.trim().is_empty() => flat(&offered.option_id.0),
        name => name,
    };
    OptionParams {
        label,
        description: kind.to_owned(),
        preview: if allows { preview.to_owned() } else { String::new() },
    }
}

/// What would be done: the changes of files and texts of the call, else its input.
fn preview(request: &RequestPermissionRequest) -> String {
    let fields = &request.tool_call.fields;
    let (text, diffs) = content(fields.content.as_deref().unwrap_or_default());
    let mut parts: Vec<String> = Vec::new();
    if !text.is_empty() {
        parts.push(text);
    }
    for diff in diffs {
        parts.push(flat(&diff.path));
        let old = diff.old_text.as_deref().unwrap_or_default();
        parts.extend(old.lines().map(|line| format!("-{line}")));
        parts.extend(diff.new_text.lines().map(|line| format!("+{line}")));
    }
    if let (true, Some(input)) = (parts.is_empty(), &fields.raw_input) {
        parts.push(serde_json::to_string_pretty(input).unwrap_or_else(|_| input.to_string()));
    }
    // The server takes no NUL, and nothing that can be seen is one.
    cut(parts.join("\n"), PREVIEW_BYTES).replace('\0', "\u{fffd}")
}

/// What a person's answer comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// The option; none if no option was chosen, which is neither a yes nor a no.
    pub(super) chosen: Option<PermissionOptionId>,
    /// True if the answer says more than the agent's protocol can carry.
    pub(super) says_more: bool,
}

/// Reads the answer to the ask of these options.
pub(super) fn decide(ask: &SeenAsk, options: &[PermissionOptionId]) -> Decision {
    let Some(question) = ask.questions.first() else { return Decision { chosen: None, says_more: true } };
    let chosen = match question.chosen_option_ids.as_slice() {
        [id] => id.parse::<usize>().ok().and_then(|place| options.get(place)).cloned(),
        _ => None,
    };
    let says_more = chosen.is_none() || !question.custom_text.is_empty();
    Decision { chosen, says_more }
}

/// The answer of a request.
pub(super) fn response(chosen: Option<PermissionOptionId>) -> RequestPermissionResponse {
    RequestPermissionResponse::new(match chosen {
        Some(id) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id)),
        None => RequestPermissionOutcome::Cancelled,
    })
}

#[cfg(test)]
mod tests;
