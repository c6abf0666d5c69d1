//! When to stop: the first signal asks, the second one does not wait.

use tokio::{
    io::AsyncReadExt as _,
    signal::unix::{SignalKind, signal},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::failure::Failure;

/// Cancels `stop` at the first signal and `now` at the second one; standard input counts as a signal if watched.
///
/// # Errors
///
/// [`Failure::Local`] if signals cannot be listened to.
pub(crate) fn watch(
    tasks: &TaskTracker,
    stop: CancellationToken,
    now: CancellationToken,
    watch_input: bool,
) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tasks.spawn(async move {
        for token in [stop, now.clone()] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = input_closed(), if watch_input && !token.is_cancelled() => {}
                () = now.cancelled() => return,
            }
            token.cancel();
        }
    });
    Ok(())
}

async fn input_closed() {
    let mut input = tokio::io::stdin();
    let mut ignored = [0; 256];
    while input.read(&mut ignored).await.is_ok_and(|read| read > 0) {}
}
