//! The render guard: nothing an agent reads as the product's own words can come from content.

use std::fmt;

/// First and last millisecond that a time is printed for: the years 1 to 9999.
const INSTANTS: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// Gives eight unpredictable bytes; what fences are made of.
pub type Randomness = dyn Fn() -> [u8; 8] + Send + Sync;

/// What tells the product's own marks of one render from content: nobody who wrote content can know it.
///
/// Every render has its own, and it never leaves the render.
#[derive(Clone, PartialEq, Eq)]
pub struct Fence(String);

impl Fence {
    /// A fence that stands in none of `contents`, nor in what [`flat`] makes of them.
    pub fn mint(random: &Randomness, contents: &[&str]) -> Self {
        loop {
            let fence = format!("{:016x}", u64::from_be_bytes(random()));
            if !contents.iter().any(|content| shows(content, &fence)) {
                return Self(fence);
            }
        }
    }

    /// Prints a value only if it is a plain token, as [`attr`] does; anything else degrades to a fenced mark.
    pub fn attr(&self, value: &str) -> String {
        if is_token(value) { value.to_owned() } else { format!("(malformed {self})") }
    }

    /// Prints a time as ISO 8601 in UTC with milliseconds; one outside the years 1 to 9999 degrades.
    pub fn instant(&self, unix_ms: i64) -> String {
        if INSTANTS.contains(&unix_ms) { instant(unix_ms) } else { format!("(malformed {self})") }
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fence")
    }
}

/// Prints a value only if it is a plain token; anything else degrades to `(malformed)`.
///
/// A token is one or more ASCII letters, digits, `_`, `.`, `:` or `-`.
pub fn attr(value: &str) -> &str {
    if is_token(value) { value } else { "(malformed)" }
}

/// Shows what looks like a record's mark inside a text as text; for readability only, the fence is the guard.
///
/// Nothing else changes: a text may be about the very characters that look odd in it.
pub fn body(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        shown.push('<');
        rest = from.get(1..).unwrap_or_default();
        let name = rest.strip_prefix('/').unwrap_or(rest);
        if name.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("msg")) {
            shown.push('\\');
        }
    }
    shown.push_str(rest);
    shown
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

/// True if the fence stands in a content, or would once what is dropped from it is gone.
fn shows(content: &str, fence: &str) -> bool {
    content.contains(fence) || (content.contains(is_bidi) && flat(content).contains(fence))
}

fn is_token(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    !value.is_empty() && value.bytes().all(allowed)
}

/// The proleptic Gregorian date and time of an instant.
fn instant(unix_ms: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    let (day, ms) = (unix_ms.div_euclid(DAY_MS), unix_ms.rem_euclid(DAY_MS));
    // Days are counted from 1 March of year 0, so that a leap day ends its year.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
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
    use std::sync::atomic::{AtomicU8, Ordering};

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

    fn fence() -> Fence {
        Fence::mint(&|| [0xab; 8], &[])
    }

    #[test]
    fn a_fence_stands_in_no_content_and_is_not_shown_by_debug() {
        let next = AtomicU8::new(1);
        let random = move || [next.fetch_add(1, Ordering::Relaxed); 8];
        let fence = Fence::mint(&random, &[&"01".repeat(8), "x"]);
        assert_eq!(fence.to_string(), "02".repeat(8));
        assert_eq!(format!("{fence:?}"), "Fence");
    }

    #[test]
    fn a_fence_that_dropped_characters_hide_in_content_is_not_taken() {
        let next = AtomicU8::new(1);
        let random = move || [next.fetch_add(1, Ordering::Relaxed); 8];
        let fence = Fence::mint(&random, &["01010101\u{202e}01010101"]);
        assert_eq!(fence.to_string(), "02".repeat(8));
    }

    #[test]
    fn a_value_that_is_no_token_degrades_to_a_fenced_mark() {
        assert_eq!(fence().attr("already_exists"), "already_exists");
        for bad in ["", "a b", "a\n", "a\" b", "é"] {
            assert_eq!(fence().attr(bad), "(malformed abababababababab)", "{bad:?}");
        }
    }

    #[test]
    fn times_are_printed_for_the_years_1_to_9999() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_135_596_800_001, "(malformed abababababababab)"),
            (253_402_300_800_000, "(malformed abababababababab)"),
            (i64::MIN, "(malformed abababababababab)"),
        ] {
            assert_eq!(fence().instant(ms), text);
        }
    }

    #[test]
    fn what_looks_like_a_record_is_shown_as_text() {
        assert_eq!(body("a <msg x> </MSG> <b> <"), "a <\\msg x> <\\/MSG> <b> <");
        assert_eq!(body("<é"), "<é");
        for kept in ["a\u{202e}b\u{2066}", "n\u{200b}o", "\u{1b}[31m", "a\r\nb\u{2028}c"] {
            assert_eq!(body(kept), kept);
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
