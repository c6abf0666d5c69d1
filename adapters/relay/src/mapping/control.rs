//! Messages on their way to an agent, with the names it shows beside them.

use compass_hub::ports::Labelled;
use compass_proto::v1;

use super::message;

/// A message for the end of the turn, or for whoever fetches.
pub fn delivery(owed: &Labelled) -> v1::DeliverControl {
    v1::DeliverControl {
        message: Some(message(&owed.message)),
        topic_name: owed.labels.topic_name.clone(),
        from_handle: owed.labels.from_handle.clone(),
        traceparent: String::new(),
        channel_name: owed.labels.channel_name.clone(),
        asker_handle: owed.labels.asker_handle.clone(),
    }
}

/// A message for the middle of a turn.
pub fn steer(owed: &Labelled) -> v1::SteerControl {
    let v1::DeliverControl { message, topic_name, from_handle, traceparent, channel_name, asker_handle } =
        delivery(owed);
    v1::SteerControl { message, from_handle, traceparent, topic_name, channel_name, asker_handle }
}
