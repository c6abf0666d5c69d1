//! Over standard streams, or any two.

use std::{sync::Arc, time::Duration};

use compass_agent::ports::HarnessError;
use rmcp::{ServiceExt, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    lines::Lines,
    outbox::Outbox,
    receipts::Receipts,
    server::{Core, Server},
};

/// Bytes of one line, as of one message at every other door.
const LINE: usize = 4 * 1024 * 1024;
/// How long a result waits for an earlier one that carries messages and is being written.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long calls and receipts have to end once the client is gone.
const LINGER: Duration = Duration::from_secs(5);

/// Serves one client until its input ends. A message counts as delivered once its result was written and flushed.
///
/// # Errors
///
/// [`HarnessError`] if the client does not speak the protocol, or its pipe breaks before it began.
pub async fn serve_stdio(
    core: Core,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), HarnessError> {
    let (core, outbox) = (Arc::new(core), Arc::<Outbox>::default());
    let lines = Lines::new(input, output, LINE);
    let server = Server::new(Arc::clone(&core), Arc::clone(&outbox), PATIENCE);
    match server.serve(Receipts::new(lines, outbox)).await {
        Ok(running) => {
            running.waiting().await.map_err(|error| HarnessError(error.to_string()))?;
        }
        // It ended before it began.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(HarnessError(error.to_string())),
    }
    core.tasks.close();
    if tokio::time::timeout(LINGER, core.tasks.wait()).await.is_err() {
        tracing::warn!(
            seconds = LINGER.as_secs(),
            "calls were still under way when the time for them ran out"
        );
    }
    Ok(())
}
