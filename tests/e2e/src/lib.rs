//! The real binary from outside; everything is in `tests/`.
