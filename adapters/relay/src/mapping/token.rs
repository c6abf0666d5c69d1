//! Tokens as their owners see them, without their values.

use compass_comms::ports::{Subject, TokenRow};
use compass_proto::v1;

/// A token on the wire.
pub(crate) fn token(row: &TokenRow) -> v1::TokenInfo {
    let (account_id, runner_id) = match &row.subject {
        Subject::Account(account) | Subject::SignIn(account) => (account.to_string(), String::new()),
        Subject::Runner(runner) => (String::new(), runner.clone()),
    };
    v1::TokenInfo {
        id: row.id.to_string(),
        account_id,
        runner_id,
        created_at_unix_ms: row.created_at.0,
        expires_at_unix_ms: row.expires_at.map_or(0, |at| at.0),
    }
}

#[cfg(test)]
mod tests {
    use compass_comms::ports::TokenHash;
    use compass_domain::{AccountId, TokenId, UnixMillis};

    use super::*;

    #[test]
    fn a_token_is_shown_by_what_it_stands_for_and_never_by_its_hash() {
        let row = |subject| TokenRow {
            id: TokenId::from_bytes([1; 16]),
            hash: TokenHash([9; 32]),
            subject,
            created_at: UnixMillis(5),
            expires_at: None,
            revoked_at: None,
        };
        let of_account = token(&row(Subject::Account(AccountId::from_bytes([2; 16]))));
        let expected = v1::TokenInfo {
            id: "01".repeat(16),
            account_id: "02".repeat(16),
            runner_id: String::new(),
            created_at_unix_ms: 5,
            expires_at_unix_ms: 0,
        };
        assert_eq!(of_account, expected);
        let of_runner = token(&row(Subject::Runner("r1".into())));
        assert_eq!((of_runner.account_id.as_str(), of_runner.runner_id.as_str()), ("", "r1"));
    }
}
