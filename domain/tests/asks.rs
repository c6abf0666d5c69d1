//! The rules of posting, answering, cancelling and restoring asks.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Actor, ActorKind, Answers, AskId, AskState, BlockView, ChannelId,
    ClosedAsk, Handle, Human, LockedAsk, Message, MessageId, NewMessage, OpenAsk, Seq, TopicId, UnixMillis,
    UserRole,
    ask::{
        AnswerDraft, AnswerError, AskDraft, AskDraftError, AskEntry, End, Ended, OptionDraft, QuestionDraft,
        Reply, StoredAsk, StoredQuestion,
    },
    limits::{self, LimitError},
    message::{Content, ContentError, DraftBlock, Placement, StoredBlock, StoredMessage},
};

const ASKER: AccountId = AccountId::from_bytes([1; 16]);
const PERSON: AccountId = AccountId::from_bytes([2; 16]);
const CHANNEL: ChannelId = ChannelId::from_bytes([3; 16]);
const TOPIC: TopicId = TopicId::from_bytes([4; 16]);
const ASK: AskId = AskId::from_bytes([5; 16]);
const MESSAGE: MessageId = MessageId::from_bytes([6; 16]);
const ANSWER: MessageId = MessageId::from_bytes([7; 16]);

fn person() -> Human {
    let handle = Handle::parse_new("ann").expect("a handle");
    let kind = AccountKind::User { role: UserRole::Member };
    let account = Account { id: PERSON, handle, display_name: String::new(), kind };
    account.actor().human().expect("a person")
}

fn agent() -> Actor {
    Actor { id: ASKER, kind: ActorKind::Agent { owner: PERSON } }
}

fn option(id: &str) -> OptionDraft {
    OptionDraft { id: id.into(), label: format!("label {id}"), ..OptionDraft::default() }
}

fn question(id: &str, options: &[&str], allow_multiple: bool) -> QuestionDraft {
    QuestionDraft {
        id: id.into(),
        text: format!("question {id}?"),
        options: options.iter().map(|id| option(id)).collect(),
        allow_multiple,
        ..QuestionDraft::default()
    }
}

/// One single-select, one multi-select, one free-text question.
fn draft() -> AskDraft {
    AskDraft {
        questions: vec![
            question("one", &["a", "b"], false),
            question("many", &["a", "b", "c"], true),
            question("text", &[], false),
        ],
    }
}

fn compose(blocks: Vec<DraftBlock>) -> Result<Content, ContentError> {
    let mut minted = 0;
    Content::compose(blocks, || {
        minted += 1;
        let mut bytes = *ASK.as_bytes();
        bytes[15] += minted - 1;
        AskId::from_bytes(bytes)
    })
}

fn post(blocks: Vec<DraftBlock>) -> NewMessage {
    let content = compose(blocks).expect("valid blocks");
    let placement =
        Placement { id: MESSAGE, channel: CHANNEL, topic: TOPIC, seq: Seq(1), at: UnixMillis(10), run: 0 };
    NewMessage::post(agent(), &content, placement, None)
}

fn locked(message: &Arc<Message>) -> LockedAsk {
    LockedAsk::restore(message, ASK).expect("the message holds the ask")
}

fn open(message: &Arc<Message>) -> OpenAsk {
    match locked(message) {
        LockedAsk::Open(ask) => ask,
        other => panic!("not open: {other:?}"),
    }
}

fn entry(question: &str, options: &[&str], text: &str) -> AnswerDraft {
    AnswerDraft {
        question_id: question.into(),
        chosen_option_ids: options.iter().map(|&id| id.into()).collect(),
        custom_text: text.into(),
    }
}

fn reply() -> Reply {
    Reply { id: ANSWER, seq: Seq(2), at: UnixMillis(20) }
}

fn answer(entries: Vec<AnswerDraft>) -> Result<(ClosedAsk, NewMessage), AnswerError> {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    open(posted.message()).answer(person(), Answers::parse(entries).expect("within limits"), reply())
}

fn full() -> Vec<AnswerDraft> {
    vec![entry("one", &["b"], ""), entry("many", &["c", "a"], "and more"), entry("text", &[], " ")]
}

