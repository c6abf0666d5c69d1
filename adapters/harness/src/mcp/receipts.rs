//! A transport that knows when a result was written and flushed.

use std::{future::Future, sync::Arc};

use rmcp::{
    RoleServer,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

use super::outbox::Outbox;

/// Acknowledges what a result carried once the inner transport has written and flushed it.
pub(super) struct Receipts<T> {
    inner: T,
    outbox: Arc<Outbox>,
}

impl<T> Receipts<T> {
    pub(super) fn new(inner: T, outbox: Arc<Outbox>) -> Self {
        Self { inner, outbox }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Receipts<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let carried = self.outbox.leaves(&item);
        let sent = self.inner.send(item);
        async move {
            // If it fails or is given up, what it carried is dropped and comes again.
            sent.await?;
            if let Some(carried) = carried {
                drop(carried.got_there());
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.inner.receive().await?;
        self.outbox.arrived(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
