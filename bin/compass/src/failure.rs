//! How a command ends when it does not succeed, and with which exit code.

use std::{
    io::{self, Write as _},
    os::unix::process::ExitStatusExt as _,
    process::{ExitCode, ExitStatus},
};

use compass_client::ClientError;

use crate::render;

/// The exit codes, as every help text of the program states them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 a failure on this machine; 2 wrong usage; 5 refused by the server; 6 server unreachable or \
outcome unknown.";

/// What to do about a token that the server refuses.
const NEW_LOGIN: &str = "compass: the saved login, or the token that was given, does not work here any more; an \
                         administrator makes a sign-in with `compass token sign-in HANDLE`, and `compass login SECRET` \
                         takes it\n";

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something on this machine failed: a file, the terminal.
    #[error("{0}")]
    Local(String),
    /// Something is wrong on the server; what, was printed.
    #[error("{0}")]
    Findings(String),
    /// The command was given something it cannot work with.
    #[error("{0}")]
    Usage(String),
    /// An ask was still open when the time was up.
    #[error("{0}")]
    StillOpen(String),
    /// An ask was withdrawn.
    #[error("{0}")]
    Withdrawn(String),
    /// The server refused over another channel than a call: a link that ended.
    #[error("{reason}")]
    Refused {
        /// Which code.
        code: String,
        /// The server's words; untrusted text.
        reason: String,
    },
    /// The program that was run for an agent failed.
    #[error("the agent's program ended: {0}")]
    Program(ExitStatus),
    /// A call failed.
    #[error(transparent)]
    Call(#[from] ClientError),
    /// A trade of a sign-in secret failed; no token was in use, so none is at fault.
    #[error(transparent)]
    SignIn(ClientError),
    /// A post's outcome is unknown; the key makes repeating it safe.
    #[error("{error}; repeat it safely with --key {key}")]
    Post {
        /// What happened.
        error: ClientError,
        /// The key it was sent with.
        key: String,
    },
    /// Whoever read the output went away.
    #[error("the output was closed")]
    OutputClosed,
}

impl Failure {
    /// The number the process ends with.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Local(_) | Self::Findings(_) => 1,
            Self::Usage(_) => 2,
            Self::StillOpen(_) => 3,
            Self::Withdrawn(_) => 4,
            Self::Refused { .. } => 5,
            Self::Program(status) => program_code(*status),
            Self::Call(error) | Self::SignIn(error) | Self::Post { error, .. } => call_code(error),
        }
    }

    /// Prints the reason to standard error and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if !matches!(self, Self::OutputClosed) {
            // The code says it too, and a reason that cannot be written must not change it.
            let _ = io::stderr().lock().write_all(self.text().as_bytes());
        }
        ExitCode::from(self.code())
    }

    fn text(&self) -> String {
        let prefix = match self {
            Self::Call(ClientError::Refused { code, .. })
            | Self::SignIn(ClientError::Refused { code, .. }) => format!("compass: {code}: "),
            Self::Refused { code, .. } => format!("compass: {}: ", render::line(code)),
            _ => "compass: ".to_owned(),
        };
        // The reason may quote the server; each of its lines stands behind the program's name.
        let mut text = render::block(&self.to_string(), &prefix, None);
        if let Self::Call(ClientError::Refused { code: "unauthenticated", .. }) = self {
            text.push_str(NEW_LOGIN);
        }
        text
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Local(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Local(error.to_string())
    }
}

/// That of the program, or 128 and the number of the signal that ended it.
fn program_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn call_code(error: &ClientError) -> u8 {
    match error {
        ClientError::Refused { .. } | ClientError::Protocol(_) => 5,
        ClientError::Unreachable(_) | ClientError::OutcomeUnknown(_) => 6,
        ClientError::Address { .. } | ClientError::Token => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unauthenticated(message: &str) -> ClientError {
        ClientError::Refused { code: "unauthenticated", message: message.into() }
    }

    #[test]
    fn a_refusal_is_told_from_an_unknown_outcome() {
        let refused = ClientError::Refused { code: "not_found", message: "no such ask".into() };
        assert_eq!(Failure::Call(refused).code(), 5);
        assert_eq!(Failure::Call(ClientError::OutcomeUnknown("x".into())).code(), 6);
        assert_eq!(Failure::Call(ClientError::Unreachable("x".into())).code(), 6);
        assert_eq!(Failure::Usage(String::new()).code(), 2);
        assert_eq!(Failure::StillOpen(String::new()).code(), 3);
        assert_eq!(Failure::Withdrawn(String::new()).code(), 4);
    }

    #[test]
    fn the_end_of_an_agents_program_is_ours() {
        for (raw, code) in [(7 << 8, 7), (9, 137), (15, 143)] {
            assert_eq!(Failure::Program(ExitStatus::from_raw(raw)).code(), code);
        }
    }

    #[test]
    fn a_refused_login_says_how_to_get_another_whatever_the_server_says_of_it() {
        for message in ["a valid token is required", "not the token that the sign-in secret gave"] {
            let text = Failure::Call(unauthenticated(message)).text();
            assert!(text.contains("saved login") && text.contains("`compass login SECRET`"), "{text}");
        }
    }

    #[test]
    fn a_refused_sign_in_is_told_in_the_words_of_the_server_alone() {
        for message in ["ask an admin for a new one", "no"] {
            let failure = Failure::SignIn(unauthenticated(message));
            assert_eq!(failure.code(), 5);
            assert_eq!(failure.text(), format!("compass: unauthenticated: {message}\n"));
        }
    }

    #[test]
    fn a_hostile_refusal_shows_as_text() {
        let message = "gone\u{1b}[2J\nall is well".to_owned();
        let text = Failure::Call(ClientError::Refused { code: "not_found", message }).text();
        assert_eq!(text, "compass: not_found: gone‹U+001B›[2J\ncompass: not_found: all is well\n");
    }
}
