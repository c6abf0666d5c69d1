//! The house rules of the contract. Each rule returns what breaks it, in words; nothing if all is well.

use std::collections::BTreeSet;

use prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};

use super::{inputs, listing, messages, oneof, reachable};

/// Numbers that once had a meaning and must stay without one.
const LEFT_UNUSED: [(&str, i32); 3] = [("AgentControl", 4), ("AgentFrame", 1), ("AgentFrame", 2)];

/// The RPCs that carry the calls of an agent, and with them the withdrawal of an ask.
const RELAY_DOORS: [&str; 3] = ["AgentDoor.Call", "AgentGateway.Comms", "RunnerService.RelayCommsCall"];

/// Words in a field's name that hint at an account, a process or a credential.
const IDENTITY_WORDS: [&str; 24] = [
    "account",
    "accounts",
    "actor",
    "agent",
    "as",
    "asker",
    "author",
    "behalf",
    "by",
    "caller",
    "from",
    "handle",
    "handles",
    "identity",
    "instance",
    "owner",
    "principal",
    "runner",
    "sender",
    "session",
    "tenant",
    "token",
    "user",
    "users",
];

/// Fields of inputs that hint at an identity, each judged not to say who calls.
const JUDGED: [&str; 51] = [
    // What is worked on or looked at.
    "CreateAgentRequest.handle",
    "CreateAgentRequest.parent_agent_id",
    "CreateChannelRequest.anchor_agent_id",
    "CreateChannelRequest.member_account_ids",
    "CreateChannelRequest.member_handles",
    "CreateRunnerTokenRequest.runner_id",
    "CreateSignInLinkRequest.account_id",
    "CreateUserRequest.handle",
    "GetAgentStatusRequest.session_id",
    "GetRosterRequest.agent_account_id",
    "IssueTokenRequest.account_id",
    "ListTokensRequest.account_id",
    "OpenDMRequest.peer_handle",
    "ProvisionAgentWorkspaceRequest.agent_account_id",
    "ProvisionAgentWorkspaceRequest.runner_id",
    "ReloadAgentSessionRequest.session_id",
    "ReparentAgentRequest.agent_account_id",
    "ReparentAgentRequest.new_parent_agent_id",
    "RevokeTokenByIdRequest.token_id",
    "RevokeTokenRequest.token",
    "SetChannelPolicyRequest.owner_account_id",
    "SpawnAgentRequest.agent_account_id",
    "SpawnAgentRequest.runner_id",
    "StartAgentSessionRequest.resume_session_id",
    "StartAgentSessionRequest.session_id",
    "StopAgentSessionRequest.session_id",
    "SubscribeAgentSessionRequest.session_id",
    "UpdateChannelMembersRequest.add_handles",
    "UpdateChannelMembersRequest.add_member_account_ids",
    "UpdateChannelMembersRequest.remove_handles",
    "UpdateChannelMembersRequest.remove_member_account_ids",
    "UpdateChannelMembersRequest.subscribe_account_ids",
    "UpdateChannelMembersRequest.subscribe_handles",
    "UpdateChannelMembersRequest.unsubscribe_account_ids",
    "UpdateChannelMembersRequest.unsubscribe_handles",
    // Server-owned parts of blocks: dropped or refused when a client sends them.
    "Ask.answered_by_account_id",
    "AskAnswerBlock.asker_account_id",
    // A life of the event source.
    "SubscribeCommsRequest.instance_epoch",
    "SubscribeEventsRequest.instance_epoch",
    // A runner about its own process and sessions, checked against what its token is bound to.
    "AgentFrame.session",
    "AgentSessionStatus.agent_account_id",
    "AgentSessionStatus.session_id",
    "AgentWake.agent_account_id",
    "EnrollRequest.instance_id",
    "EnrollRequest.runner_id",
    "PublishEventsRequest.runner_seq",
    "PublishEventsRequest.session_id",
    "RelayCommsCallRequest.session_id",
    "ReloadAgentSessionResponse.session_id",
    "SessionsRequest.instance_id",
    "StartAgentSessionResponse.session_id",
];

