//! What was told, up to now.

use compass_domain::{AccountId, ChannelId, Event, MessageId};
use compass_ports::Subscription;

use super::cancel_table::next;
use crate::Scene;

/// Every event since the subscription was taken or last read.
pub(super) async fn told(scene: &Scene, events: &mut Box<dyn Subscription>) -> Vec<Event> {
    let canary = Event::MessageSettled {
        channel: ChannelId::from_bytes([0xca; 16]),
        message: MessageId::from_bytes([0xca; 16]),
    };
    scene.bus.publish(&scene.tenant, vec![canary.clone()]);
    let mut told = Vec::new();
    loop {
        match next(&mut **events).await {
            event if event == canary => return told,
            event => told.push(event),
        }
    }
}

/// The channels that were told to have changed, with who lost them.
pub(super) fn changed(told: &[Event]) -> Vec<(ChannelId, Vec<AccountId>)> {
    let changes = told.iter().filter_map(|event| match event {
        Event::ChannelChanged { channel, removed } => Some((channel.id, removed.clone())),
        _ => None,
    });
    changes.collect()
}
