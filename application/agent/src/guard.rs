//! The render guard: nothing an agent reads as the product's own words can come from content.

/// Prints a value only if it is a plain token; anything else degrades to `(malformed)`.
///
/// A token is one or more ASCII letters, digits, `_`, `.`, `:` or `-`.
pub fn attr(value: &str) -> &str {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    if !value.is_empty() && value.bytes().all(is_token) { value } else { "(malformed)" }
}

/// Folds every run of control characters, separators and white space into one space, and drops bidi overrides
/// and isolates, so that the value stays on its line and in its order.
pub fn flat(value: &str) -> String {
    let mut flat = String::with_capacity(value.len());
    let mut in_run = false;
    for character in value.chars().filter(|c| !is_bidi(*c)) {
        if breaks(character) {
            if !in_run {
                flat.push(' ');
            }
            in_run = true;
        } else {
            flat.push(character);
            in_run = false;
        }
    }
    flat
}

/// Flattens first, then cuts to `limit` characters, so that a cut cannot bring a break back.
pub fn flat_cut(value: &str, limit: usize) -> String {
    flat(value).chars().take(limit).collect()
}

fn breaks(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn is_bidi(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attr_prints_tokens_only() {
        for good in ["a", "already_exists", "A.b:c-1_2"] {
            assert_eq!(attr(good), good);
        }
        for bad in ["", "a b", "a\n", "a\"", "é", "a]"] {
            assert_eq!(attr(bad), "(malformed)", "{bad:?}");
        }
    }

    #[test]
    fn flat_leaves_one_line() {
        for line_break in [
            "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}", "\u{1b}", "\u{a0}",
            "\u{feff}",
        ] {
            assert_eq!(flat(&format!("a{line_break}{line_break}b")), "a b", "{line_break:?}");
        }
        assert_eq!(flat(" a "), " a ");
        assert_eq!(flat("No\u{202e} seY\u{2066}"), "No seY");
    }

    #[test]
    fn a_cut_comes_after_the_flattening() {
        assert_eq!(flat_cut("ab\n\n\ncd", 4), "ab c");
        assert_eq!(flat_cut(&"é".repeat(600), 500).chars().count(), 500);
    }
}
