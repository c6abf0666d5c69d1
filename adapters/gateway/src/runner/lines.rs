//! Lines of a program's output, however long they are and whatever they hold.

/// Bytes of a line that are kept; the rest is read and dropped.
pub(super) const LINE_BYTES: usize = 1024 * 1024;

/// Splits output into lines as it comes.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    dropped: usize,
}

impl Lines {
    /// Takes output and gives each line that it ends to `tell`, without its end.
    pub(super) fn take(&mut self, mut output: &[u8], tell: &mut impl FnMut(&str)) {
        while let Some(end) = output.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = output.split_at(end);
            self.keep(line);
            self.end(tell);
            output = rest.get(1..).unwrap_or_default();
        }
        self.keep(output);
    }

    /// The output ended; a line without an end is one too.
    pub(super) fn finish(&mut self, tell: &mut impl FnMut(&str)) {
        if !self.line.is_empty() || self.dropped > 0 {
            self.end(tell);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LINE_BYTES.saturating_sub(self.line.len());
        let (kept, dropped) = part.split_at(part.len().min(room));
        self.line.extend_from_slice(kept);
        self.dropped += dropped.len();
    }

    fn end(&mut self, tell: &mut impl FnMut(&str)) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let text = shown(&String::from_utf8_lossy(line));
        if self.dropped > 0 {
            tell(&format!("{text} (and {} more bytes)", self.dropped));
        } else {
            tell(&text);
        }
        self.line.clear();
        // One long line must not hold its memory for ever.
        self.line.shrink_to(4096);
        self.dropped = 0;
    }
}

/// The line with what a terminal would act on made visible.
fn shown(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for character in line.chars() {
        if character.is_control() && character != '\t' {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut told) = (Lines::default(), Vec::new());
        let mut tell = |line: &str| told.push(line.to_owned());
        for part in parts {
            lines.take(part, &mut tell);
        }
        lines.finish(&mut tell);
        told
    }

    #[test]
    fn b36_lines_are_split_wherever_the_reads_fall() {
        assert_eq!(lines(&[b"a\nb", b"c\r", b"\n\nd\r\n"]), ["a", "bc", "", "d"]);
    }

    #[test]
    fn b36_the_last_line_needs_no_end() {
        assert_eq!(lines(&[b"a\nlast"]), ["a", "last"]);
        assert_eq!(lines(&[b"a\n"]), ["a"]);
        assert_eq!(lines(&[]), Vec::<String>::new());
    }

    #[test]
    fn b36_a_line_that_is_too_long_is_cut_and_read_to_its_end() {
        let long = vec![b'x'; LINE_BYTES];
        let told = lines(&[&long, b"yyy", b"zz\nnext\n"]);
        assert_eq!(told.len(), 2);
        assert!(told[0].ends_with("xx (and 5 more bytes)"), "{}", &told[0][LINE_BYTES - 10..]);
        assert_eq!(told[1], "next");
        assert_eq!(lines(&[&long, b"\n"])[0].len(), LINE_BYTES, "exactly as long as may be");
    }

    #[test]
    fn an_agent_does_not_steer_the_terminal_of_who_reads_the_log() {
        assert_eq!(lines(&[b"a\x1b[2Jb\rc\td\n"]), ["a\\u{1b}[2Jb\\rc\td"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        assert_eq!(lines(&[b"\xff\n"]), ["\u{fffd}"]);
    }
}
