//! Spans of time, spread so that many sessions do not act in one instant.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use compass_ports::Ids;

/// `span` with up to a tenth more or less.
pub(crate) fn spread(span: Duration, ids: &dyn Ids) -> Duration {
    let [a, b, ..] = ids.random();
    let part = f64::from(u16::from_be_bytes([a, b])) / f64::from(u16::MAX);
    span.mul_f64(0.9 + part * 0.2)
}

/// Locks a short critical section; a panic elsewhere does not take the hub down with it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
