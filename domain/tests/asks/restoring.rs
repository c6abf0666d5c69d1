//! What is stored reads back equal, and what is corrupt is called so.

use compass_domain::{
    AskId, Message, Seq, UnixMillis,
    ask::{AskDraft, AskEntry, End, Ended, OptionDraft, QuestionDraft, StoredAsk, StoredQuestion},
    message::{DraftBlock, StoredBlock, StoredMessage},
};

use crate::support::{ANSWER, ASK, ASKER, CHANNEL, MESSAGE, PERSON, TOPIC, answer, draft, full, post};

fn restore(stored: StoredAsk, index: Option<AskEntry>) -> Result<Message, String> {
    restore_block(StoredBlock::Ask(stored), index)
}

fn restore_block(block: StoredBlock, index: Option<AskEntry>) -> Result<Message, String> {
    let row = StoredMessage {
        id: MESSAGE,
        channel: CHANNEL,
        topic: TOPIC,
        author: ASKER,
        at: UnixMillis(10),
        seq: Seq(1),
        run: 0,
        blocks: vec![block],
    };
    Message::restore(row, |_| index.as_ref()).map_err(|corrupt| corrupt.to_string())
}

fn stored() -> (StoredAsk, AskEntry) {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    let ask = posted.message().asks().next().expect("the ask").clone();
    (ask.stored(), AskEntry { ask: ASK, message: MESSAGE, digest: ask.digest(), ended: None })
}

fn ended(end: End) -> Ended {
    Ended { end, by: PERSON, at: UnixMillis(20) }
}

#[test]
fn what_is_stored_reads_back_equal() {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    let (row, index) = stored();
    assert_eq!(restore(row, Some(index)).as_ref(), Ok(posted.message().as_ref()));

    let (closed, answer) = answer(full()).expect("a valid answer");
    let after = AskEntry { ended: Some(ended(End::Answered)), ..index };
    let ask = closed.message().asks().next().expect("the ask").stored();
    assert_eq!(restore(ask, Some(after)).as_ref(), Ok(closed.message().as_ref()));
    let block = answer.message().blocks()[0].stored();
    let restored = restore_block(block, Some(after)).expect("an answer");
    assert_eq!(restored.answer(), answer.message().answer());
}

#[test]
fn corrupt_rows_are_called_corrupt() {
    let (good, index) = stored();
    let with = |change: fn(&mut StoredAsk)| {
        let mut row = good.clone();
        change(&mut row);
        row
    };
    let other = AskId::from_bytes([9; 16]);
    let cases: [(&str, StoredAsk, Option<AskEntry>); 10] = [
        ("no entry", good.clone(), None),
        ("both ends", with(|a| (a.answered, a.cancelled) = (true, true)), Some(index)),
        ("answered, entry open", with(|a| a.answered = true), Some(index)),
        ("open, entry answered", good.clone(), Some(AskEntry { ended: Some(ended(End::Answered)), ..index })),
        (
            "cancelled, entry answered",
            with(|a| a.cancelled = true),
            Some(AskEntry { ended: Some(ended(End::Answered)), ..index }),
        ),
        ("no questions", with(|a| a.questions.clear()), Some(index)),
        ("empty question id", with(|a| a.questions[0].question_id.clear()), Some(index)),
        ("repeated question id", with(|a| a.questions[1].question_id = "one".into()), Some(index)),
        ("changed question", with(|a| a.questions[0].question.push('!')), Some(index)),
        ("entry of another ask", good.clone(), Some(AskEntry { ask: other, ..index })),
    ];
    for (name, row, index) in cases {
        let result = restore(row, index);
        let text = result.expect_err(name);
        assert!(text.contains("block 0"), "{name}: {text}");
    }
    let elsewhere = AskEntry { message: ANSWER, ..index };
    assert!(restore(good, Some(elsewhere)).is_err(), "entry of another message");
}

#[test]
fn an_answer_block_holds_an_answered_ask() {
    let (open, index) = stored();
    let asker = ASKER.to_string();
    let unanswered = StoredBlock::Answer { ask: open.clone(), asker: asker.clone() };
    assert!(restore_block(unanswered, Some(index)).is_err());
    let cancelled = StoredAsk { cancelled: true, ..open.clone() };
    let after = AskEntry { ended: Some(ended(End::Cancelled)), ..index };
    assert!(restore_block(StoredBlock::Answer { ask: cancelled, asker }, Some(after)).is_err());
    let answered = StoredAsk { answered: true, ..open };
    let after = AskEntry { ended: Some(ended(End::Answered)), ..index };
    assert!(
        restore_block(StoredBlock::Answer { ask: answered, asker: "nobody".into() }, Some(after)).is_err()
    );
}

#[test]
fn recommended_is_not_checked_again_on_read() {
    let digest_of = |row: &StoredAsk| {
        let questions = row.questions.iter().map(|q: &StoredQuestion| QuestionDraft {
            id: q.question_id.clone(),
            text: q.question.clone(),
            options: q
                .options
                .iter()
                .map(|o| OptionDraft { id: o.id.clone(), label: o.label.clone(), ..OptionDraft::default() })
                .collect(),
            allow_multiple: q.allow_multiple,
            recommended: q.recommended,
            ..QuestionDraft::default()
        });
        post(vec![DraftBlock::Ask(AskDraft { questions: questions.collect() })])
            .message()
            .asks()
            .next()
            .expect("the ask")
            .digest()
    };
    let (mut row, index) = stored();
    row.questions[0].recommended = Some(1);
    let digest = digest_of(&row);
    assert!(restore(row, Some(AskEntry { digest, ..index })).is_ok());
}
