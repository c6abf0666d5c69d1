//! Holds the descriptors of `compass.v1` against the listing of everything clients rely on, and against the house rules.
//!
//! Every rule is also shown a contract that breaks it.

#![expect(clippy::unwrap_used, reason = "a planted violation that cannot be planted fails its test")]

mod contract_support;

use contract_support::{contract, rules};
use prost_types::descriptor_proto::ReservedRange;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
};

/// All names and numbers. A change of a line that is here breaks clients; add lines, by hand, in order.
const GOLDEN: &str = include_str!("contract.golden.txt");

#[track_caller]
fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[track_caller]
fn assert_one(found: &[String], wanted: &str) {
    assert!(
        found.len() == 1 && found.iter().all(|one| one.contains(wanted)),
        "wanted one violation with {wanted:?}, got\n{}\n",
        found.join("\n")
    );
}

/// The contract with one message changed.
fn with_message(name: &str, change: impl FnOnce(&mut DescriptorProto)) -> FileDescriptorSet {
    let mut contract = contract();
    let mut messages = contract.file.iter_mut().flat_map(|file| &mut file.message_type);
    change(messages.find(|message| message.name() == name).unwrap());
    contract
}

/// The contract with one enum changed.
fn with_enum(name: &str, change: impl FnOnce(&mut EnumDescriptorProto)) -> FileDescriptorSet {
    let mut contract = contract();
    let mut enums = contract.file.iter_mut().flat_map(|file| &mut file.enum_type);
    change(enums.find(|one| one.name() == name).unwrap());
    contract
}

/// The contract with one RPC changed.
fn with_rpc(service: &str, rpc: &str, change: impl FnOnce(&mut MethodDescriptorProto)) -> FileDescriptorSet {
    let mut contract = contract();
    let mut services = contract.file.iter_mut().flat_map(|file| &mut file.service);
    let service = services.find(|one| one.name() == service).unwrap();
    change(service.method.iter_mut().find(|one| one.name() == rpc).unwrap());
    contract
}

fn field<'a>(message: &'a mut DescriptorProto, name: &str) -> &'a mut FieldDescriptorProto {
    message.field.iter_mut().find(|field| field.name() == name).unwrap()
}

fn add_text(message: &mut DescriptorProto, name: &str, number: i32) {
    message.field.push(FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(Type::String.into()),
        ..FieldDescriptorProto::default()
    });
}

fn add_carrier(message: &mut DescriptorProto, name: &str, number: i32, of: &str, oneof: Option<i32>) {
    message.field.push(FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(Type::Message.into()),
        type_name: Some(format!(".compass.v1.{of}")),
        oneof_index: oneof,
        ..FieldDescriptorProto::default()
    });
}

#[test]
fn every_name_and_number_is_as_listed() {
    assert_none(&rules::differences(GOLDEN, &contract()));
}

