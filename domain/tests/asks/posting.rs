//! What may be posted as an ask: every limit is exact and named.

use compass_domain::{
    Answers,
    ask::{AskDraft, AskDraftError, QuestionDraft},
    limits::{self, LimitError},
    message::{ContentError, DraftBlock},
};

use crate::support::{compose, draft, entry, option, post, question};

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
