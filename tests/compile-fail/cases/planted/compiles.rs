//! Planted: what the domain allows compiles, so a case that expects a failure here is reported.

use compass_domain::{ClosedAsk, OpenAsk, UnixMillis};

fn ends_once(open: OpenAsk, at: UnixMillis) -> ClosedAsk {
    open.cancel(at)
}

fn main() {
    let _ = ends_once;
}
