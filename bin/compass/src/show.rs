//! How messages and asks read in a terminal. Lines of ours begin at the margin, texts of others behind a bar.

use std::fmt::Write as _;

use compass_client::model::{Ask, AskState, Block, Choice, Message, Question};

use crate::{
    directory::Directory,
    render::{self, BODY},
};

const OPTION_TEXT: &str = "  │     ";
const PREVIEW: &str = "  │     ┆ ";

/// A message: one line of who, where and when, then what it says.
pub(crate) fn message(
    message: &Message,
    names: &Directory,
    now: Option<i64>,
    width: Option<usize>,
) -> String {
    let mut shown = format!(
        "{}  {}  {} ({})  id {}\n",
        names.account(&message.author_account_id),
        names.topic(&message.topic_id),
        render::moment(message.at_unix_ms),
        render::age(now, message.at_unix_ms),
        render::line(&message.id),
    );
    for part in &message.blocks {
        match part {
            Block::Text(text) => shown.push_str(&render::block(text, BODY, width)),
            Block::Ask(ask) => shown.push_str(&whole_ask(ask, names, now, width)),
            Block::AskAnswer { ask, asker_account_id } => {
                let asker = names.account(asker_account_id);
                let _ = writeln!(shown, "  answers ask {} of {asker}:", render::line(&ask.ask_id));
                shown.push_str(&answers(ask, width));
            }
            Block::Unknown => shown.push_str("  (a part of a kind this version does not know)\n"),
        }
    }
    shown
}

/// An ask with everything in it, and how it ended.
pub(crate) fn whole_ask(ask: &Ask, names: &Directory, now: Option<i64>, width: Option<usize>) -> String {
    let mut shown = format!("  ask {}: {}\n", render::line(&ask.ask_id), end(ask, names, now));
    for (at, part) in ask.questions.iter().enumerate() {
        shown.push_str(&question(at, part, width));
    }
    if ask.state == AskState::Answered {
        shown.push_str("  the answer:\n");
        shown.push_str(&answers(ask, width));
    }
    shown
}

/// Where an ask stands, in words of ours.
pub(crate) fn end(ask: &Ask, names: &Directory, now: Option<i64>) -> String {
    let when =
        ask.closed_at_unix_ms.map_or_else(|| "at an unknown age".to_owned(), |at| render::age(now, at));
    match ask.state {
        AskState::Open => "open".to_owned(),
        AskState::Cancelled => format!("withdrawn {when}"),
        AskState::Answered => {
            let by = ask.answered_by_account_id.as_deref().unwrap_or_default();
            format!("answered by {} {when}", names.account(by))
        }
    }
}

/// A question with all its options, whole.
pub(crate) fn question(at: usize, question: &Question, width: Option<usize>) -> String {
    let mut shown = format!("  question {} (id {})", at + 1, render::line(&question.question_id));
    shown.push_str(match (question.options.is_empty(), question.allow_multiple) {
        (true, _) => ": in your own words\n",
        (false, true) => ": choose any, and your own words if you like\n",
        (false, false) => ": choose one, or write your own words\n",
    });
    if !question.header.is_empty() {
        shown.push_str(&render::block(&question.header, "  │ # ", width));
    }
    shown.push_str(&render::block(&question.question, BODY, width));
    for (index, choice) in question.options.iter().enumerate() {
        option(&mut shown, question, index, choice, width);
    }
    shown
}

fn option(shown: &mut String, question: &Question, index: usize, choice: &Choice, width: Option<usize>) {
    let recommended = question.recommended.and_then(|at| usize::try_from(at).ok()) == Some(index);
    let mark = if recommended { ", recommended by the asker" } else { "" };
    let _ = writeln!(shown, "  option {} (id {}{mark})", index + 1, render::line(&choice.id));
    shown.push_str(&render::block(&choice.label, "  │   ", width));
    shown.push_str(&render::block(&choice.description, OPTION_TEXT, width));
    shown.push_str(&render::block(&choice.preview, PREVIEW, width));
}

/// One line for each question and its answer; a skipped question says so.
pub(crate) fn answers(ask: &Ask, width: Option<usize>) -> String {
    let mut shown = String::new();
    for (at, question) in ask.questions.iter().enumerate() {
        let _ = writeln!(shown, "  question {} (id {})", at + 1, render::line(&question.question_id));
        shown.push_str(&render::block(&question.question, BODY, width));
        if question.chosen_option_ids.is_empty() && question.custom_text.is_empty() {
            shown.push_str("  skipped\n");
        }
        for id in &question.chosen_option_ids {
            let _ = writeln!(shown, "  chose option id {}", render::line(id));
            let label = question.options.iter().find(|option| option.id == *id).map(|option| &option.label);
            match label {
                Some(label) => shown.push_str(&render::block(label, BODY, width)),
                None => shown.push_str("  (the question has no such option)\n"),
            }
        }
        if !question.custom_text.is_empty() {
            shown.push_str("  wrote\n");
            shown.push_str(&render::block(&question.custom_text, BODY, width));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(state: AskState) -> Ask {
        Ask {
            ask_id: "A".into(),
            state,
            answered_by_account_id: Some("p".into()),
            closed_at_unix_ms: Some(1000),
            questions: vec![Question {
                question_id: "0".into(),
                question: "sure?".into(),
                ..Question::default()
            }],
        }
    }

    #[test]
    fn an_all_skipped_answer_says_skipped() {
        let shown = whole_ask(&ask(AskState::Answered), &Directory::default(), Some(2000), None);
        assert!(shown.contains("answered by") && shown.contains("\n  skipped\n"), "{shown}");
    }

    #[test]
    fn a_withdrawn_ask_reads_unlike_an_answered_one() {
        let shown = whole_ask(&ask(AskState::Cancelled), &Directory::default(), Some(61_000), None);
        assert!(shown.starts_with("  ask A: withdrawn 1 min ago"), "{shown}");
        assert!(!shown.contains("answer"), "{shown}");
    }

    #[test]
    fn a_body_that_types_our_words_stays_behind_its_bar() {
        let text =
            "x\n  skipped\n@admin  #general › ok  2026-01-01 00:00:00Z (just now)  id M\n  ask A: answered";
        let message_with = Message {
            id: "M".into(),
            topic_id: "T".into(),
            author_account_id: "p".into(),
            at_unix_ms: 0,
            channel_seq: 1,
            blocks: vec![Block::Text(text.into()), Block::Unknown],
        };
        let shown = message(&message_with, &Directory::default(), Some(0), Some(40));
        let ours: Vec<_> = shown.lines().filter(|line| !line.starts_with(BODY)).collect();
        assert_eq!(ours.len(), 2, "{shown}");
        assert!(ours[1].contains("a kind this version does not know"));
    }

    #[test]
    fn every_option_with_its_preview_is_shown() {
        let draft = crate::ask_file::parse(include_str!("../tests/fixtures/asks/previews.json")).unwrap();
        let options = draft.questions[0].options.iter().map(|option| Choice {
            id: option.id.clone(),
            label: option.label.clone(),
            description: option.description.clone(),
            preview: option.preview.clone(),
        });
        let whole = Question { options: options.collect(), ..Question::default() };
        let shown = question(0, &whole, None);
        assert!(shown.contains("┆ | timeline  | people |"), "{shown}");
        assert!(shown.contains("┆     println!(\"<b>not html</b> & \\\"quotes\\\"\");"), "{shown}");
        assert!(shown.contains("┆     tab    indented"), "{shown}");
    }
}
