//! Whose every field of an ask is, and that a client's value of the server's is dropped.

use std::collections::BTreeSet;

use compass_domain::message::DraftBlock;
use compass_proto::{DESCRIPTOR, v1};
use compass_relay::mapping::blocks_in;
use prost::Message as _;
use prost_types::FileDescriptorSet;

use crate::support::{ask_block, yes_or_no};

const POSTER_OWNED: &[&str] = &[
    "Ask.questions",
    "AskQuestion.question_id",
    "AskQuestion.question",
    "AskQuestion.header",
    "AskQuestion.options",
    "AskQuestion.allow_multiple",
    "AskQuestion.recommended",
    "AskOption.id",
    "AskOption.label",
    "AskOption.description",
    "AskOption.preview",
];

/// One test per server-owned field: with it set by a client, the draft is the one without it.
macro_rules! dropped {
    ($($test:ident: $message:ident.$field:ident = $set:expr;)*) => {
        const SERVER_OWNED: &[&str] = &[$(concat!(stringify!($message), ".", stringify!($field)),)*];
        $(
            #[test]
            fn $test() {
                let mut forged = yes_or_no();
                let set: fn(&mut v1::Ask) = $set;
                set(&mut forged);
                assert_ne!(forged, yes_or_no(), "the test sets the field");
                assert_eq!(draft(forged), draft(yes_or_no()));
            }
        )*
    };
}

dropped! {
    a_clients_ask_id_is_dropped: Ask.ask_id = |ask| ask.ask_id = "01".repeat(16);
    a_clients_answered_is_dropped: Ask.answered = |ask| ask.answered = true;
    a_clients_cancelled_is_dropped: Ask.cancelled = |ask| ask.cancelled = true;
    a_clients_answered_by_is_dropped: Ask.answered_by_account_id = |ask| ask.answered_by_account_id = "a".into();
    a_clients_closing_time_is_dropped: Ask.closed_at_unix_ms = |ask| ask.closed_at_unix_ms = 5;
    a_clients_digest_is_dropped: Ask.content_digest = |ask| ask.content_digest = vec![1; 32];
    a_clients_choice_is_dropped: AskQuestion.chosen_option_ids =
        |ask| ask.questions[0].chosen_option_ids = vec!["yes".into()];
    a_clients_custom_text_is_dropped: AskQuestion.custom_text = |ask| ask.questions[0].custom_text = "yes".into();
    a_clients_time_out_is_dropped: AskQuestion.timed_out = |ask| ask.questions[0].timed_out = true;
}

fn draft(ask: v1::Ask) -> Vec<DraftBlock> {
    blocks_in(vec![ask_block(ask)]).unwrap()
}

#[test]
fn every_field_of_an_ask_has_exactly_one_owner() {
    let files = FileDescriptorSet::decode(DESCRIPTOR).unwrap().file;
    let messages = files.iter().flat_map(|file| &file.message_type);
    let of_asks = messages.filter(|message| ["Ask", "AskQuestion", "AskOption"].contains(&message.name()));
    let described: BTreeSet<_> = of_asks
        .flat_map(|message| message.field.iter().map(|f| format!("{}.{}", message.name(), f.name())))
        .collect();
    let classed: Vec<_> = POSTER_OWNED.iter().chain(SERVER_OWNED).map(ToString::to_string).collect();
    assert_eq!(classed.len(), described.len());
    assert_eq!(classed.into_iter().collect::<BTreeSet<_>>(), described);
}

#[test]
fn every_field_of_the_poster_arrives() {
    let option =
        v1::AskOption { id: "o".into(), label: "l".into(), description: "d".into(), preview: "p".into() };
    let question = v1::AskQuestion {
        question_id: "q".into(),
        question: "?".into(),
        header: "h".into(),
        options: vec![option],
        allow_multiple: true,
        recommended: Some(0),
        ..Default::default()
    };
    let ask = v1::Ask { questions: vec![question], ..Default::default() };
    let [DraftBlock::Ask(draft)] = &draft(ask)[..] else { panic!("no ask") };
    let question = &draft.questions[0];
    assert_eq!((&*question.id, &*question.text, &*question.header), ("q", "?", "h"));
    assert_eq!((question.allow_multiple, question.recommended), (true, Some(0)));
    let option = &question.options[0];
    assert_eq!((&*option.id, &*option.label, &*option.description, &*option.preview), ("o", "l", "d", "p"));
}
