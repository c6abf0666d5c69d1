//! Text rules shared by names, handles and bodies: folding and the refusal of NUL.

use unicode_normalization::UnicodeNormalization;

/// The key by which names are compared and sorted: NFC, full lower case, NFC again.
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfc().collect::<String>().to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn folding_joins_case_and_composition() {
        assert_eq!(fold("Cafe\u{301}"), fold("CAFÉ"));
        assert_ne!(fold("a"), fold("b"));
        assert_eq!(fold("A-Z a-z 0"), "a-z a-z 0");
    }
}
