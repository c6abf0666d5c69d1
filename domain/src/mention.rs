//! Mentions: who a text names with `@`.

use crate::account::is_handle_byte;

/// What one mention names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mention {
    /// `@everyone` or `@agents`: every agent that takes part.
    AllAgents,
    /// A handle, lower-cased. `@users` is one too and names nobody.
    Handle(String),
}

/// The mentions of a text, lower-cased, each once, in order of first appearance.
///
/// A mention is `@`, a letter or digit, then letters, digits, `.`, `_` or `-`; trailing dots belong to the
/// sentence. An `@` right after a character a handle or an address may hold mentions nobody.
pub fn mentions<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Mention> {
    let mut found = Vec::new();
    for text in texts {
        let bytes = text.as_bytes();
        for (at, _) in text.match_indices('@') {
            if let Some(mention) = mention_at(bytes, at)
                && !found.contains(&mention)
            {
                found.push(mention);
            }
        }
    }
    found
}

/// How all agents stand in [`listed`]; no handle reads so.
pub const ALL_AGENTS: &str = "*";

/// Mentions as a row keeps them: each between spaces, so that ` handle ` is found in them and nothing longer.
pub fn listed(mentions: &[Mention]) -> String {
    mentions.iter().fold(String::from(" "), |mut list, mention| {
        list.push_str(match mention {
            Mention::AllAgents => ALL_AGENTS,
            Mention::Handle(handle) => handle,
        });
        list.push(' ');
        list
    })
}

/// True if a message mentions the agent with this handle.
pub fn names(mentions: &[Mention], handle: &str) -> bool {
    mentions.iter().any(|mention| match mention {
        Mention::AllAgents => true,
        Mention::Handle(named) => named == handle,
    })
}

/// True if a text mentions anyone; cheaper than [`mentions`].
pub fn has_mention(text: &str) -> bool {
    text.match_indices('@').any(|(at, _)| mention_at(text.as_bytes(), at).is_some())
}

fn mention_at(bytes: &[u8], at: usize) -> Option<Mention> {
    let before = at.checked_sub(1).and_then(|index| bytes.get(index));
    if before.is_some_and(|byte| is_address_byte(*byte)) {
        return None;
    }
    let rest = bytes.get(at + 1..)?;
    let length = rest.iter().take_while(|byte| is_handle_byte(byte.to_ascii_lowercase())).count();
    let name = rest.get(..length)?.trim_ascii_end_dots();
    if !name.first()?.is_ascii_alphanumeric() {
        return None;
    }
    let handle = String::from_utf8(name.to_ascii_lowercase()).ok()?;
    Some(match handle.as_str() {
        "everyone" | "agents" => Mention::AllAgents,
        _ => Mention::Handle(handle),
    })
}

fn is_address_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%')
}

trait TrimDots {
    fn trim_ascii_end_dots(&self) -> &[u8];
}

impl TrimDots for [u8] {
    fn trim_ascii_end_dots(&self) -> &[u8] {
        let kept = self.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1);
        self.get(..kept).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_mentions_are_found_whole() {
        let found = mentions(["@bob.b, @Ann and @everyone"]);
        assert_eq!(listed(&found), " bob.b ann * ");
        assert!(names(&found, "zoe"), "everyone is");
        let found = mentions(["@bobby"]);
        assert!(!listed(&found).contains(" bob ") && !names(&found, "bob") && names(&found, "bobby"));
    }

    fn handles(text: &str) -> Vec<String> {
        mentions([text])
            .into_iter()
            .map(|mention| match mention {
                Mention::AllAgents => "*".to_owned(),
                Mention::Handle(handle) => handle,
            })
            .collect()
    }

    #[test]
    fn the_table_of_mentions() {
        for (text, expected) in [
            ("hi @Bob, and @bob", vec!["bob"]),
            ("@bob.", vec!["bob"]),
            ("@a.b-c_d...", vec!["a.b-c_d"]),
            ("me@example.com", vec![]),
            ("@", vec![]),
            ("@.bob", vec![]),
            ("(@bob)", vec!["bob"]),
            ("`@bob`", vec!["bob"]),
            ("@everyone @agents @users", vec!["*", "users"]),
            ("@bob@carol", vec!["bob"]),
        ] {
            assert_eq!(handles(text), expected, "{text}");
            assert_eq!(has_mention(text), !expected.is_empty(), "{text}");
        }
    }

    #[test]
    fn mentions_are_joined_over_texts_in_order() {
        let found = mentions(["@b then @a", "@a and @c"]);
        let names: Vec<_> = found.iter().map(|m| format!("{m:?}")).collect();
        assert_eq!(names, ["Handle(\"b\")", "Handle(\"a\")", "Handle(\"c\")"]);
    }
}
