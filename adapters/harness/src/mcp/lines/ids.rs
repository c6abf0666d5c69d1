//! Finds the id of a request in a line that is no JSON, or too long to be kept.

use rmcp::model::RequestId;

/// Bytes of a key or a value that are kept; an id is shorter.
const TOKEN: usize = 256;

/// Reads a line byte by byte. Only where strings and brackets end matters, so faults inside of them do not.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: usize,
    is_quoted: bool,
    is_escaped: bool,
    /// The line's object ended, or it is none.
    is_over: bool,
    /// The key or the value in the outermost object that is being read.
    token: Vec<u8>,
    is_cut: bool,
    key: Vec<u8>,
    id: Option<RequestId>,
    has_method: bool,
}

impl IdScan {
    /// The id of the request in a line.
    pub(super) fn of(line: &[u8]) -> Option<RequestId> {
        let mut scan = Self::default();
        scan.feed(line);
        scan.id()
    }

    /// The id, if all that came was a request with one.
    pub(super) fn id(self) -> Option<RequestId> {
        self.id.filter(|_| self.has_method)
    }

    /// Reads on.
    pub(super) fn feed(&mut self, part: &[u8]) {
        for byte in part {
            if self.is_over {
                return;
            }
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.is_quoted {
            self.keep(byte);
            self.is_quoted = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return;
        }
        match (self.depth, byte) {
            (_, b' ' | b'\t' | b'\r') | (0, 0xEF | 0xBB | 0xBF) => {}
            (0, b'{') => self.depth = 1,
            (0, _) => self.is_over = true,
            (1, b':') => self.key = std::mem::take(&mut self.token),
            (1, b',') => self.end_member(),
            (1, b'}' | b']') => {
                self.end_member();
                self.is_over = true;
            }
            (_, b'{' | b'[') => {
                self.keep(byte);
                self.depth += 1;
            }
            (_, b'}' | b']') => self.depth -= 1,
            (_, b'"') => {
                self.keep(byte);
                self.is_quoted = true;
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 {
            if self.token.len() < TOKEN {
                self.token.push(byte);
            } else {
                self.is_cut = true;
            }
        }
    }

    fn end_member(&mut self) {
        let value = std::mem::take(&mut self.token);
        match self.key.as_slice() {
            b"\"id\"" if !self.is_cut => self.id = serde_json::from_slice(&value).ok(),
            b"\"method\"" => self.has_method = true,
            _ => {}
        }
        self.key.clear();
        self.is_cut = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_request_is_found_wherever_it_stands_and_nothing_else_is() {
        let long = format!(r#"{{"method":"m","id":"{}"}}"#, "x".repeat(TOKEN));
        let text = |id: &str| Some(RequestId::String(id.into()));
        for (line, id) in [
            (r#"{"id":7,"method":"m","params":"#, Some(RequestId::Number(7))),
            (r#" { "method" : "m" , "id" : 7 } rest"#, Some(RequestId::Number(7))),
            ("\u{feff}{\"id\":-7,\"method\":\"m\"}", Some(RequestId::Number(-7))),
            (r#"{"id":"a\"},\\","method":"\ud83d"}"#, text("a\"},\\")),
            (r#"{"method":"m","params":{"id":1,"a":[{"id":2}]},"id":"b"}"#, text("b")),
            (r#"{"method":"m","params":{"id":1}}"#, None),
            (r#"{"method":"m","params":"\"id\":1,"}"#, None),
            (r#"{"method":"m","id":7"#, None),
            (r#"{"id":7,"result":{"method":"m"}}"#, None),
            (r#"{"id":null,"method":"m"}"#, None),
            (r#"{"id":[7],"method":"m"}"#, None),
            (r#"{"id":1.5,"method":"m"}"#, None),
            (r#"[{"id":7,"method":"m"}]"#, None),
            (r#"log: {"id":7,"method":"m"}"#, None),
            (r#"{"a":1}{"id":7,"method":"m"}"#, None),
            (long.as_str(), None),
            ("", None),
        ] {
            assert_eq!(IdScan::of(line.as_bytes()), id, "{line}");
        }
    }
}
