//! How an ask ends.

use compass_domain::{LockedAsk, UnixMillis, ask::End, message::DraftBlock};

use crate::support::{ASKER, draft, locked, open, post};

#[test]
fn a_cancel_closes_the_ask_for_its_author_without_an_answer() {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    let closed = open(posted.message()).cancel(UnixMillis(30));
    assert_eq!((closed.end(), closed.by()), (End::Cancelled, ASKER));
    assert!(matches!(locked(closed.message()), LockedAsk::Cancelled));
    assert_eq!(closed.message().asks().next().expect("the ask").answer(0), None);
}

#[test]
fn closing_one_ask_leaves_its_sibling_open() {
    let posted = post(vec![DraftBlock::Ask(draft()), DraftBlock::Ask(draft())]);
    let closed = open(posted.message()).cancel(UnixMillis(30));
    let open: Vec<_> = closed.message().asks().map(compass_domain::Ask::is_open).collect();
    assert_eq!(open, [false, true]);
}
