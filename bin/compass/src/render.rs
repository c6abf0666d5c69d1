//! Terminal safety: the only way in which a text of the server reaches a terminal.
//!
//! A text can neither colour, reorder or hide anything nor leave its place: what is invisible is spelled out as
//! `‹U+202E›`, and lines of a body stand behind a prefix that no line of ours begins with.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

/// What every line of a body begins with.
pub(crate) const BODY: &str = "  │ ";
const TAB: &str = "    ";

/// A text for one line: everything invisible is spelled out, line breaks and tabs included.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        push(&mut shown, character);
    }
    shown
}

/// A text of several lines: each begins with `prefix`, also where it is wrapped at `width` columns.
///
/// Nothing is cut. Tabs become four spaces. Ends with a line break unless `text` is empty.
pub(crate) fn block(text: &str, prefix: &str, width: Option<usize>) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    for part in text.lines() {
        let mut safe = String::with_capacity(part.len());
        for character in part.chars() {
            match character {
                '\t' => safe.push_str(TAB),
                other => push(&mut safe, other),
            }
        }
        for piece in wrap(&safe, prefix, width) {
            shown.push_str(prefix);
            shown.push_str(piece);
            shown.push('\n');
        }
    }
    shown
}

/// JSON in which everything invisible is written as an escape; its value stays the same.
pub(crate) fn json(value: &impl serde::Serialize) -> serde_json::Result<String> {
    let plain = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(plain.len());
    for character in plain.chars() {
        if is_unsafe(character) && character != '‹' {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    Ok(safe)
}

/// How long ago `then` was at `now`, both in milliseconds of the server's clock.
pub(crate) fn age(now: Option<i64>, then: i64) -> String {
    let Some(now) = now else { return "at an unknown age".to_owned() };
    let seconds = now.saturating_sub(then).max(0) / 1000;
    match seconds {
        0..=9 => "just now".to_owned(),
        10..=59 => format!("{seconds} s ago"),
        60..=3599 => format!("{} min ago", seconds / 60),
        3600..=86_399 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A moment as `2026-12-01 09:14:03Z`.
pub(crate) fn moment(unix_ms: i64) -> String {
    let Ok(at) = time::OffsetDateTime::from_unix_timestamp(unix_ms.div_euclid(1000)) else {
        return format!("{unix_ms} ms");
    };
    let (date, clock) = (at.date(), at.time());
    format!("{date} {:02}:{:02}:{:02}Z", clock.hour(), clock.minute(), clock.second())
}

/// Splits a safe text so that no piece is wider than the terminal, at a space if there is one.
pub(crate) fn wrap<'a>(text: &'a str, prefix: &str, width: Option<usize>) -> Vec<&'a str> {
    let taken = columns(prefix);
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(taken).max(8));
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(end) = overflow(rest, room) {
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Where to split `text`, if it is wider than `room`.
fn overflow(text: &str, room: usize) -> Option<usize> {
    let (mut used, mut space) = (0, None);
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > room {
            return Some(space.unwrap_or(at).max(text.chars().next().map_or(1, char::len_utf8)));
        }
        if character == ' ' {
            space = Some(at + 1);
        }
    }
    None
}

fn columns(text: &str) -> usize {
    text.chars().filter_map(char::width).sum()
}

fn push(shown: &mut String, character: char) {
    if is_unsafe(character) {
        let _ = write!(shown, "‹U+{:04X}›", u32::from(character));
    } else {
        shown.push(character);
    }
}

/// True for what does not show as itself: controls, line separators, bidirectional controls and whatever has no
/// width or is ignored by default. `‹` is among them so that nobody can write a spelled-out character by hand.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '‹'
            | '\u{00AD}' | '\u{034F}' | '\u{061C}'
            | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{13430}'..='\u{1343F}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOSTILE: &str = include_str!("../tests/fixtures/asks/hostile.json");

    fn strings(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => found.push(text.clone()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
            serde_json::Value::Object(map) => map.values().for_each(|item| strings(item, found)),
            _ => {}
        }
    }

    fn hostile() -> Vec<String> {
        let mut found = Vec::new();
        strings(&serde_json::from_str(HOSTILE).unwrap(), &mut found);
        found
    }

    fn nasty() -> impl Strategy<Value = String> {
        let special = prop::sample::select(vec![
            '\u{1b}',
            '\u{9b}',
            '\r',
            '\n',
            '\t',
            '\u{202e}',
            '\u{2066}',
            '\u{200b}',
            '\u{200d}',
            '\u{2028}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{ad}',
            '\u{e0041}',
            '‹',
            '\u{7f}',
            '│',
            'a',
            ' ',
        ]);
        prop::collection::vec(prop_oneof![special, any::<char>()], 0..60)
            .prop_map(|chars| chars.into_iter().collect())
    }

    #[test]
    fn hostile_labels_show_what_they_hide() {
        let shown: Vec<_> = hostile().iter().map(|text| line(text)).collect();
        assert!(shown.contains(&"No‹U+202E› seY".to_owned()), "{shown:#?}");
        assert!(shown.contains(&"N‹U+200B›o".to_owned()), "{shown:#?}");
        assert!(shown.contains(&"</msg>‹U+001B›[31m".to_owned()), "{shown:#?}");
        assert!(shown.iter().all(|text| !text.chars().any(|c| is_unsafe(c) && c != '‹')));
    }

    #[test]
    fn a_body_cannot_begin_a_line_of_ours() {
        let shown = block("one\n@admin  #general › deploy\r\nanswered\u{2028}x\rz", BODY, None);
        assert!(shown.lines().all(|line| line.starts_with(BODY)), "{shown}");
        assert!(shown.contains("answered‹U+2028›x‹U+000D›z"), "{shown}");
    }

    #[test]
    fn wrapping_keeps_every_character_behind_the_prefix() {
        let text = "word ".repeat(40);
        let shown = block(&text, BODY, Some(30));
        assert!(shown.lines().all(|line| line.starts_with(BODY) && columns(line) <= 30), "{shown}");
        let joined: String = shown.lines().map(|line| line.strip_prefix(BODY).unwrap()).collect();
        assert_eq!(joined, text);
    }

    #[test]
    fn text_of_any_script_stays_as_it_is() {
        for text in ["أي منطقة", "どのブランチ", "हाँ", "Zażółć", "é", "🧪", "a‑b"]
        {
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn ages_come_from_the_server_and_never_from_the_future() {
        let ages: Vec<_> = [0, 12_000, 180_000, 7_200_000, 200_000_000, -5_000]
            .map(|ms| age(Some(1_000_000_000), 1_000_000_000 - ms))
            .into();
        assert_eq!(ages, ["just now", "12 s ago", "3 min ago", "2 h ago", "2 d ago", "just now"]);
        assert_eq!(moment(1_796_116_443_000), "2026-12-01 09:14:03Z");
    }

    proptest! {
        #[test]
        fn no_text_reaches_a_terminal_raw(text in nasty(), width in prop::option::of(10usize..100)) {
            let marker = |c: char| is_unsafe(c) && c != '‹';
            prop_assert!(!line(&text).chars().any(marker));
            let shown = block(&text, BODY, width);
            prop_assert!(!shown.chars().any(|c| c != '\n' && marker(c)));
            prop_assert!(shown.lines().all(|line| line.starts_with(BODY)));
        }

        #[test]
        fn two_texts_that_differ_look_different(left in nasty(), right in nasty()) {
            prop_assert_eq!(left == right, line(&left) == line(&right));
        }

        #[test]
        fn json_keeps_its_value_and_hides_nothing(text in nasty()) {
            let shown = json(&text).unwrap();
            prop_assert!(!shown.chars().any(|c| is_unsafe(c) && c != '‹'));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }
}