#[test]
fn an_ask_needs_at_least_one_question() {
    let refused = compose(vec![DraftBlock::Ask(AskDraft::default())]);
    assert_eq!(refused, Err(ContentError::Ask { index: 0, source: AskDraftError::NoQuestions }));
}

#[test]
fn question_ids_are_not_empty_and_unique() {
    for (ids, expected) in [
        (["", "b"], AskDraftError::EmptyQuestionId(0)),
        (["a", "a"], AskDraftError::DuplicateQuestionId { index: 1, id: "a".into() }),
    ] {
        let questions = ids.iter().map(|id| question(id, &[], false)).collect();
        let refused = compose(vec![DraftBlock::Ask(AskDraft { questions })]);
        assert_eq!(refused, Err(ContentError::Ask { index: 0, source: expected }));
    }
}

#[test]
fn recommended_points_at_an_option() {
    for (options, recommended, fits) in [
        (vec!["a", "b"], 0, true),
        (vec!["a", "b"], 1, true),
        (vec!["a", "b"], 2, false),
        (vec!["a", "b"], -1, false),
        (vec![], 0, false),
    ] {
        let mut one = question("q", &options, false);
        one.recommended = Some(recommended);
        let result = compose(vec![DraftBlock::Ask(AskDraft { questions: vec![one] })]);
        assert_eq!(result.is_ok(), fits, "{options:?} {recommended}");
    }
}