/// What `golden` and the descriptors do not agree on: `-` is missing from the contract, `+` is not in the listing.
pub(crate) fn differences(golden: &str, contract: &FileDescriptorSet) -> Vec<String> {
    let listing = listing(contract);
    let is: BTreeSet<&str> = listing.iter().map(String::as_str).collect();
    let wanted: BTreeSet<&str> = golden.lines().collect();
    let mut found: Vec<String> = wanted
        .difference(&is)
        .map(|line| format!("{line} (-)"))
        .chain(is.difference(&wanted).map(|line| format!("{line} (+)")))
        .collect();
    found.sort();
    if found.is_empty() && !golden.lines().eq(listing.iter().map(String::as_str)) {
        found.push("the listing repeats a line or is out of order".to_owned());
    }
    found
}

/// The arms of AgentControl are a closed set.
pub(crate) fn control_arms(contract: &FileDescriptorSet) -> Vec<String> {
    let wanted = BTreeSet::from(["prompt", "steer", "deliver", "replay_complete"]);
    let is: BTreeSet<&str> =
        arms(contract, "AgentControl", "control").into_iter().map(|(name, _)| name).collect();
    if is == wanted {
        Vec::new()
    } else {
        vec![format!("the arms of AgentControl are {is:?}, not {wanted:?}")]
    }
}

/// Removed numbers are used by nothing, and nothing in the contract is reserved.
pub(crate) fn left_unused(contract: &FileDescriptorSet) -> Vec<String> {
    let messages = messages(contract);
    let mut found: Vec<String> = listing(contract)
        .into_iter()
        .filter(|line| line.contains(" reserves "))
        .map(|line| format!("{line}; removed numbers are left unused"))
        .collect();
    for (name, number) in LEFT_UNUSED {
        let Some(message) = messages.get(name) else {
            found.push(format!("there is no message {name}"));
            continue;
        };
        let users = message.field.iter().filter(|field| field.number() == number);
        found.extend(users.map(|field| format!("{name} uses the number {number} for {}", field.name())));
    }
    found
}

/// Every call has a result of the same name, a result that is no call is the error, and the fixed numbers hold.
pub(crate) fn call_and_result(contract: &FileDescriptorSet) -> Vec<String> {
    let calls = arms(contract, "CommsCallRequest", "call");
    let results = arms(contract, "CommsCallResult", "result");
    let names =
        |arms: &[(&str, i32)]| arms.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>();
    let mut answered = names(&results);
    let mut found = Vec::new();
    if !answered.remove("error") {
        found.push("CommsCallResult has no error".to_owned());
    }
    if names(&calls) != answered {
        found.push(format!("the calls are {:?}, the results {answered:?}", names(&calls)));
    }
    for (message, arms) in [("CommsCallRequest", &calls), ("CommsCallResult", &results)] {
        if !arms.contains(&("cancel_ask", 13)) {
            found.push(format!("cancel_ask is not number 13 of {message}"));
        }
    }
    let call = messages(contract).get("CommsCallRequest").copied().cloned().unwrap_or_default();
    let trace = call.field.iter().find(|field| field.number() == 10);
    if trace.is_none_or(|field| field.name() != "trigger_traceparent" || oneof(&call, field).is_some()) {
        found.push("number 10 of CommsCallRequest is not trigger_traceparent beside the calls".to_owned());
    }
    found
}

/// Nothing an agent calls can carry the answer to an ask.
pub(crate) fn agents_cannot_answer(contract: &FileDescriptorSet) -> Vec<String> {
    let carried = reachable(contract, "CommsCallRequest");
    ["RespondToAskRequest", "AskQuestionAnswer"]
        .into_iter()
        .filter(|answer| carried.contains(*answer))
        .map(|answer| format!("CommsCallRequest can carry {answer}"))
        .collect()
}

/// The withdrawal of an ask comes in through the calls of an agent and nowhere else.
pub(crate) fn cancel_doors(contract: &FileDescriptorSet) -> Vec<String> {
    let is: BTreeSet<String> = inputs(contract)
        .into_iter()
        .filter(|(_, input)| reachable(contract, input).contains("CancelAskRequest"))
        .map(|(rpc, _)| rpc)
        .collect();
    let wanted = BTreeSet::from(RELAY_DOORS.map(str::to_owned));
    is.symmetric_difference(&wanted)
        .map(|rpc| {
            if is.contains(rpc) {
                format!("{rpc} can carry CancelAskRequest")
            } else {
                format!("{rpc} cannot carry CancelAskRequest")
            }
        })
        .collect()
}

