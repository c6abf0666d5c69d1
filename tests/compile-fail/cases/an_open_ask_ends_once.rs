//! An open ask is used up by its transition.

use compass_domain::{Answers, Human, OpenAsk, UnixMillis, ask::Reply};

fn twice(open: OpenAsk, by: Human, answers: Answers, reply: Reply, at: UnixMillis) {
    let _ = open.answer(by, answers, reply);
    let _ = open.cancel(at);
}

fn main() {}
