//! What a search asks for, in the language people know from web searches.
//!
//! Words must all occur, words in quotes must follow each other, `or` stands between alternatives, and a minus keeps
//! messages with the word out. How words are reduced to their stems and how hits are ranked is left to storage.

use crate::{
    limits::{self, LimitError},
    text::fold,
};

/// English words that say nothing about what a text is about; sorted.
const STOP_WORDS: [&str; 127] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "s",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// A query that was read; it may ask for nothing that can be found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchQuery {
    alternatives: Vec<Alternative>,
}

/// What one message must hold, and what it must not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Alternative {
    wanted: Vec<Phrase>,
    unwanted: Vec<Phrase>,
}

/// Words that follow each other; often just one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phrase {
    text: String,
    words: Vec<String>,
}

/// Why a text is not a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchQueryError {
    /// Nothing but white space.
    #[error("query is empty")]
    Empty,
    /// Too long, or a NUL.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl SearchQuery {
    /// Reads a query as a client typed it.
    ///
    /// Words that say nothing are left out, and so is an alternative that wants no word: what is only unwanted
    /// describes nearly every message.
    ///
    /// # Errors
    ///
    /// [`SearchQueryError`] with the limit and the actual length.
    pub fn parse(text: &str) -> Result<Self, SearchQueryError> {
        limits::check_bytes("query", text, limits::SEARCH_QUERY_BYTES)?;
        if text.trim().is_empty() {
            return Err(SearchQueryError::Empty);
        }
        let mut alternatives = vec![Alternative::default()];
        for term in Terms(text) {
            if term.is_or() {
                alternatives.push(Alternative::default());
                continue;
            }
            let (Some(phrase), Some(last)) = (Phrase::new(term.text), alternatives.last_mut()) else {
                continue;
            };
            let list = if term.is_unwanted { &mut last.unwanted } else { &mut last.wanted };
            list.push(phrase);
        }
        alternatives.retain(|alternative| !alternative.wanted.is_empty());
        Ok(Self { alternatives })
    }

    /// The alternatives, each of which wants something; none if nothing can be found.
    pub fn alternatives(&self) -> &[Alternative] {
        &self.alternatives
    }
}

impl Alternative {
    /// What must occur; at least one.
    pub fn wanted(&self) -> &[Phrase] {
        &self.wanted
    }

    /// What must not occur.
    pub fn unwanted(&self) -> &[Phrase] {
        &self.unwanted
    }
}

impl Phrase {
    /// None if there is no word in it that says anything.
    fn new(text: &str) -> Option<Self> {
        let all = words(text);
        let first = all.iter().position(|word| !is_stop_word(word))?;
        let last = all.iter().rposition(|word| !is_stop_word(word))?;
        let words = all.get(first..=last)?.to_vec();
        Some(Self { text: fold(text), words })
    }

    /// As it was typed, but folded and without quotes; holds no quote.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its words, folded; the first and the last are no stop words.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// The words of a text, folded, in order.
pub fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// True for a folded word that says nothing about what a text is about.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

struct Term<'a> {
    text: &'a str,
    is_quoted: bool,
    is_unwanted: bool,
}

impl Term<'_> {
    fn is_or(&self) -> bool {
        !self.is_quoted && !self.is_unwanted && self.text.eq_ignore_ascii_case("or")
    }
}

/// Cuts a query into words and quoted phrases.
struct Terms<'a>(&'a str);

impl<'a> Iterator for Terms<'a> {
    type Item = Term<'a>;

    fn next(&mut self) -> Option<Term<'a>> {
        let start = self.0.trim_start();
        if start.is_empty() {
            return None;
        }
        let (is_unwanted, rest) = start.strip_prefix('-').map_or((false, start), |rest| (true, rest));
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
            self.0 = rest;
            return Some(Term { text, is_quoted: true, is_unwanted });
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
        let (text, rest) = rest.split_at(end);
        self.0 = rest;
        Some(Term { text, is_quoted: false, is_unwanted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alternatives as lists of phrases, the unwanted ones with a minus.
    fn read(text: &str) -> Vec<Vec<String>> {
        let query = SearchQuery::parse(text).unwrap();
        let list = |alternative: &Alternative| {
            let wanted = alternative.wanted().iter().map(|phrase| phrase.words().join(" "));
            let unwanted =
                alternative.unwanted().iter().map(|phrase| format!("-{}", phrase.words().join(" ")));
            wanted.chain(unwanted).collect()
        };
        query.alternatives().iter().map(list).collect()
    }

    #[test]
    fn words_phrases_alternatives_and_what_is_unwanted() {
        for (text, expected) in [
            ("Deploy FAILED", vec![vec!["deploy", "failed"]]),
            ("\"deploy failed\" today", vec![vec!["deploy failed", "today"]]),
            ("deploy -staging", vec![vec!["deploy", "-staging"]]),
            ("deploy -\"dry run\"", vec![vec!["deploy", "-dry run"]]),
            ("deploy today or rollback", vec![vec!["deploy", "today"], vec!["rollback"]]),
            ("deploy OR rollback", vec![vec!["deploy"], vec!["rollback"]]),
            ("deploy \"or\" rollback", vec![vec!["deploy", "rollback"]]),
            ("a-b.c", vec![vec!["b c"]]),
            ("x-ray's", vec![vec!["x ray"]]),
            ("say\"dry run\"now", vec![vec!["say", "dry run"]]),
            ("\"never closed", vec![vec!["never closed"]]),
            ("Cafe\u{301}", vec![vec!["café"]]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn words_that_say_nothing_are_left_out() {
        assert_eq!(read("the outage"), [["outage"]]);
        assert_eq!(read("\"the fall of rome is\""), [["fall of rome"]]);
        assert_eq!(read("don't"), Vec::<Vec<String>>::new());
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn what_is_only_unwanted_finds_nothing() {
        for text in ["-staging", "or", "or or", "the", "-", "--", "!?", "\"\"", "the -staging", "\"-\""] {
            assert_eq!(read(text), Vec::<Vec<String>>::new(), "{text}");
        }
        assert_eq!(read("deploy or -staging"), [["deploy"]]);
    }

    #[test]
    fn a_blank_query_and_one_over_the_limit_are_refused() {
        assert_eq!(SearchQuery::parse(" \t\n"), Err(SearchQueryError::Empty));
        assert_eq!(SearchQuery::parse(""), Err(SearchQueryError::Empty));
        assert!(SearchQuery::parse(&"x".repeat(1024)).is_ok());
        let long = SearchQuery::parse(&"x".repeat(1025)).unwrap_err();
        assert_eq!(long.to_string(), "query is too long: 1025 bytes, the limit is 1024");
        assert!(matches!(SearchQuery::parse("a\0"), Err(SearchQueryError::Limit(LimitError::Nul { .. }))));
    }
}
