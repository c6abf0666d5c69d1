//! Search over texts as they are: reads every message there is, which is what storage of a test or a trial can afford.

use std::borrow::Cow;

use compass_domain::{
    SearchQuery,
    search::{self, Alternative, Phrase},
};
use rust_stemmers::{Algorithm, Stemmer};

/// A query whose words are reduced to their stems.
pub(crate) struct Search {
    stemmer: Stemmer,
    alternatives: Vec<Terms>,
}

struct Terms {
    wanted: Vec<Stems>,
    unwanted: Vec<Stems>,
}

/// The stems of a phrase; any word may stand where it has one that says nothing.
type Stems = Vec<Option<String>>;

impl Search {
    pub(crate) fn new(query: &SearchQuery) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let stems = |phrases: &[Phrase]| phrases.iter().map(|phrase| stems(&stemmer, phrase)).collect();
        let terms = |alternative: &Alternative| Terms {
            wanted: stems(alternative.wanted()),
            unwanted: stems(alternative.unwanted()),
        };
        let alternatives = query.alternatives().iter().map(terms).collect();
        Self { stemmer, alternatives }
    }

    /// How often a text holds what is wanted; none if it is not found.
    pub(crate) fn score(&self, text: &str) -> Option<usize> {
        let words: Vec<String> = search::words(text).iter().map(|word| stem(&self.stemmer, word)).collect();
        self.alternatives.iter().filter_map(|terms| terms.score(&words)).max()
    }
}

impl Terms {
    fn score(&self, words: &[String]) -> Option<usize> {
        if self.unwanted.iter().any(|phrase| occurrences(words, phrase) > 0) {
            return None;
        }
        let counts: Vec<usize> = self.wanted.iter().map(|phrase| occurrences(words, phrase)).collect();
        counts.iter().all(|count| *count > 0).then(|| counts.iter().sum())
    }
}

fn occurrences(words: &[String], phrase: &Stems) -> usize {
    let fits = |window: &&[String]| {
        window.iter().zip(phrase).all(|(word, wanted)| wanted.as_ref().is_none_or(|wanted| wanted == word))
    };
    words.windows(phrase.len().max(1)).filter(fits).count()
}

fn stems(stemmer: &Stemmer, phrase: &Phrase) -> Stems {
    let of = |word: &String| (!search::is_stop_word(word)).then(|| stem(stemmer, word));
    phrase.words().iter().map(of).collect()
}

fn stem(stemmer: &Stemmer, word: &str) -> String {
    Cow::into_owned(stemmer.stem(word))
}
