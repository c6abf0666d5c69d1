//! The hub looks into blocks in one place only.

use crate::{
    accept, reported,
    sources::{Source, production},
};

const PLACE: &str = "application/hub/src/delivery/routing.rs";

/// Types that tell kinds of blocks apart.
const NAMES: [&str; 7] =
    ["BlockView", "MessageBlock", "AskAnswer", "AskState", "Ask", "ClosedAsk", "OpenAsk"];

/// Methods of a message that do.
const METHODS: [&str; 5] = ["answer", "asks", "mentions", "blocks", "search_text"];

fn check(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| source.path != PLACE) {
        for (index, token) in source.tokens.iter().enumerate() {
            let name = token.text.as_str();
            let next = |at: usize| source.tokens.get(at).map_or("", |token| token.text.as_str());
            let called =
                METHODS.contains(&name) && index > 0 && next(index - 1) == "." && next(index + 1) == "(";
            let path = METHODS.contains(&name)
                && index > 2
                && next(index - 1) == ":"
                && next(index - 3) == "Message";
            if NAMES.contains(&name) || called || path {
                violations.push(format!(
                    "{}:{}: {name} tells kinds of blocks apart, which the hub does in {PLACE} only",
                    source.path, token.line
                ));
            }
        }
    }
    violations
}

#[test]
fn the_hub_looks_into_blocks_in_one_file() {
    let sources = production(&["application/hub"]);
    assert!(sources.iter().any(|source| source.path == PLACE), "{PLACE} is gone");
    accept(&check(&sources));
}

#[test]
fn a_look_into_blocks_elsewhere_is_reported() {
    let planted = "fn a(m: &Message) -> bool { m.answer().is_some() }\nfn b(v: BlockView) {}\nfn c() { x.map(Message::asks); }";
    let violations = check(&[Source::parse("application/hub/src/delivery/sender.rs", planted)]);
    reported(&violations, &["sender.rs:1", "answer"]);
    reported(&violations, &["sender.rs:2", "BlockView"]);
    reported(&violations, &["sender.rs:3", "asks"]);
    accept(&check(&[Source::parse(PLACE, planted)]));
}
