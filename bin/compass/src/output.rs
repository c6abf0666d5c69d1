//! What a command prints: lines for people or JSON for machines, always through [`crate::render`].

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::{failure::Failure, render};

/// Standard output of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
    width: Option<usize>,
}

#[expect(clippy::unused_self, reason = "a command prints through the output it was given")]
impl Output {
    /// Output for people, or JSON with one value a line.
    pub(crate) fn new(json: bool) -> Self {
        Self { json, width: terminal_width() }
    }

    /// True if machines read it.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints one line of our own; values in it went through [`render::line`].
    pub(crate) fn line(self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(io::stdout().lock(), "{text}")?)
    }

    /// Prints a text of somebody else behind `prefix`.
    pub(crate) fn body(self, text: &str, prefix: &str) -> Result<(), Failure> {
        Ok(io::stdout().lock().write_all(render::block(text, prefix, self.width).as_bytes())?)
    }

    /// Prints text that [`render::block`] made already.
    pub(crate) fn safe(self, text: &str) -> Result<(), Failure> {
        Ok(io::stdout().lock().write_all(text.as_bytes())?)
    }

    /// Prints one JSON value on a line.
    pub(crate) fn json(self, value: &impl Serialize) -> Result<(), Failure> {
        Ok(writeln!(io::stdout().lock(), "{}", render::json(value)?)?)
    }

    /// Columns of the terminal; `None` if the output is none.
    pub(crate) fn width(self) -> Option<usize> {
        self.width
    }
}

/// Prints a remark to standard error, so that it never mixes with results.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "compass: {text}");
}

/// True if a person sits at both ends.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0)
}
