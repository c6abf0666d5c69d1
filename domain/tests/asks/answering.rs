//! Which answers fit an ask, and what an answer makes of it.

use compass_domain::{
    Answers, AskState, LockedAsk, Seq, UnixMillis,
    ask::{AnswerDraft, AnswerError, End},
    limits::{self},
    message::DraftBlock,
};

use crate::support::{ANSWER, ASK, ASKER, CHANNEL, PERSON, TOPIC, answer, draft, entry, full, locked, post};

#[test]
fn an_answer_closes_the_ask_and_brings_its_message() {
    let (closed, answer) = answer(full()).expect("a valid answer");
    assert_eq!(
        (closed.ask(), closed.end(), closed.by(), closed.at()),
        (ASK, End::Answered, PERSON, UnixMillis(20))
    );
    let ask = closed.message().asks().next().expect("the ask").clone();
    assert!(
        matches!(ask.state(), AskState::Answered { by, at, .. } if *by == PERSON && *at == UnixMillis(20))
    );
    assert_eq!(ask.answer(1).expect("answered").chosen(), ["c", "a"]);
    assert_eq!(ask.answer(2).expect("answered").custom_text(), " ");

    let message = answer.message();
    assert_eq!(
        (message.id(), message.author(), message.channel(), message.topic()),
        (ANSWER, PERSON, CHANNEL, TOPIC)
    );
    assert_eq!(message.seq(), Seq(2));
    assert_eq!(answer.answers(), Some((ASK, ask.digest())));
    assert!(answer.key().is_none() && answer.needs_routing());
    let snapshot = message.answer().expect("an answer block");
    assert_eq!((snapshot.ask(), snapshot.asker()), (&ask, ASKER));
    assert!(message.search_text().contains("and more"));
}

#[test]
fn an_answer_leaves_the_questions_as_they_were() {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    let before = posted.message().asks().next().expect("the ask").clone();
    let (closed, _) = answer(full()).expect("a valid answer");
    let after = closed.message().asks().next().expect("the ask");
    assert_eq!(before.questions(), after.questions());
    assert_eq!(before.digest(), after.digest());
}

#[test]
fn the_table_of_answers_that_do_not_fit() {
    use AnswerError as E;
    let with = |index: usize, replaced: AnswerDraft| {
        let mut entries = full();
        entries[index] = replaced;
        entries
    };
    let id = |text: &str| text.to_owned();
    let cases = [
        (with(0, entry("other", &[], "")), E::UnknownQuestion { index: 0, id: id("other") }),
        (with(1, entry("one", &[], "")), E::RepeatedQuestion { index: 1, id: id("one") }),
        (with(0, entry("one", &["a", "b"], "")), E::TooManyOptions { index: 0, id: id("one"), count: 2 }),
        // A repeated option on a single-select question is one option too many.
        (with(0, entry("one", &["a", "a"], "")), E::TooManyOptions { index: 0, id: id("one"), count: 2 }),
        (with(0, entry("one", &["a"], "x")), E::OptionAndText { index: 0, id: id("one") }),
        // Offered by another question of the same ask.
        (with(0, entry("one", &["c"], "")), E::UnknownOption { index: 0, id: id("one"), option: id("c") }),
        (with(2, entry("text", &["a"], "")), E::UnknownOption { index: 2, id: id("text"), option: id("a") }),
        (with(1, entry("many", &["a", "a"], "")), E::RepeatedOption { index: 1, option: id("a") }),
        (full()[..2].to_vec(), E::Incomplete { answered: 2, questions: 3 }),
        (vec![], E::Incomplete { answered: 0, questions: 3 }),
    ];
    for (entries, expected) in cases {
        assert_eq!(answer(entries.clone()).expect_err("refused"), expected, "{entries:?}");
    }
}

#[test]
fn the_first_entry_that_does_not_fit_decides() {
    let entries = vec![entry("one", &["a", "b"], ""), entry("other", &[], "")];
    assert!(matches!(answer(entries), Err(AnswerError::TooManyOptions { .. })));
}

#[test]
fn custom_text_fits_every_kind_of_question() {
    let entries = vec![entry("one", &[], "x"), entry("many", &["a", "b", "c"], "x"), entry("text", &[], "x")];
    assert!(answer(entries).is_ok());
}

#[test]
fn skipping_everything_closes_the_ask() {
    let skips = ["one", "many", "text"].map(|id| entry(id, &[], "")).to_vec();
    let (closed, _) = answer(skips).expect("an explicit skip");
    let ask = closed.message().asks().next().expect("the ask").clone();
    assert!((0..3).all(|index| ask.answer(index).is_some_and(compass_domain::ask::QuestionAnswer::is_skip)));
    assert!(matches!(locked(closed.message()), LockedAsk::Answered));
}

#[test]
fn custom_texts_are_limited_one_by_one_and_together() {
    let text = |n: usize| entry("q", &[], &"x".repeat(n));
    assert!(Answers::parse(vec![text(limits::CUSTOM_TEXT_BYTES); 4]).is_ok());
    assert!(Answers::parse(vec![text(limits::CUSTOM_TEXT_BYTES + 1)]).is_err());
    let mut five = vec![text(limits::CUSTOM_TEXT_BYTES); 4];
    five.push(text(1));
    let refused = Answers::parse(five).expect_err("one byte too many in all");
    assert_eq!(
        refused.to_string(),
        "custom_text of all answers is too long: 131073 bytes, the limit is 131072"
    );
}
