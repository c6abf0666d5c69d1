//! What a message says about itself: routing, search, its blocks.

use compass_domain::{
    Actor, ActorKind, BlockView, NewMessage, Seq, UnixMillis, UserRole,
    message::{DraftBlock, Placement},
};

use crate::support::{CHANNEL, MESSAGE, PERSON, TOPIC, agent, compose, draft, post};

#[test]
fn only_agents_mentions_and_answers_need_routing() {
    let placement =
        Placement { id: MESSAGE, channel: CHANNEL, topic: TOPIC, seq: Seq(1), at: UnixMillis(10), run: 0 };
    let human = Actor { id: PERSON, kind: ActorKind::User { role: UserRole::Member } };
    for (actor, text, expected) in
        [(human, "hello", false), (human, "hello @bob", true), (agent(), "hello", true)]
    {
        let content = compose(vec![DraftBlock::Text(text.into())]).expect("valid");
        assert_eq!(NewMessage::post(actor, &content, placement, None).needs_routing(), expected, "{text}");
    }
}

#[test]
fn search_finds_texts_and_questions_and_not_labels() {
    let posted = post(vec![DraftBlock::Text("body".into()), DraftBlock::Ask(draft())]);
    assert_eq!(posted.message().search_text(), "body\nquestion one?\nquestion many?\nquestion text?");
}

#[test]
fn blocks_show_what_was_posted() {
    let posted = post(vec![DraftBlock::Text("body".into())]);
    assert!(matches!(posted.message().blocks()[0].view(), BlockView::Text("body")));
}
