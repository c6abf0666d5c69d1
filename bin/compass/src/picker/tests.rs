//! Keys in, answers out.

use compass_client::model::Choice;

use super::*;
use crate::ask_file;

const HOSTILE: &str = include_str!("../../tests/fixtures/asks/hostile.json");
const THIRTY: &str = include_str!("../../tests/fixtures/asks/thirty-options.json");

fn question(options: &[&str], multiple: bool) -> Question {
    Question {
        question_id: "q".into(),
        question: "which".into(),
        allow_multiple: multiple,
        options: options
            .iter()
            .enumerate()
            .map(|(id, label)| Choice { id: id.to_string(), label: (*label).into(), ..Choice::default() })
            .collect(),
        ..Question::default()
    }
}

fn sample(text: &str) -> Vec<Question> {
    let draft = ask_file::parse(text).unwrap();
    let each = draft.questions.into_iter().map(|draft| Question {
        question_id: draft.id,
        question: draft.text,
        allow_multiple: draft.allow_multiple,
        options: draft
            .options
            .into_iter()
            .map(|option| Choice { id: option.id, label: option.label, ..Choice::default() })
            .collect(),
        ..Question::default()
    });
    each.collect()
}

fn run(questions: Vec<Question>, keys: &[Key]) -> (Picker, Step) {
    let mut picker = Picker::new(questions);
    let mut last = Step::Stay;
    for key in keys {
        assert_eq!(last, Step::Stay, "the picker ended before {key:?}");
        last = picker.press(key);
    }
    (picker, last)
}

fn text(words: &str) -> Vec<Key> {
    words.chars().map(Key::Char).collect()
}

fn sent(step: Step) -> Vec<(Vec<String>, String)> {
    let Step::Send(answers) = step else { panic!("nothing was sent: {step:?}") };
    answers.into_iter().map(|answer| (answer.chosen_option_ids, answer.custom_text)).collect()
}

#[test]
fn enter_takes_an_option_and_a_second_enter_sends_it() {
    let (_, step) = run(vec![question(&["a", "b"], false)], &[Key::Down, Key::Enter, Key::Enter]);
    assert_eq!(sent(step), [(vec!["1".into()], String::new())]);
}

#[test]
fn the_recommended_option_is_under_the_cursor_but_not_chosen() {
    let mut recommended = question(&["a", "b", "c"], false);
    recommended.recommended = Some(2);
    let picker = Picker::new(vec![recommended.clone()]);
    let lines = picker.lines(80, 24);
    assert!(lines[2].starts_with("> ( ) 3 (recommended by the asker). c"), "{lines:#?}");
    let (_, step) = run(vec![recommended], &[Key::Enter, Key::Enter]);
    assert_eq!(sent(step), [(vec!["2".into()], String::new())]);
}

#[test]
fn several_options_and_words_go_out_together_where_allowed() {
    let mut keys = vec![Key::Char(' '), Key::Down, Key::Char(' '), Key::Down, Key::Enter];
    keys.extend(text("and more"));
    keys.extend([Key::Enter, Key::Enter]);
    let (_, step) = run(vec![question(&["a", "b"], true)], &keys);
    assert_eq!(sent(step), [(vec!["0".into(), "1".into()], "and more".into())]);
}

#[test]
fn own_words_beside_an_option_are_refused_with_a_reason_and_never_dropped() {
    let mut keys = vec![Key::Down, Key::Down, Key::Enter];
    keys.extend(text("mine"));
    keys.extend([Key::Escape, Key::Up, Key::Enter]);
    let (picker, step) = run(vec![question(&["a", "b"], false)], &keys);
    assert_eq!(step, Step::Stay);
    assert!(picker.lines(120, 24).contains(&format!("! {ONE_OR_OTHER}")));
    assert_eq!((picker.draft().text.as_str(), picker.draft().chosen.len()), ("mine", 0));
    let (picker, _) =
        run(vec![question(&["a", "b"], false)], &[Key::Char(' '), Key::Up, Key::Up, Key::Enter]);
    assert_eq!(picker.mode, Mode::Rows);
    assert_eq!(picker.draft().chosen, [0]);
    assert!(picker.lines(80, 24).iter().any(|line| line.starts_with("! an option is chosen")));
}

