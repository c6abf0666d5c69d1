//! What goes out is what came in, with what the server adds.

use compass_domain::{
    AccountId, Actor, ActorKind, Answers, AskId, ChannelId, LockedAsk, Message, MessageId, NewMessage, Seq,
    TopicId, UnixMillis, UserRole,
    ask::{AnswerDraft, Reply},
    message::{Content, Placement},
};
use compass_proto::v1::{self, message_block::Block};
use compass_relay::mapping::{blocks_in, message};
use std::sync::Arc;

use crate::support::{ask_block, ask_of, text};

const ASK: AskId = AskId::from_bytes([9; 16]);

fn whole_ask() -> v1::Ask {
    let option = |id: &str| v1::AskOption {
        id: id.into(),
        label: format!("label {id}"),
        description: "two\nlines".into(),
        preview: "\u{202e}right to left 😀".into(),
    };
    let question = |id: &str, recommended| v1::AskQuestion {
        question_id: id.into(),
        question: "Which?".into(),
        header: "pick".into(),
        options: vec![option("a"), option("b")],
        allow_multiple: true,
        recommended,
        ..Default::default()
    };
    let bare = v1::AskQuestion { question_id: "bare".into(), ..Default::default() };
    v1::Ask { questions: vec![question("q0", Some(0)), question("q1", None), bare], ..Default::default() }
}

fn posted(blocks: Vec<v1::MessageBlock>) -> Arc<Message> {
    let content = Content::compose(blocks_in(blocks).unwrap(), || ASK).unwrap();
    let author =
        Actor { id: AccountId::from_bytes([1; 16]), kind: ActorKind::User { role: UserRole::Member } };
    let placement = Placement {
        id: MessageId::from_bytes([2; 16]),
        channel: ChannelId::from_bytes([3; 16]),
        topic: TopicId::from_bytes([4; 16]),
        seq: Seq(7),
        at: UnixMillis(8),
        run: 0,
    };
    Arc::clone(NewMessage::post(author, &content, placement, None).message())
}

fn open(message: &Arc<Message>) -> compass_domain::OpenAsk {
    match LockedAsk::restore(message, ASK).unwrap() {
        LockedAsk::Open(open) => open,
        closed => panic!("{closed:?}"),
    }
}

#[test]
fn a_message_goes_out_as_it_came_in_with_what_the_server_adds() {
    let sent = vec![text("hello\n@bob 😀"), ask_block(whole_ask()), text("")];
    let out = message(&posted(sent.clone()));
    assert_eq!(out.id, "02".repeat(16));
    assert_eq!(out.topic_id, "04".repeat(16));
    assert_eq!(out.author_account_id, "01".repeat(16));
    assert_eq!((out.at_unix_ms, out.channel_seq), (8, 7));
    assert_eq!((&out.blocks[0], &out.blocks[2]), (&sent[0], &sent[2]));
    let Some(Block::Ask(ask)) = &out.blocks[1].block else { panic!("{out:?}") };
    assert_eq!(ask.ask_id, "09".repeat(16));
    assert_eq!(ask.content_digest.len(), 32);
    let bare = v1::Ask { ask_id: String::new(), content_digest: Vec::new(), ..ask.clone() };
    assert_eq!(bare, whole_ask());
}

#[test]
fn an_answered_ask_shows_who_when_and_what_for_each_question() {
    let message_with_ask = posted(vec![ask_block(whole_ask())]);
    let before = ask_of(&message(&message_with_ask));
    let entry = |question: &str, chosen: &[&str], text: &str| AnswerDraft {
        question_id: question.into(),
        chosen_option_ids: chosen.iter().map(ToString::to_string).collect(),
        custom_text: text.into(),
    };
    let answers = vec![entry("bare", &[], "free"), entry("q0", &["b", "a"], " and "), entry("q1", &[], "")];
    let person =
        Actor { id: AccountId::from_bytes([5; 16]), kind: ActorKind::User { role: UserRole::Member } };
    let reply = Reply { id: MessageId::from_bytes([6; 16]), seq: Seq(8), at: UnixMillis(99) };
    let (closed, answer) = open(&message_with_ask)
        .answer(person.human().unwrap(), Answers::parse(answers).unwrap(), reply)
        .unwrap();
    let mut expected = before;
    expected.answered = true;
    expected.answered_by_account_id = "05".repeat(16);
    expected.closed_at_unix_ms = 99;
    expected.questions[0].chosen_option_ids = vec!["b".into(), "a".into()];
    expected.questions[0].custom_text = " and ".into();
    expected.questions[2].custom_text = "free".into();
    assert_eq!(ask_of(&message(closed.message())), expected);
    let out = message(answer.message());
    assert_eq!((&*out.author_account_id, out.channel_seq), (&*"05".repeat(16), 8));
    let block = v1::AskAnswerBlock { ask: Some(expected), asker_account_id: "01".repeat(16) };
    assert_eq!(out.blocks, [v1::MessageBlock { block: Some(Block::AskAnswer(block)) }]);
}

#[test]
fn a_cancelled_ask_shows_when_and_no_answerer() {
    let message_with_ask = posted(vec![ask_block(whole_ask())]);
    let mut expected = ask_of(&message(&message_with_ask));
    expected.cancelled = true;
    expected.closed_at_unix_ms = 42;
    let closed = open(&message_with_ask).cancel(UnixMillis(42));
    assert_eq!(ask_of(&message(closed.message())), expected);
}
