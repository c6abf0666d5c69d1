//! Every limit on what clients send, and the one error that names a breach.

/// Encoded blocks of one posted message, in bytes.
pub const MESSAGE_BYTES: usize = 256 * 1024;
/// Idempotency key, in bytes.
pub const KEY_BYTES: usize = 128;
/// Blocks of one message.
pub const BLOCKS: usize = 64;
/// Questions of one ask.
pub const QUESTIONS: usize = 32;
/// Options of one question.
pub const OPTIONS: usize = 64;
/// Question and option ids, in bytes.
pub const ID_BYTES: usize = 64;
/// Question text, in bytes.
pub const QUESTION_BYTES: usize = 8 * 1024;
/// Question header, in code points.
pub const HEADER_CODE_POINTS: usize = 64;
/// Option label, in bytes.
pub const LABEL_BYTES: usize = 1024;
/// Option description, in bytes.
pub const DESCRIPTION_BYTES: usize = 4 * 1024;
/// Option preview, in bytes.
pub const PREVIEW_BYTES: usize = 64 * 1024;
/// Custom text of one answered question, in bytes.
pub const CUSTOM_TEXT_BYTES: usize = 32 * 1024;
/// Custom texts of one answer call together, in bytes.
pub const ANSWER_TEXT_BYTES: usize = 128 * 1024;
/// Topic name, in code points.
pub const TOPIC_NAME_CODE_POINTS: usize = 120;
/// Channel and group name, in code points.
pub const CHANNEL_NAME_CODE_POINTS: usize = 120;
/// Entries of a channel's pinned board.
pub const PINS: usize = 5;
/// Handle, in bytes.
pub const HANDLE_BYTES: usize = 64;
/// Display name, in code points.
pub const DISPLAY_NAME_CODE_POINTS: usize = 120;
/// An agent's activity, in code points; the one value that is cut instead of refused.
pub const ACTIVITY_CODE_POINTS: usize = 140;
/// Search query, in bytes.
pub const SEARCH_QUERY_BYTES: usize = 1024;
/// Bytes after which a page ends early; a page holds at least one message.
pub const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Messages of a page when the caller names no limit.
pub const PAGE_DEFAULT: u32 = 50;
/// Messages of a page at the most.
pub const PAGE_MAX: u32 = 200;

/// A breach of a limit; the text names the field, the limit and the actual size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// More than the limit allows.
    #[error("{field} is too long: {actual} {unit}, the limit is {limit}")]
    TooLong {
        /// Which field.
        field: String,
        /// The most that is allowed.
        limit: usize,
        /// What was sent.
        actual: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A text holds a NUL.
    #[error("{field} contains a NUL character at byte {at}")]
    Nul {
        /// Which field.
        field: String,
        /// Where.
        at: usize,
    },
}

/// Checks a text's length in bytes and that it holds no NUL.
///
/// # Errors
///
/// [`LimitError`] that names `field`.
pub fn check_bytes(field: &str, text: &str, limit: usize) -> Result<(), LimitError> {
    check_nul(field, text)?;
    check_count(field, text.len(), limit, "bytes")
}

/// Checks a text's length in code points and that it holds no NUL.
///
/// # Errors
///
/// [`LimitError`] that names `field`.
pub fn check_code_points(field: &str, text: &str, limit: usize) -> Result<(), LimitError> {
    check_nul(field, text)?;
    check_count(field, text.chars().count(), limit, "code points")
}

/// Checks a number of things.
///
/// # Errors
///
/// [`LimitError`] that names `field` and `unit`.
pub fn check_count(field: &str, actual: usize, limit: usize, unit: &'static str) -> Result<(), LimitError> {
    if actual > limit {
        return Err(LimitError::TooLong { field: field.to_owned(), limit, actual, unit });
    }
    Ok(())
}

/// Refuses a NUL, which Postgres cannot store.
///
/// # Errors
///
/// [`LimitError::Nul`] that names `field`.
pub fn check_nul(field: &str, text: &str) -> Result<(), LimitError> {
    match text.find('\0') {
        Some(at) => Err(LimitError::Nul { field: field.to_owned(), at }),
        None => Ok(()),
    }
}

/// The number of rows a page may hold: 0 is the default, more than the maximum is the maximum.
pub fn page_limit(asked: u32) -> u32 {
    match asked {
        0 => PAGE_DEFAULT,
        more => more.min(PAGE_MAX),
    }
}
