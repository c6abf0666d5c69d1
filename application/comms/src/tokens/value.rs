//! The value of a token: 32 random bytes as URL-safe base64 without padding, of which only a hash is kept.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{
    Comms,
    ports::{TokenHash, TokenRow},
};

/// Bytes of a token's value before encoding.
const VALUE_BYTES: usize = 32;

/// A new value; it is shown once.
pub(super) fn mint(comms: &Comms) -> String {
    encode(comms.ids.secret())
}

/// Begins with a letter, so that no command line takes the value for an option; costs one of 256 random bits.
fn encode(mut secret: [u8; VALUE_BYTES]) -> String {
    secret[0] &= 0x7f;
    URL_SAFE_NO_PAD.encode(secret)
}

/// The hash of a value as a client sent it; none if it has not the form of a value.
pub(super) fn parse(value: &str) -> Option<TokenHash> {
    let bytes = URL_SAFE_NO_PAD.decode(value).ok()?;
    (bytes.len() == VALUE_BYTES).then(|| hash(value))
}

/// The hash under which a value is kept.
pub(super) fn hash(value: &str) -> TokenHash {
    TokenHash(Sha256::digest(value).into())
}

/// True if `row` keeps this hash, compared in constant time.
pub(super) fn is_kept_by(hash: &TokenHash, row: &TokenRow) -> bool {
    hash.0.ct_eq(&row.hash.0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_begins_with_a_letter_and_is_one_that_is_accepted() {
        for first in 0..=u8::MAX {
            let value = encode([first; VALUE_BYTES]);
            assert!(value.starts_with(|first: char| first.is_ascii_alphabetic()), "{value}");
            assert!(parse(&value).is_some(), "{value}");
        }
    }
}