#[test]
fn every_limit_is_exact_and_named() {
    type Set = fn(&mut QuestionDraft, usize);
    let fields: [(&str, usize, Set); 7] = [
        ("questions[0].question_id", limits::ID_BYTES, |q, n| q.id = "x".repeat(n)),
        ("questions[0].question", limits::QUESTION_BYTES, |q, n| q.text = "x".repeat(n)),
        ("questions[0].header", limits::HEADER_CODE_POINTS, |q, n| q.header = "é".repeat(n)),
        ("questions[0].options[0].id", limits::ID_BYTES, |q, n| q.options[0].id = "x".repeat(n)),
        ("questions[0].options[0].label", limits::LABEL_BYTES, |q, n| q.options[0].label = "x".repeat(n)),
        ("questions[0].options[0].description", limits::DESCRIPTION_BYTES, |q, n| {
            q.options[0].description = "x".repeat(n);
        }),
        ("questions[0].options[0].preview", limits::PREVIEW_BYTES, |q, n| {
            q.options[0].preview = "x".repeat(n);
        }),
    ];
    for (name, limit, set) in fields {
        for size in [limit, limit + 1] {
            let mut one = question("q", &["a"], false);
            set(&mut one, size);
            match compose(vec![DraftBlock::Ask(AskDraft { questions: vec![one] })]) {
                Ok(_) => assert_eq!(size, limit, "{name} of {size} was accepted"),
                Err(refused) => {
                    assert_eq!(size, limit + 1, "{name} of {size} was refused: {refused}");
                    let text = refused.to_string();
                    for part in [name, &limit.to_string(), &size.to_string()] {
                        assert!(text.contains(part), "{text:?} does not say {part:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn counts_are_limited() {
    let questions = |n: usize| (0..n).map(|i| question(&i.to_string(), &[], false)).collect();
    let asks = |n| compose(vec![DraftBlock::Ask(AskDraft { questions: questions(n) })]);
    assert!(asks(limits::QUESTIONS).is_ok());
    assert!(asks(limits::QUESTIONS + 1).is_err());

    let options = |n: usize| {
        let mut one = question("q", &[], false);
        one.options = (0..n).map(|i| option(&i.to_string())).collect();
        compose(vec![DraftBlock::Ask(AskDraft { questions: vec![one] })])
    };
    assert!(options(limits::OPTIONS).is_ok());
    assert!(options(limits::OPTIONS + 1).is_err());

    let blocks = |n: usize| compose(vec![DraftBlock::Text("x".into()); n]);
    assert!(blocks(limits::BLOCKS).is_ok());
    assert!(blocks(limits::BLOCKS + 1).is_err());
    assert_eq!(blocks(0), Err(ContentError::NoBlocks));
}

#[test]
fn a_message_is_limited_by_its_encoded_size() {
    // One tag and a three-byte length for the block, and again for its text.
    let fits = limits::MESSAGE_BYTES - 8;
    assert!(compose(vec![DraftBlock::Text("x".repeat(fits))]).is_ok());
    let refused = compose(vec![DraftBlock::Text("x".repeat(fits + 1))]).expect_err("one byte too many");
    assert_eq!(refused.to_string(), "message is too long: 262145 bytes, the limit is 262144");
}

#[test]
fn nul_is_refused_wherever_text_is_posted() {
    let texts: [fn(&mut QuestionDraft); 4] = [
        |q| q.text = "a\0".into(),
        |q| q.header = "a\0".into(),
        |q| q.options[0].label = "a\0".into(),
        |q| q.options[0].preview = "a\0".into(),
    ];
    for set in texts {
        let mut one = question("q", &["a"], false);
        set(&mut one);
        let refused = compose(vec![DraftBlock::Ask(AskDraft { questions: vec![one] })]);
        let is_nul = matches!(
            refused,
            Err(ContentError::Ask { source: AskDraftError::Limit(LimitError::Nul { at: 1, .. }), .. })
        );
        assert!(is_nul, "{refused:?}");
    }
    assert!(matches!(
        compose(vec![DraftBlock::Text("\0".into())]),
        Err(ContentError::Limit(LimitError::Nul { .. }))
    ));
    assert!(matches!(Answers::parse(vec![entry("q", &[], "\0")]), Err(LimitError::Nul { .. })));
}

#[test]
fn two_asks_of_one_message_get_two_ids() {
    let posted = post(vec![DraftBlock::Ask(draft()), DraftBlock::Ask(draft())]);
    let ids: Vec<_> = posted.message().asks().map(compass_domain::Ask::id).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}

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

#[test]
fn a_cancel_closes_the_ask_for_its_author_without_an_answer() {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    let closed = open(posted.message()).cancel(UnixMillis(30));
    assert_eq!((closed.end(), closed.by()), (End::Cancelled, ASKER));
    assert!(matches!(locked(closed.message()), LockedAsk::Cancelled));
    assert_eq!(closed.message().asks().next().expect("the ask").answer(0), None);
}

#[test]
fn closing_one_ask_leaves_its_sibling_open() {
    let posted = post(vec![DraftBlock::Ask(draft()), DraftBlock::Ask(draft())]);
    let closed = open(posted.message()).cancel(UnixMillis(30));
    let open: Vec<_> = closed.message().asks().map(compass_domain::Ask::is_open).collect();
    assert_eq!(open, [false, true]);
}

#[test]
fn the_digest_covers_every_field_a_poster_owns() {
    let digest = |change: fn(&mut AskDraft)| {
        let mut changed = draft();
        change(&mut changed);
        post(vec![DraftBlock::Ask(changed)]).message().asks().next().expect("the ask").digest()
    };
    let changes: [fn(&mut AskDraft); 10] = [
        |_| {},
        |ask| ask.questions[0].id = "other".into(),
        |ask| ask.questions[0].text.push('x'),
        |ask| ask.questions[0].header.push('x'),
        |ask| ask.questions[0].options[0].id.push('x'),
        |ask| ask.questions[0].options[0].label.push('x'),
        |ask| ask.questions[0].options[0].description.push('x'),
        |ask| ask.questions[0].options[0].preview.push('x'),
        |ask| ask.questions[0].allow_multiple = true,
        |ask| ask.questions[0].recommended = Some(0),
    ];
    let mut seen: Vec<_> = changes.into_iter().map(digest).collect();
    seen.sort_by_key(|digest| digest.0);
    seen.dedup();
    assert_eq!(seen.len(), 10);
}

#[test]
fn moving_a_character_between_fields_changes_the_digest() {
    let digest = |id: &str, label: &str| {
        let mut one = question("q", &["a"], false);
        one.options[0].id = id.into();
        one.options[0].label = label.into();
        let ask = AskDraft { questions: vec![one] };
        post(vec![DraftBlock::Ask(ask)]).message().asks().next().expect("the ask").digest()
    };
    assert_ne!(digest("ab", "c"), digest("a", "bc"));
}

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
