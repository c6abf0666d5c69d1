//! Guards of the house.
