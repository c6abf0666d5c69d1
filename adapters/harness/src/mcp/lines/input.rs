//! Cuts the input into lines, and keeps no more of one than its limit.

use std::io;

use rmcp::model::RequestId;
use tokio_util::{
    bytes::{Buf as _, BytesMut},
    codec::Decoder,
};

use super::ids::IdScan;

/// What stood between two line ends.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// All of it.
    Whole(BytesMut),
    /// It was longer than allowed and is gone.
    Long {
        /// How long it was.
        bytes: usize,
        /// The id of the request that it was.
        id: Option<RequestId>,
    },
}

pub(super) struct LineDecoder {
    limit: usize,
    /// Bytes at the start of the buffer that are known to hold no line end.
    searched: usize,
    /// What is gone of the line that is being read, and what was learnt from it.
    gone: Option<(usize, IdScan)>,
}

impl LineDecoder {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, searched: 0, gone: None }
    }

    /// Takes more of a line that is too long.
    fn pass_over(&mut self, part: &[u8]) {
        let (bytes, scan) = self.gone.get_or_insert_default();
        *bytes += part.len();
        scan.feed(part);
    }
}

impl Decoder for LineDecoder {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, io::Error> {
        let end = buffer.iter().skip(self.searched).position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| self.searched + end) else {
            if self.gone.is_some() || buffer.len() > self.limit {
                self.pass_over(buffer);
                buffer.clear();
            }
            self.searched = buffer.len();
            return Ok(None);
        };
        self.searched = 0;
        let line = buffer.split_to(end);
        buffer.advance(1);
        if self.gone.is_none() && line.len() <= self.limit {
            return Ok(Some(Line::Whole(line)));
        }
        self.pass_over(&line);
        Ok(self.gone.take().map(|(bytes, scan)| Line::Long { bytes, id: scan.id() }))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, io::Error> {
        let line = self.decode(buffer)?;
        if line.is_none() {
            // A line without an end was cut off; nobody is there to be told.
            buffer.clear();
            self.searched = 0;
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"{"method":"m","params":{"text":"0123456789"},"id":7}"#;

    fn lines(limit: usize, input: &str, chunk: usize) -> Vec<Line> {
        let (mut decoder, mut buffer, mut lines) = (LineDecoder::new(limit), BytesMut::new(), vec![]);
        for part in input.as_bytes().chunks(chunk) {
            buffer.extend_from_slice(part);
            while let Some(line) = decoder.decode(&mut buffer).unwrap() {
                lines.push(line);
            }
            assert!(buffer.len() <= limit, "no more than the limit is kept");
        }
        assert_eq!(decoder.decode_eof(&mut buffer).unwrap(), None);
        assert!(buffer.is_empty(), "what was cut off is gone");
        lines
    }

    #[test]
    fn a_line_is_whole_up_to_the_limit_however_it_arrives() {
        let whole = || Line::Whole(REQUEST.into());
        let long = || Line::Long { bytes: REQUEST.len(), id: Some(RequestId::Number(7)) };
        let short = || Line::Whole("x".into());
        let input = format!("{REQUEST}\nx\n{REQUEST}\n{REQUEST}");
        for chunk in 1..=input.len() {
            assert_eq!(lines(REQUEST.len(), &input, chunk), [whole(), short(), whole()], "{chunk}");
            assert_eq!(lines(REQUEST.len() - 1, &input, chunk), [long(), short(), long()], "{chunk}");
        }
    }
}
