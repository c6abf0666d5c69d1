//! The connection to the agent: everything it says goes through one queue, in the order in which it was said.

use agent_client_protocol::{
    Agent, Client, Error, Lines, is_incoming_transport_closed, on_receive_notification, on_receive_request,
    v1::{
        ConnectionTo, Responder,
        schema::{
            CancelNotification, ContentBlock, CreateElicitationRequest, CreateElicitationResponse,
            PromptRequest, PromptResponse, RequestPermissionRequest, RequestPermissionResponse, SessionId,
            SessionNotification, TextContent,
        },
    },
};
use futures::future::BoxFuture;
use tokio::{
    io::{AsyncBufRead, AsyncWrite},
    sync::{mpsc, oneshot},
};

use super::{
    lines::{self, Unheard},
    setup::{self, Ready, Setup, SetupError},
};

/// What comes from the agent.
pub(super) enum Incoming {
    /// It can be prompted.
    Ready(Ready),
    /// It cannot be made ready.
    Failed(SetupError),
    /// It does something.
    Update(Box<SessionNotification>),
    /// It wants to be permitted something.
    Permission(Box<RequestPermissionRequest>, Responder<RequestPermissionResponse>),
    /// It wants a form to be filled in.
    Elicitation(Box<CreateElicitationRequest>, Responder<CreateElicitationResponse>),
    /// The prompt of this number is over.
    Done(u64, Result<PromptResponse, TurnError>),
    /// It wrote a line that is no message.
    Noise(String),
}

/// Why a prompt is over without a reason of the agent's.
#[derive(Debug)]
pub(super) enum TurnError {
    /// The agent said that it failed.
    Failed(String),
    /// The agent is gone.
    Gone,
}

/// How the connection ended.
pub(super) type Over = Result<(), String>;

/// The agent's end, driven by whoever waits for what it says.
pub(super) struct Connection {
    pub(super) queue: mpsc::UnboundedReceiver<Incoming>,
    /// Moves everything; resolves when the agent is gone or [`Self::close`] was heard.
    pub(super) driver: BoxFuture<'static, Over>,
    /// Closes the connection once what was said has left.
    pub(super) close: Option<oneshot::Sender<()>>,
    tell: mpsc::UnboundedSender<Incoming>,
}

impl Connection {
    /// A connection over the agent's pipes; it says that it is ready, or that it cannot be, through the queue.
    pub(super) fn open(
        setup: Setup,
        input: impl AsyncBufRead + Unpin + Send + 'static,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (tell, queue) = mpsc::unbounded_channel();
        let (close, closed) = oneshot::channel();
        let unheard = Unheard::default();
        let noise = {
            let tell = tell.clone();
            move |line| drop(tell.send(Incoming::Noise(line)))
        };
        let lines = Lines::new(lines::outgoing(output, unheard.clone()), lines::incoming(input, noise));
        let (updates, permissions, forms, ready) = (tell.clone(), tell.clone(), tell.clone(), tell.clone());
        let client = Client
            .v1()
            .name("compass")
            .on_receive_notification(
                async move |update: SessionNotification, _: ConnectionTo<Agent>| {
                    // A queue that is gone has nobody who would watch.
                    drop(updates.send(Incoming::Update(Box::new(update))));
                    Ok(())
                },
                on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _: ConnectionTo<Agent>| {
                    drop(permissions.send(Incoming::Permission(Box::new(request), responder)));
                    Ok(())
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: CreateElicitationRequest, responder, _: ConnectionTo<Agent>| {
                    drop(forms.send(Incoming::Elicitation(Box::new(request), responder)));
                    Ok(())
                },
                on_receive_request!(),
            );
        let main = async move |connection: ConnectionTo<Agent>| {
            let said = match setup::make_ready(connection.clone(), setup).await {
                Ok(ready) => Incoming::Ready(ready),
                Err(error) => Incoming::Failed(error),
            };
            drop(ready.send(said));
            tokio::select! {
                () = connection.incoming_closed() => {}
                // Whoever drops the other end drops this too.
                _ = closed => {}
            }
            Ok(())
        };
        let driver = Box::pin(async move {
            match client.connect_with(lines, main).await {
                Ok(()) => Ok(()),
                Err(_) if unheard.is_set() => Ok(()),
                Err(error) => Err(text(&error)),
            }
        });
        Self { queue, driver, close: Some(close), tell }
    }

    /// Sends a prompt; its end comes through the queue.
    ///
    /// # Errors
    ///
    /// What the library has against it.
    pub(super) fn prompt(&self, ready: &Ready, number: u64, prompt: String) -> Result<(), String> {
        let blocks = vec![ContentBlock::Text(TextContent::new(prompt))];
        let request = PromptRequest::new(ready.session.clone(), blocks);
        let tell = self.tell.clone();
        let sent = ready.connection.prepare_request(request).on_receiving_result(async move |result| {
            let result = result.map_err(|error| {
                let gone = is_incoming_transport_closed(&error);
                if gone { TurnError::Gone } else { TurnError::Failed(text(&error)) }
            });
            drop(tell.send(Incoming::Done(number, result)));
            Ok(())
        });
        sent.map_err(|error| text(&error))
    }
}

/// Asks the agent to end its turn.
pub(super) fn cancel(connection: &ConnectionTo<Agent>, session: &SessionId) -> Result<(), String> {
    connection.send_notification(CancelNotification::new(session.clone())).map_err(|error| text(&error))
}

/// An error of the protocol as one text.
pub(super) fn text(error: &Error) -> String {
    match &error.data {
        Some(serde_json::Value::String(data)) => format!("{}: {data}", error.message),
        Some(data) => format!("{}: {data}", error.message),
        None => error.message.clone(),
    }
}
