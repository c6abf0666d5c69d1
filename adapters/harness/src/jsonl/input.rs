//! The lines a program writes, of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Bytes of a line at the most, as of one message at every other door.
pub(super) const LINE_BYTES: usize = 4 * 1024 * 1024;

/// What stood between two line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it; it need not be text.
    Whole(Vec<u8>),
    /// It was longer than allowed and is gone; so many bytes it had.
    Long(usize),
}

/// A program's output, line by line.
pub(super) struct Lines<R> {
    input: R,
    limit: usize,
    /// What came of the line that is being read, as far as it fits.
    line: Vec<u8>,
    bytes: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Lines of at most `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, line: Vec::new(), bytes: 0 }
    }

    /// The next line; none at the end. May be dropped while it waits and loses nothing.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let part = self.input.fill_buf().await?;
            if part.is_empty() {
                return Ok((self.bytes > 0).then(|| self.end()));
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let of_line = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
            self.bytes += of_line.len();
            let read = end.map_or(of_line.len(), |end| end + 1);
            if self.bytes <= self.limit {
                self.line.extend_from_slice(of_line);
            } else {
                self.line = Vec::new();
            }
            self.input.consume(read);
            if end.is_some() {
                return Ok(Some(self.end()));
            }
        }
    }

    fn end(&mut self) -> Line {
        let (line, bytes) = (std::mem::take(&mut self.line), std::mem::take(&mut self.bytes));
        if bytes <= self.limit { Line::Whole(line) } else { Line::Long(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn a_line_is_whole_up_to_the_limit_however_it_arrives_and_no_more_is_kept() {
        let whole = |text: &str| Line::Whole(text.into());
        for size in 1..12 {
            let input = BufReader::with_capacity(size, &b"12345\n\n123456\n1234567\n12"[..]);
            let mut lines = Lines::new(input, 5);
            for wanted in [whole("12345"), whole(""), Line::Long(6), Line::Long(7), whole("12")] {
                assert_eq!(lines.next().await.expect("read"), Some(wanted), "{size}");
                assert!(lines.line.capacity() <= 8, "{size}");
            }
            assert_eq!(lines.next().await.expect("read"), None);
        }
    }
}
