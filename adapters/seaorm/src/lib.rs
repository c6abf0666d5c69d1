//! Storage and writer on Postgres and SQLite through SeaORM.
