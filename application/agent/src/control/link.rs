//! The link of a process whose runner starts it: control from the pump, reports through the spine.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{
    intake::Counted,
    pump::{Controls, Item},
};
use crate::{
    ports::{Frame, Link, LinkEvent, SessionEvent, SessionState, TurnState},
    spine::Spine,
};

/// One session's link to its runner.
#[derive(Debug)]
pub struct SessionLink {
    controls: Controls,
    spine: Spine,
    over: bool,
}

impl SessionLink {
    /// A link over both streams.
    pub fn new(controls: Controls, spine: Spine) -> Self {
        Self { controls, spine, over: false }
    }

    /// How often control came that could not be used, or came again.
    pub fn counts(&self) -> BTreeMap<Counted, u64> {
        self.controls.counts()
    }

    /// Ends the stream of control.
    pub fn abandon(&self) {
        self.controls.abandon();
    }
}

#[async_trait]
impl Link for SessionLink {
    async fn next(&mut self) -> Option<LinkEvent> {
        if self.over {
            return None;
        }
        let event = match self.controls.next().await {
            Some(Item::Delivery(delivery)) => LinkEvent::Delivery(delivery),
            Some(Item::Prompt(input)) => LinkEvent::Prompt(input),
            Some(Item::Live | Item::Again) => LinkEvent::Attached { session_id: String::new() },
            Some(Item::Dropped { reason }) => LinkEvent::Detached { reason },
            Some(Item::Lost { reason }) => {
                self.over = true;
                LinkEvent::Ended { code: "unavailable".to_owned(), reason }
            }
            None => {
                self.over = true;
                LinkEvent::Stopped
            }
        };
        Some(event)
    }

    async fn acknowledge(&mut self, message_id: String) {
        self.spine.send(Frame::DeliveryAck { message_id });
    }

    async fn report(&mut self, state: TurnState) {
        self.spine.send(Frame::State(match state {
            TurnState::Ready => SessionState::Ready,
            TurnState::Working => SessionState::Working,
        }));
    }

    async fn show(&mut self, event: SessionEvent) {
        self.spine.send(Frame::Event(event));
    }
}
