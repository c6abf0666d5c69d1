//! Guards of the house. They are tests, in `tests/guards`; what must not compile is in `tests/compile-fail`.
