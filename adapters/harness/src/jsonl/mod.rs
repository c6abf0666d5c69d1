//! JSON lines: one object per line, calls and receipts in, results and messages out.

mod input;
mod lines;
mod run;

pub use lines::{InLine, OutLine};
pub use run::run;
