//! An open ask cannot be kept for a second transition.

use compass_domain::OpenAsk;

fn copied<T: Clone>(value: &T) -> T {
    value.clone()
}

fn keep(open: &OpenAsk) -> OpenAsk {
    copied(open)
}

fn main() {}
