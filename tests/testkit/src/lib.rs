//! Builders, fixed clock and ids, contract suites, a temporary Postgres.

pub mod postgres;
