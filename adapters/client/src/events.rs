//! The stream of what changes.

use compass_proto::v1::{self as pb, subscribe_comms_response::Payload};
use tonic::Streaming;

use crate::{Client, ClientError, DEADLINE, convert::presence, model::Event};

/// From where a stream continues; the default starts anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// The highest seq seen.
    pub seq: u64,
    /// The life of the server's event source it belongs to.
    pub epoch: u64,
}

/// An open stream.
#[derive(Debug)]
pub struct Events {
    client: Client,
    stream: Streaming<pb::SubscribeCommsResponse>,
    since: Since,
}

impl Client {
    /// Opens the stream of what the caller can see.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; a server that does not begin to reply within [`DEADLINE`] is unreachable.
    pub async fn events(&self, since: Since) -> Result<Events, ClientError> {
        let request = pb::SubscribeCommsRequest { since_seq: since.seq, instance_epoch: since.epoch };
        let mut comms = self.comms();
        let opened = tokio::time::timeout(DEADLINE, comms.subscribe_comms(request));
        let reply = opened
            .await
            .map_err(|_| ClientError::Unreachable("the event stream did not open in time".to_owned()))??;
        Ok(Events { client: self.clone(), stream: self.take(reply), since })
    }
}

impl Events {
    /// The next event; `None` when the server ended the stream.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when the stream broke; open a new one with [`Events::since`].
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        let Some(frame) = self.stream.message().await? else { return Ok(None) };
        self.since.seq = self.since.seq.max(frame.seq);
        if frame.instance_epoch != 0 {
            self.since.epoch = frame.instance_epoch;
        }
        self.client.note_server_time(frame.at_unix_ms);
        let event = event(frame)?;
        if event == Event::ResyncRequired {
            self.since = Since::default();
        }
        Ok(Some(event))
    }

    /// Where a new stream continues after this one.
    pub fn since(&self) -> Since {
        self.since
    }
}

fn event(frame: pb::SubscribeCommsResponse) -> Result<Event, ClientError> {
    let snapshot_seq = frame.snapshot_seq;
    Ok(match frame.payload {
        None => Event::Started { snapshot_seq },
        Some(Payload::MessagePosted(posted)) => {
            Event::MessagePosted { message: whole(posted.message, "MessagePosted without a message")?.into() }
        }
        Some(Payload::MessageUpdated(updated)) => {
            let message = whole(updated.message, "MessageUpdated without a message")?.into();
            Event::MessageUpdated { message }
        }
        Some(Payload::TopicUpserted(upserted)) => {
            Event::TopicUpserted { topic: whole(upserted.topic, "TopicUpserted without a topic")?.into() }
        }
        Some(Payload::ChannelChanged(changed)) => Event::ChannelChanged {
            channel: whole(changed.channel, "ChannelChanged without a channel")?.into(),
            removed_account_ids: changed.removed_account_ids,
        },
        Some(Payload::AccountChanged(changed)) => Event::AccountChanged {
            account: whole(changed.account, "AccountChanged without an account")?.into(),
        },
        Some(Payload::AgentPresenceChanged(changed)) => Event::AgentPresenceChanged {
            presence: presence(changed.presence()),
            agent_account_id: changed.agent_account_id,
            activity: changed.activity,
        },
        Some(Payload::ResyncRequired(_)) => Event::ResyncRequired,
        Some(_) => Event::Other,
    })
}

fn whole<T>(part: Option<T>, missing: &'static str) -> Result<T, ClientError> {
    part.ok_or(ClientError::Protocol(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_an_unknown_kind_does_not_end_the_stream() {
        let payload = Some(Payload::ReadPositionChanged(pb::ReadPosition::default()));
        let frame = pb::SubscribeCommsResponse { payload, ..pb::SubscribeCommsResponse::default() };
        assert_eq!(event(frame), Ok(Event::Other));
    }

    #[test]
    fn a_frame_without_payload_is_where_the_stream_starts() {
        let frame = pb::SubscribeCommsResponse { snapshot_seq: 7, ..pb::SubscribeCommsResponse::default() };
        assert_eq!(event(frame), Ok(Event::Started { snapshot_seq: 7 }));
    }
}