#[test]
fn a_changed_name_number_type_or_multiplicity_is_reported_from_both_sides() {
    let changed = [
        with_message("Ask", |it| field(it, "ask_id").name = Some("id".to_owned())),
        with_message("Ask", |it| field(it, "ask_id").number = Some(9)),
        with_message("Ask", |it| field(it, "ask_id").r#type = Some(Type::Bytes.into())),
        with_message("Ask", |it| field(it, "ask_id").label = Some(Label::Repeated.into())),
        with_message("AskQuestion", |it| field(it, "recommended").proto3_optional = Some(false)),
        with_message("MessageBlock", |it| field(it, "text").oneof_index = None),
        with_message("CommsCallResult", |it| it.oneof_decl[0].name = Some("outcome".to_owned())),
        with_enum("UserRole", |it| it.value[1].number = Some(7)),
        with_enum("UserRole", |it| it.value[1].name = Some("USER_ROLE_ROOT".to_owned())),
        with_rpc("CommsService", "RespondToAsk", |it| it.name = Some("Answer".to_owned())),
        with_rpc("CommsService", "RespondToAsk", |it| it.client_streaming = Some(true)),
        with_rpc("CommsService", "SubscribeComms", |it| it.server_streaming = Some(false)),
    ];
    for contract in changed {
        let found = rules::differences(GOLDEN, &contract);
        assert!(found.iter().any(|line| line.ends_with("(-)")), "{found:?}");
        assert!(found.iter().any(|line| line.ends_with("(+)")), "{found:?}");
    }
}

#[test]
fn an_addition_that_is_not_listed_is_reported() {
    let found = rules::differences(GOLDEN, &with_message("Ask", |it| add_text(it, "note", 103)));
    assert_one(&found, "message Ask 103 note string (+)");
    let nested = DescriptorProto { name: Some("Note".to_owned()), ..DescriptorProto::default() };
    let found = rules::differences(GOLDEN, &with_message("Ask", |it| it.nested_type.push(nested)));
    assert_one(&found, "message Ask.Note (+)");
}

#[test]
fn a_listing_out_of_order_is_reported() {
    let mut lines: Vec<&str> = GOLDEN.lines().collect();
    lines.swap(2, 3);
    assert_one(&rules::differences(&lines.join("\n"), &contract()), "out of order");
}

#[test]
fn control_is_prompt_steer_deliver_and_replay_complete() {
    assert_none(&rules::control_arms(&contract()));
}

#[test]
fn an_arm_more_or_less_of_control_is_reported() {
    let more = with_message("AgentControl", |it| add_carrier(it, "answer", 9, "AskAnswerBlock", Some(0)));
    assert_one(&rules::control_arms(&more), "answer");
    let less = with_message("AgentControl", |it| it.field.retain(|field| field.name() != "steer"));
    assert_one(&rules::control_arms(&less), "AgentControl");
}

#[test]
fn removed_numbers_are_neither_used_nor_reserved() {
    assert_none(&rules::left_unused(&contract()));
}

#[test]
fn a_removed_number_that_is_used_again_is_reported() {
    for (message, number) in [("AgentControl", 4), ("AgentFrame", 1), ("AgentFrame", 2)] {
        let used = with_message(message, |it| add_text(it, "again", number));
        assert_one(&rules::left_unused(&used), &format!("{message} uses the number {number} for again"));
    }
}

#[test]
fn a_reservation_is_reported() {
    let range = ReservedRange { start: Some(4), end: Some(5) };
    let reserved = with_message("AgentControl", |it| it.reserved_range.push(range));
    assert_one(&rules::left_unused(&reserved), "message AgentControl reserves 4 to 4");
    let reserved = with_message("AgentFrame", |it| it.reserved_name.push("turn".to_owned()));
    assert_one(&rules::left_unused(&reserved), "message AgentFrame reserves turn");
}

#[test]
fn every_call_has_its_result_and_the_fixed_numbers_hold() {
    assert_none(&rules::call_and_result(&contract()));
}

#[test]
fn a_call_without_result_and_a_moved_number_are_reported() {
    let lonely =
        with_message("CommsCallRequest", |it| add_carrier(it, "archive", 14, "UpdateTopicRequest", Some(0)));
    assert_one(&rules::call_and_result(&lonely), "archive");
    let silent = with_message("CommsCallResult", |it| it.field.retain(|field| field.name() != "error"));
    assert_one(&rules::call_and_result(&silent), "no error");
    for message in ["CommsCallRequest", "CommsCallResult"] {
        let moved = with_message(message, |it| field(it, "cancel_ask").number = Some(14));
        assert_one(&rules::call_and_result(&moved), &format!("not number 13 of {message}"));
    }
    let joined = with_message("CommsCallRequest", |it| field(it, "trigger_traceparent").number = Some(14));
    assert_one(&rules::call_and_result(&joined), "number 10");
}

#[test]
fn nothing_an_agent_calls_can_carry_an_answer() {
    assert_none(&rules::agents_cannot_answer(&contract()));
}

#[test]
fn an_answer_among_the_calls_of_an_agent_is_reported_however_deep() {
    let direct = with_message("CommsCallRequest", |it| {
        add_carrier(it, "respond", 14, "RespondToAskRequest", Some(0));
    });
    assert_eq!(rules::agents_cannot_answer(&direct).len(), 2);
    let deep = with_message("AskOption", |it| add_carrier(it, "answer", 100, "AskQuestionAnswer", None));
    assert_one(&rules::agents_cannot_answer(&deep), "AskQuestionAnswer");
}

#[test]
fn an_ask_is_withdrawn_through_the_calls_of_an_agent_only() {
    assert_none(&rules::cancel_doors(&contract()));
}

#[test]
fn another_door_for_the_withdrawal_of_an_ask_is_reported() {
    let public = with_rpc("InboxService", "MarkRead", |it| {
        it.input_type = Some(".compass.v1.CancelAskRequest".to_owned());
    });
    assert_one(&rules::cancel_doors(&public), "InboxService.MarkRead can carry");
    let deep = with_message("UpdateTopicRequest", |it| {
        add_carrier(it, "cancel", 100, "CancelAskRequest", None);
    });
    assert_one(&rules::cancel_doors(&deep), "CommsService.UpdateTopic can carry");
    let shut = with_rpc("AgentDoor", "Call", |it| {
        it.input_type = Some(".compass.v1.FetchRequest".to_owned());
    });
    assert_one(&rules::cancel_doors(&shut), "AgentDoor.Call cannot carry");
}

#[test]
fn no_input_says_who_calls() {
    assert_none(&rules::callers(&contract()));
}

#[test]
fn a_field_that_may_say_who_calls_is_reported() {
    for name in ["author_account_id", "caller", "acting_as", "on_behalf_of", "sender_handle", "tenant_id"] {
        let named = with_message("PostMessageRequest", |it| add_text(it, name, 102));
        assert_one(&rules::callers(&named), &format!("PostMessageRequest.{name}"));
    }
    let gone = with_message("ListTokensRequest", |it| it.field.clear());
    assert_one(&rules::callers(&gone), "ListTokensRequest.account_id is judged");
}

#[test]
fn everything_a_client_developer_meets_is_explained() {
    assert_none(&rules::unexplained(&contract()));
}

#[test]
fn an_element_without_a_comment_is_reported() {
    let bare = with_message("Ask", |it| add_text(it, "note", 103));
    assert_one(&rules::unexplained(&bare), "Ask.note in compass/v1/comms.proto");
}
