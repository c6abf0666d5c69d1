//! Every sample ask: posted by `compass ask --file`, listed, answered, delivered, byte for byte, and shown safely.

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::support::{Attach, World, answered, on_both};

on_both!(every_sample_comes_back_byte_for_byte_and_is_shown_safely);

async fn every_sample_comes_back_byte_for_byte_and_is_shown_safely(world: &mut World) {
    let mut attach = Attach::start(world, "bot").await;
    let files = samples();
    assert!(files.len() >= 5, "{files:?}");
    for path in files {
        let name = path.display().to_string();
        let source: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let posted = world.json(&["ask", "--agent", "bot", "--file", path.to_str().unwrap()]).await;
        let ask_id = posted[0]["ask_id"].as_str().unwrap().to_owned();

        let listed = world.json(&["asks"]).await;
        assert_eq!(listed.len(), 1, "{name}");
        assert_eq!(listed[0]["ask"]["ask_id"], *ask_id, "{name}");
        equals(&name, &listed[0]["ask"]["questions"], &source["questions"]);
        let listing = world.ok(&["asks", "--full"]).await;
        assert_safe(&name, &listing);

        let flags = flags(&source["questions"]);
        let mut command = vec!["answer", "--ask", &ask_id];
        command.extend(flags.iter().map(String::as_str));
        world.ok(&command).await;

        let line = attach.answer_to(&ask_id).await;
        let ask = answered(&line["message"]).unwrap();
        equals(&name, &ask["questions"], &source["questions"]);
        assert_answers(&name, &ask["questions"]);
        attach.ack(line["message"]["id"].as_str().unwrap()).await;
        let home = world.home_channel("bot").await;
        let shown = world.ok(&["read", "--channel", &home]).await;
        assert_safe(&name, &shown);
        assert_all_shown(&name, &listing, &source["questions"]);
    }
}

fn samples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bin/compass/tests/fixtures/asks");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The texts of the file and those that came back are the same; ids are positions.
fn equals(name: &str, found: &Value, source: &Value) {
    let (found, source) = (found.as_array().unwrap(), source.as_array().unwrap());
    assert_eq!(found.len(), source.len(), "{name}");
    for (index, (found, source)) in found.iter().zip(source).enumerate() {
        assert_eq!(found["question_id"], *index.to_string(), "{name}");
        for (ours, theirs) in
            [("question", "question"), ("header", "header"), ("allow_multiple", "multiSelect")]
        {
            assert_eq!(found[ours], source[theirs], "{name}");
        }
        let (options, sources) =
            (found["options"].as_array().unwrap(), source["options"].as_array().unwrap());
        assert_eq!(options.len(), sources.len(), "{name}");
        for (index, (option, source)) in options.iter().zip(sources).enumerate() {
            assert_eq!(option["id"], *index.to_string(), "{name}");
            for field in ["label", "description", "preview"] {
                let written = source[field].as_str().unwrap_or_default();
                assert_eq!(option[field].as_str().unwrap(), written, "{name}");
            }
        }
        let marked =
            sources.iter().position(|option| option["label"].as_str().unwrap().ends_with("(Recommended)"));
        assert_eq!(found["recommended"].as_u64(), marked.map(|index| index as u64), "{name}");
    }
}

/// What is chosen and written: the last option, the first too where several may be chosen, and own words there and
/// where there is no option.
fn answer(question: &Value, multiple: &str) -> (Vec<String>, &'static str) {
    let options = question["options"].as_array().unwrap().len();
    let multiple = question[multiple] == true;
    let first = if multiple { vec!["0".to_owned()] } else { vec![] };
    let last = options.checked_sub(1).map(|last| last.to_string());
    let written = if multiple || options == 0 { "and mine: ✓ 日本語" } else { "" };
    (first.into_iter().chain(last).collect(), written)
}

fn flags(questions: &Value) -> Vec<String> {
    let mut flags = Vec::new();
    for (index, question) in questions.as_array().unwrap().iter().enumerate() {
        let (chosen, written) = answer(question, "multiSelect");
        for id in chosen {
            flags.extend(["--option".to_owned(), format!("{index}={id}")]);
        }
        if !written.is_empty() {
            flags.extend(["--text".to_owned(), format!("{index}={written}")]);
        }
    }
    flags
}

fn assert_answers(name: &str, questions: &Value) {
    for question in questions.as_array().unwrap() {
        let (chosen, written) = answer(question, "allow_multiple");
        assert_eq!(question["chosen_option_ids"], serde_json::json!(chosen), "{name}");
        assert_eq!(question["custom_text"], written, "{name}");
    }
}

/// Nothing in the output hides, reorders or colours anything.
fn assert_safe(name: &str, output: &str) {
    let harmful = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{061C}' | '\u{00AD}')
    };
    let found: Vec<_> = output.chars().filter(harmful).collect();
    assert!(found.is_empty(), "{name}: {found:?}");
}

/// Every option has its number in the listing, and every question its id.
fn assert_all_shown(name: &str, listing: &str, questions: &Value) {
    for (index, question) in questions.as_array().unwrap().iter().enumerate() {
        assert!(listing.contains(&format!("question {} (id {index})", index + 1)), "{name}: {listing}");
        for option in 0..question["options"].as_array().unwrap().len() {
            assert!(listing.contains(&format!("option {} (id {option}", option + 1)), "{name}: {listing}");
        }
    }
}
