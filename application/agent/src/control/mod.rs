//! Control from the runner: taken in once, applied, and only then acknowledged; over a stream that may drop.

mod cursor;
mod flaps;
mod intake;
mod link;
mod pump;
#[cfg(test)]
mod tests;

pub use intake::Counted;
pub use link::SessionLink;
pub use pump::{Controls, Item, start};