/// No input says who calls: a field whose name hints at it is judged first.
pub(crate) fn callers(contract: &FileDescriptorSet) -> Vec<String> {
    let messages = messages(contract);
    let carried: BTreeSet<String> =
        inputs(contract).values().flat_map(|input| reachable(contract, input)).collect();
    let hinting: BTreeSet<String> = carried
        .iter()
        .filter_map(|name| messages.get(name).map(|message| (name, message)))
        .flat_map(|(name, message)| message.field.iter().map(move |field| (name, field.name())))
        .filter(|(_, field)| field.split('_').any(|word| IDENTITY_WORDS.contains(&word)))
        .map(|(name, field)| format!("{name}.{field}"))
        .collect();
    let judged = BTreeSet::from(JUDGED.map(str::to_owned));
    hinting
        .symmetric_difference(&judged)
        .map(|field| {
            if hinting.contains(field) {
                format!("{field} may say who calls; the door decides that")
            } else {
                format!("{field} is judged but no input carries it")
            }
        })
        .collect()
}

/// Everything a client developer meets has a comment.
pub(crate) fn unexplained(contract: &FileDescriptorSet) -> Vec<String> {
    contract.file.iter().flat_map(unexplained_in).collect()
}

fn unexplained_in(file: &FileDescriptorProto) -> Vec<String> {
    let explained: BTreeSet<&[i32]> = file
        .source_code_info
        .iter()
        .flat_map(|info| &info.location)
        .filter(|location| !location.leading_comments().trim().is_empty())
        .map(|location| location.path.as_slice())
        .collect();
    paths(file)
        .into_iter()
        .filter(|(path, _)| !explained.contains(path.as_slice()))
        .map(|(_, name)| format!("{name} in {} has no comment", file.name()))
        .collect()
}

/// Where the comments of a file's elements are, by the field numbers of `FileDescriptorProto`.
fn paths(file: &FileDescriptorProto) -> Vec<(Vec<i32>, String)> {
    const MESSAGE: i32 = 4;
    const ENUM: i32 = 5;
    const SERVICE: i32 = 6;
    const FIELD: i32 = 2;
    const VALUE: i32 = 2;
    const RPC: i32 = 2;
    const ONEOF: i32 = 8;
    let mut found = Vec::new();
    for (at, message) in (0..).zip(&file.message_type) {
        let name = message.name();
        found.push((vec![MESSAGE, at], name.to_owned()));
        let fields = (0..).zip(&message.field);
        found.extend(fields.map(|(n, it)| (vec![MESSAGE, at, FIELD, n], format!("{name}.{}", it.name()))));
        let oneofs = (0..).zip(&message.oneof_decl).filter(|(_, it)| !it.name().starts_with('_'));
        found.extend(oneofs.map(|(n, it)| (vec![MESSAGE, at, ONEOF, n], format!("{name}.{}", it.name()))));
    }
    for (at, one) in (0..).zip(&file.enum_type) {
        found.push((vec![ENUM, at], one.name().to_owned()));
        let values = (0..).zip(&one.value);
        found.extend(values.map(|(n, it)| (vec![ENUM, at, VALUE, n], it.name().to_owned())));
    }
    for (at, service) in (0..).zip(&file.service) {
        found.push((vec![SERVICE, at], service.name().to_owned()));
        let rpcs = (0..).zip(&service.method);
        found.extend(rpcs.map(|(n, it)| (vec![SERVICE, at, RPC, n], it.name().to_owned())));
    }
    found
}

fn arms<'a>(contract: &'a FileDescriptorSet, message: &str, of: &str) -> Vec<(&'a str, i32)> {
    let messages = messages(contract);
    let Some(message) = messages.get(message).copied() else { return Vec::new() };
    arms_of(message, of)
}

fn arms_of<'a>(message: &'a DescriptorProto, of: &str) -> Vec<(&'a str, i32)> {
    let arms = message.field.iter().filter(|field| oneof(message, field) == Some(of));
    arms.map(|field| (field.name(), field.number())).collect()
}
