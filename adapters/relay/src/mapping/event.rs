//! Frames of the comms stream.

use compass_domain::{Event, Position};
use compass_ports::Published;
use compass_proto::v1::{self, SubscribeCommsResponse, subscribe_comms_response::Payload};

use super::{account, channel, group, message, roster::presence, topic};

/// The frame that marks where the snapshot ends.
pub(crate) fn boundary(snapshot: Position, epoch: u64) -> SubscribeCommsResponse {
    SubscribeCommsResponse { instance_epoch: epoch, snapshot_seq: snapshot.0, ..Default::default() }
}

/// The frame that says that events were lost.
pub(crate) fn resync(epoch: u64) -> SubscribeCommsResponse {
    let payload = Some(Payload::ResyncRequired(v1::CommsResyncRequired {}));
    SubscribeCommsResponse { instance_epoch: epoch, payload, ..Default::default() }
}

/// The frame of an event; none for what is not told to subscribers. `open_asks` is the count of the event's topic.
pub(crate) fn frame(published: &Published, epoch: u64, open_asks: u32) -> Option<SubscribeCommsResponse> {
    Some(SubscribeCommsResponse {
        seq: published.seq,
        at_unix_ms: published.at.0,
        instance_epoch: epoch,
        snapshot_seq: 0,
        payload: Some(payload(&published.event, open_asks)?),
    })
}

fn payload(event: &Event, open_asks: u32) -> Option<Payload> {
    Some(match event {
        Event::MessagePosted(of) => Payload::MessagePosted(v1::MessagePosted { message: Some(message(of)) }),
        Event::MessageUpdated(of) => {
            Payload::MessageUpdated(v1::MessageUpdated { message: Some(message(of)) })
        }
        Event::TopicUpserted(of) => {
            Payload::TopicUpserted(v1::TopicUpserted { topic: Some(topic(of, open_asks)) })
        }
        Event::ChannelChanged { channel: of, removed } => Payload::ChannelChanged(v1::ChannelChanged {
            channel: Some(channel(of)),
            removed_account_ids: removed.iter().map(ToString::to_string).collect(),
        }),
        Event::ChannelGroupChanged(of) => {
            Payload::ChannelGroupChanged(v1::ChannelGroupChanged { group: Some(group(of)) })
        }
        Event::AccountChanged(of) => {
            Payload::AccountChanged(v1::AccountChanged { account: Some(account(of)) })
        }
        Event::AgentPresenceChanged { agent, presence: of, activity } => {
            Payload::AgentPresenceChanged(v1::AgentPresenceChanged {
                agent_account_id: agent.to_string(),
                presence: presence(*of).into(),
                activity: activity.clone(),
            })
        }
        Event::MessageSettled { .. } | Event::ActivityChanged { .. } => return None,
    })
}
