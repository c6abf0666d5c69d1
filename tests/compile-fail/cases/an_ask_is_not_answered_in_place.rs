//! The state of an ask changes in a transition only.

use compass_domain::{Ask, AskState, UnixMillis};

fn set(ask: &Ask) -> Ask {
    ask.with_state(AskState::Cancelled { at: UnixMillis(0) })
}

fn assign(ask: &mut Ask) {
    ask.state = AskState::Open;
}

fn main() {}
