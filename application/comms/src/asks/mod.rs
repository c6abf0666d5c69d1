//! Asks: answering, withdrawing, and what is still open.

use compass_domain::{AskId, ClosedAsk, Corrupt};
use compass_ports::LoadedAsk;

pub mod cancel_ask;
pub mod list_open_asks;
pub mod respond_to_ask;

/// Proves that the questions about to be stored are those that were posted.
fn check_digest(closed: &ClosedAsk, found: &LoadedAsk) -> Result<(), Corrupt> {
    let id: AskId = closed.ask();
    let digest = closed.message().asks().find(|ask| ask.id() == id).map(compass_domain::Ask::digest);
    if digest == Some(found.digest) {
        return Ok(());
    }
    Err(Corrupt::new(format!("ask {id} disagrees with the digest of its entry")))
}
