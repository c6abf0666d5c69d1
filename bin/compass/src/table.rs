//! Columns that line up, whatever script is in them.

use unicode_width::UnicodeWidthStr as _;

const GAP: &str = "  ";

/// A line per row below a line of headings. Cells went through [`crate::render::line`]; the last one is not padded.
pub(crate) fn lines<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let headings = headings.map(str::to_owned);
    let all = || std::iter::once(&headings).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|column| all().map(|row| row[column].width()).max().unwrap_or_default());
    all().map(|row| line(row, &widths)).collect()
}

/// One row in columns of these widths.
pub(crate) fn line<const N: usize>(row: &[String; N], widths: &[usize; N]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width())));
        line.push_str(GAP);
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_what_is_shown_and_no_line_ends_in_spaces() {
        let row = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
        let shown = lines(["A", "B"], &[row("どの", "x"), row("ab", ""), row("", "y")]);
        assert_eq!(shown, ["A     B", "どの  x", "ab", "      y"]);
        assert_eq!(lines(["A", "B"], &[]), ["A  B"]);
    }
}
