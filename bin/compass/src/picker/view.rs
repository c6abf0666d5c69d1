//! What the picker shows. Questions are printed whole before; here are the rows, and a window of them if needed.

use compass_client::model::Question;

use super::{Draft, Mode, Picker};
use crate::render;

const PREFIX: &str = "    ";

impl Picker {
    /// The lines to show on a terminal of `width` columns and `height` rows; the cursor's row is among them.
    pub(crate) fn lines(&self, width: usize, height: usize) -> Vec<String> {
        let (rows, at, mut foot) = match self.mode {
            Mode::Review => self.review(width),
            Mode::Rows | Mode::Text => self.rows(width),
        };
        if !self.notice.is_empty() {
            foot.insert(0, format!("! {}", self.notice));
        }
        let foot: Vec<String> = foot.iter().flat_map(|line| fold(line, "", "", width)).collect();
        let room = height.saturating_sub(foot.len() + 3).max(3);
        let mut lines = window(rows, at, room);
        lines.extend(foot);
        lines
    }

    fn rows(&self, width: usize) -> (Vec<Vec<String>>, usize, Vec<String>) {
        let Some(question) = self.questions.get(self.at) else { return (Vec::new(), 0, Vec::new()) };
        let draft = self.draft();
        let mut rows: Vec<_> =
            (0..question.options.len()).map(|row| self.option(question, row, width)).collect();
        let text = if draft.text.is_empty() && self.mode != Mode::Text {
            "write your own words".to_owned()
        } else {
            let end = if self.mode == Mode::Text { "▏" } else { "" };
            format!("own words: {}{end}", render::line(&draft.text))
        };
        rows.push(self.row(self.text_row(), mark(!draft.text.is_empty(), true), &text, width));
        rows.push(self.row(self.skip_row(), mark(draft.skipped, false), "skip this question", width));
        (rows, self.row, vec![self.keys().to_owned()])
    }

    fn option(&self, question: &Question, row: usize, width: usize) -> Vec<String> {
        let Some(option) = question.options.get(row) else { return Vec::new() };
        let chosen = self.draft().chosen.contains(&row);
        let head =
            format!("{} {}{}.", mark(chosen, question.allow_multiple), row + 1, suggested(question, row));
        self.row(row, &head, &render::line(&option.label), width)
    }

    fn row(&self, row: usize, head: &str, text: &str, width: usize) -> Vec<String> {
        let cursor = if row == self.row { ">" } else { " " };
        fold(text, &format!("{cursor} {head} "), PREFIX, width)
    }

    fn keys(&self) -> &'static str {
        match (self.mode, self.allows_multiple()) {
            (Mode::Text, _) => {
                "Type your words. Enter goes on with them, Esc keeps them and goes back to the rows."
            }
            (_, true) => {
                "↑↓ or a number moves, space chooses, Enter goes on, ← goes back, Esc leaves the ask open."
            }
            (_, false) => "↑↓ or a number moves, Enter takes the row, ← goes back, Esc leaves the ask open.",
        }
    }

    fn review(&self, width: usize) -> (Vec<Vec<String>>, usize, Vec<String>) {
        let each = self.questions.iter().zip(&self.drafts).enumerate();
        let rows = each
            .map(|(at, (question, draft))| {
                let head = format!("  {}. ", at + 1);
                fold(&summary(question, draft), &head, PREFIX, width)
            })
            .collect();
        let ends = "An answer is final. Enter sends it, ← changes it, Esc leaves the ask open.";
        (rows, 0, vec![ends.to_owned()])
    }
}

/// One question's answer on one line; a skipped question says so.
pub(crate) fn summary(question: &Question, draft: &Draft) -> String {
    let mut parts: Vec<_> = draft
        .chosen
        .iter()
        .filter_map(|row| question.options.get(*row).map(|option| (row + 1, option)))
        .map(|(number, option)| format!("[{number}] {}", render::line(&option.label)))
        .collect();
    if !draft.text.is_empty() {
        parts.push(format!("own words: {}", render::line(&draft.text)));
    }
    if parts.is_empty() { "skipped".to_owned() } else { parts.join(", ") }
}

fn suggested(question: &Question, row: usize) -> &'static str {
    let recommended = question.recommended.and_then(|index| usize::try_from(index).ok());
    if recommended == Some(row) { " (recommended by the asker)" } else { "" }
}

fn mark(chosen: bool, square: bool) -> &'static str {
    match (chosen, square) {
        (true, true) => "[x]",
        (false, true) => "[ ]",
        (true, false) => "(x)",
        (false, false) => "( )",
    }
}

/// A text behind a head, wrapped with continuation lines behind `rest`.
fn fold(text: &str, head: &str, rest: &str, width: usize) -> Vec<String> {
    let longest = if head.chars().count() > rest.chars().count() { head } else { rest };
    render::wrap(text, longest, Some(width))
        .into_iter()
        .enumerate()
        .map(|(index, piece)| format!("{}{piece}", if index == 0 { head } else { rest }))
        .collect()
}

/// As many rows around the cursor as fit, and how many lines are out of sight.
fn window(rows: Vec<Vec<String>>, at: usize, room: usize) -> Vec<String> {
    let before: usize = rows.iter().take(at).map(Vec::len).sum();
    let own = rows.get(at).map_or(0, Vec::len);
    let lines: Vec<_> = rows.into_iter().flatten().collect();
    if lines.len() <= room {
        return lines;
    }
    let spare = room.saturating_sub(own) / 2;
    let start = before.saturating_sub(spare).min(lines.len() - room);
    let hidden = (start, lines.len() - start - room);
    let mut shown: Vec<_> = lines.into_iter().skip(start).take(room).collect();
    shown.push(format!("  … {} lines above, {} lines below", hidden.0, hidden.1));
    shown
}
