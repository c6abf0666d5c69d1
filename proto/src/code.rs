//! The names of error codes in [`CommsCallError`](crate::v1::CommsCallError), for both sides of the wire.

use tonic::Code;

/// The name of a code, such as `not_found`.
pub const fn token(code: Code) -> &'static str {
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "cancelled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}

/// The code of a name; none for a name that no code has.
pub fn parse(name: &str) -> Option<Code> {
    (0..=LAST).map(Code::from_i32).find(|code| token(*code) == name)
}

/// The highest number of a code.
const LAST: i32 = Code::Unauthenticated as i32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own_and_is_found_by_it() {
        for number in 0..=LAST {
            let code = Code::from_i32(number);
            assert_eq!(code as i32, number);
            assert_eq!(parse(token(code)), Some(code));
        }
        assert_eq!(Code::from_i32(LAST + 1), Code::Unknown, "there is no higher one");
        assert_eq!(parse("NOT_FOUND"), None);
        assert_eq!(parse(""), None);
    }
}
