//! One caller's stream of events: a boundary, a replay, then what comes, each checked when it is sent.

use std::{fmt, sync::Arc};

use compass_domain::{Classified, ErrorKind, Position};
use compass_ports::{EventBus, Next, Published, Since, StorageError, Subscription};

use super::{Audiences, Feed};
use crate::{Caller, Comms, ports::Storage};

/// From where a subscriber wants to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscribeFrom {
    /// The last seq it saw; 0 starts over.
    pub since_seq: u64,
    /// The epoch it saw it in; ignored when starting over.
    pub epoch: u64,
}

/// What a stream yields.
#[derive(Debug)]
pub enum StreamItem {
    /// The first item of a stream that starts over: reads up to `snapshot` and this stream miss nothing together.
    Boundary {
        /// The highest message position before the stream began.
        snapshot: Position,
        /// The bus's epoch.
        epoch: u64,
    },
    /// An event that the caller may see.
    Event(Arc<Published>),
    /// Events were missed: start over. The stream ends after it.
    Resync {
        /// The bus's epoch.
        epoch: u64,
    },
    /// The stream is over.
    End,
    /// The stream is over because of a failure.
    Failed(Error),
}

/// Why a stream fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the caller may see cannot be told.
    #[error("cannot tell what the subscriber may see")]
    Visibility(#[source] StorageError),
    /// The newest position cannot be read.
    #[error("cannot read the newest position")]
    Boundary(#[source] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Visibility(_) => ErrorKind::Internal,
            Self::Boundary(error) => error.kind(),
        }
    }
}

/// Subscribes the caller to the events of its tenant that it may see; `audiences` is one for all subscribers.
pub async fn subscribe(
    comms: &Comms,
    audiences: &Arc<Audiences>,
    caller: &Caller,
    from: SubscribeFrom,
) -> EventStream {
    subscribe_to(Feed::Conversation, comms, audiences, caller, from).await
}

/// Subscribes the caller to one feed of the events of its tenant, as [`subscribe`] does.
pub async fn subscribe_to(
    feed: Feed,
    comms: &Comms,
    audiences: &Arc<Audiences>,
    caller: &Caller,
    from: SubscribeFrom,
) -> EventStream {
    let since = match from {
        SubscribeFrom { since_seq: 0, .. } => Since::Start,
        SubscribeFrom { since_seq, epoch } => Since::After { seq: since_seq, epoch },
    };
    let epoch = comms.bus.epoch();
    // Subscribed before the position is read, so that no commit falls between the two.
    let state = match comms.bus.subscribe(&caller.tenant, since) {
        Err(_) => State::Last(StreamItem::Resync { epoch }),
        Ok(events) if since == Since::Start => match newest(comms, caller).await {
            Ok(snapshot) => State::First(StreamItem::Boundary { snapshot, epoch }, events),
            Err(error) => State::Last(StreamItem::Failed(Error::Boundary(error))),
        },
        Ok(events) => State::Live(events),
    };
    EventStream {
        storage: Arc::clone(&comms.storage),
        bus: Arc::clone(&comms.bus),
        audiences: Arc::clone(audiences),
        caller: caller.clone(),
        epoch,
        feed,
        state,
        unchecked: None,
    }
}

async fn newest(comms: &Comms, caller: &Caller) -> Result<Position, StorageError> {
    comms.storage.read(&caller.tenant).await?.last_position().await
}

/// One caller's stream of events.
pub struct EventStream {
    storage: Arc<dyn Storage>,
    bus: Arc<dyn EventBus>,
    audiences: Arc<Audiences>,
    caller: Caller,
    epoch: u64,
    feed: Feed,
    state: State,
    /// Taken from the bus and not yet checked; kept here so that dropping `next` loses nothing.
    unchecked: Option<Arc<Published>>,
}

enum State {
    First(StreamItem, Box<dyn Subscription>),
    Live(Box<dyn Subscription>),
    Last(StreamItem),
    Over,
}

impl EventStream {
    /// Waits for the next item; safe to drop while waiting. After the last item it is [`StreamItem::End`] for ever.
    pub async fn next(&mut self) -> StreamItem {
        match std::mem::replace(&mut self.state, State::Over) {
            State::First(item, events) => {
                self.state = State::Live(events);
                item
            }
            State::Last(item) => item,
            State::Over => StreamItem::End,
            State::Live(events) => {
                self.state = State::Live(events);
                let item = self.next_visible().await;
                if !matches!(item, StreamItem::Event(_)) {
                    self.state = State::Over;
                }
                item
            }
        }
    }

    async fn next_visible(&mut self) -> StreamItem {
        loop {
            if let Some(published) = self.unchecked.clone() {
                let asked =
                    self.audiences.may_see(&*self.storage, &*self.bus, &self.caller, &published.event);
                let visible = asked.await;
                self.unchecked = None;
                match visible {
                    Ok(true) => return StreamItem::Event(published),
                    Ok(false) => {}
                    Err(error) => return StreamItem::Failed(Error::Visibility(error)),
                }
            }
            let State::Live(events) = &mut self.state else { return StreamItem::End };
            match events.next().await {
                Next::Event(published) if self.feed.carries(&published.event) => {
                    self.unchecked = Some(published);
                }
                Next::Event(_) => {}
                Next::Lagged => return StreamItem::Resync { epoch: self.epoch },
                Next::Closed => return StreamItem::End,
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("caller", &self.caller).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use compass_domain::{Event, MessageId};

    use super::*;
    use crate::testing::{CHANNEL, ask_id, ask_message, caller, person, ports_over, unreachable_storage};

    const LIVE: SubscribeFrom = SubscribeFrom { since_seq: 1, epoch: 1 };

    #[tokio::test]
    async fn a_fault_while_filtering_ends_the_stream_and_sends_nothing() {
        let comms = ports_over(unreachable_storage()).await;
        let caller = caller(person(1));
        let internal = Event::MessageSettled { channel: CHANNEL, message: MessageId::from_bytes([1; 16]) };
        let hidden = Event::MessagePosted(ask_message(person(2), &[ask_id(1)]));
        comms.bus.publish(&caller.tenant, vec![internal.clone(), internal, hidden]);
        let mut stream = subscribe(&comms, &Arc::default(), &caller, LIVE).await;
        let StreamItem::Failed(error) = stream.next().await else { panic!("a failure") };
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(!error.to_string().contains("no route"), "opaque");
        assert!(matches!(stream.next().await, StreamItem::End));
    }

    #[tokio::test]
    async fn a_stream_whose_boundary_cannot_be_read_fails_at_once() {
        let comms = ports_over(unreachable_storage()).await;
        let mut stream =
            subscribe(&comms, &Arc::default(), &caller(person(1)), SubscribeFrom::default()).await;
        let StreamItem::Failed(error) = stream.next().await else { panic!("a failure") };
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(matches!(stream.next().await, StreamItem::End));
    }
}
