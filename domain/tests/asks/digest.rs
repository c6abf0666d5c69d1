//! What the digest of an ask covers.

use compass_domain::{ask::AskDraft, message::DraftBlock};

use crate::support::{draft, post, question};

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
