//! What must not compile outside the domain. It depends on nothing else, because every dependency is checked again.
