//! The command that resumes an interrupted ask.

use std::env;

/// This process's own command line, with the key that finds the ask again.
pub(crate) fn command(key: &str) -> String {
    quoted(env::args().skip(1), key)
}

fn quoted(args: impl Iterator<Item = String>, key: &str) -> String {
    let mut words: Vec<String> = vec!["compass".to_owned()];
    let mut has_key = false;
    let mut hide_next = false;
    for arg in args {
        if hide_next {
            hide_next = false;
            continue;
        }
        // A token is not repeated on a screen; the environment or the saved login has it.
        if arg == "--token" {
            hide_next = true;
            continue;
        }
        if arg.starts_with("--token=") {
            continue;
        }
        has_key |= arg == "--key" || arg.starts_with("--key=");
        words.push(quote(&arg));
    }
    if !has_key {
        words.extend(["--key".to_owned(), quote(key)]);
    }
    words.join(" ")
}

fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@,+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(args: &[&str]) -> String {
        quoted(args.iter().map(|&arg| arg.to_owned()), "k1")
    }

    #[test]
    fn the_key_is_added_once_and_words_are_quoted() {
        assert_eq!(command(&["ask", "Go?", "--wait"]), "compass ask 'Go?' --wait --key k1");
        assert_eq!(command(&["ask", "--key", "k1", "it's"]), r"compass ask --key k1 'it'\''s'");
    }

    #[test]
    fn a_token_is_left_out() {
        assert_eq!(command(&["ask", "--token", "s3cret", "x", "--token=s3cret"]), "compass ask x --key k1");
    }
}
