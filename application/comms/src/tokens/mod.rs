//! Tokens: issuing, listing, revoking, signing in once, sessions of browsers, and finding out who calls.

pub mod authenticate;
pub mod issue;
pub mod list;
pub mod revoke;
pub mod session;
pub mod sign_in;

mod access;
mod value;