#[test]
fn a_question_without_options_takes_words() {
    let mut keys = vec![Key::Enter];
    keys.extend(text("7 o'clock"));
    keys.extend([Key::Enter, Key::Enter]);
    let (_, step) = run(vec![question(&[], false)], &keys);
    assert_eq!(sent(step), [(vec![], "7 o'clock".into())]);
}

#[test]
fn skipping_is_a_row_of_its_own_and_is_named_in_the_review() {
    let (picker, _) = run(vec![question(&["a"], false)], &[Key::Up, Key::Enter]);
    assert!(picker.lines(80, 24)[0].contains("1. skipped"));
    let (_, step) = run(vec![question(&["a"], true)], &[Key::Up, Key::Enter, Key::Enter]);
    assert_eq!(sent(step), [(vec![], String::new())]);
}

#[test]
fn nothing_chosen_does_not_go_on() {
    let (picker, step) = run(vec![question(&["a"], true)], &[Key::Enter]);
    assert_eq!(step, Step::Stay);
    assert!(picker.question().is_some());
    assert!(picker.lines(80, 24).iter().any(|line| line.starts_with("! nothing is chosen")));
}

#[test]
fn an_answer_must_be_taken_back_before_a_skip() {
    let (picker, _) = run(vec![question(&["a"], true)], &[Key::Char(' '), Key::Up, Key::Enter]);
    assert!(!picker.draft().skipped);
    assert!(picker.question().is_some());
    assert_eq!(picker.draft().chosen, [0]);
}

#[test]
fn letters_and_digits_never_answer() {
    let mut keys = text("yes1no2");
    keys.push(Key::Backspace);
    let (picker, step) = run(vec![question(&["yes", "no"], false)], &keys);
    assert_eq!(step, Step::Stay);
    assert!(picker.draft().chosen.is_empty());
    assert_eq!(picker.row, 1);
}

#[test]
fn leaving_sends_nothing() {
    for key in [Key::Escape, Key::Interrupt] {
        assert_eq!(run(vec![question(&["a"], false)], &[Key::Char(' '), key]).1, Step::Leave);
    }
    let (_, step) = run(vec![question(&["a"], false)], &[Key::Enter, Key::Escape]);
    assert_eq!(step, Step::Leave);
}

#[test]
fn going_back_keeps_what_was_chosen() {
    let questions = vec![question(&["a", "b"], false), question(&["c"], false)];
    let keys = [Key::Down, Key::Enter, Key::Back, Key::Enter, Key::Enter, Key::Back, Key::Enter, Key::Enter];
    assert_eq!(
        sent(run(questions, &keys).1),
        [(vec!["1".into()], String::new()), (vec!["0".into()], String::new())]
    );
}

#[test]
fn two_digits_reach_every_one_of_thirty_options() {
    let (picker, _) = run(sample(THIRTY), &text("28"));
    assert_eq!(picker.row, 27);
    let (picker, _) = run(sample(THIRTY), &text("99"));
    assert_eq!(picker.row, 8);
}

#[test]
fn a_low_terminal_says_how_much_is_out_of_sight() {
    let (picker, _) = run(sample(THIRTY), &text("15"));
    let lines = picker.lines(80, 12);
    assert!(lines.len() <= 12, "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("> [ ] 15. service-14")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("lines above") && line.contains("lines below")));
}

#[test]
fn hostile_labels_stay_in_their_row() {
    let picker = Picker::new(sample(HOSTILE));
    for width in [20, 80] {
        let lines = picker.lines(width, 60);
        assert!(lines.iter().all(|line| !line.contains(['\u{202e}', '\u{200b}', '\u{1b}', '\n'])));
    }
    assert!(picker.lines(80, 60)[0].contains("No‹U+202E› seY"));
    assert!(picker.lines(80, 60)[1].contains("N‹U+200B›o"));
}

#[test]
fn pasted_lines_are_kept_as_text() {
    let keys = [Key::Enter, Key::Paste("a\r\nb\rc".into()), Key::Enter, Key::Enter];
    assert_eq!(sent(run(vec![question(&[], false)], &keys).1), [(vec![], "a\nb\nc".into())]);
}
