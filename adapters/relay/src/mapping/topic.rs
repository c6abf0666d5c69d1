//! Topics as readers see them.

use compass_comms::{
    ports::{MovedTopic, TopicSummary},
    topics::{list_topics::ListedTopics, list_topics_of_channels::TopicsOfChannels},
};
use compass_domain::{ReadPosition, Topic};
use compass_proto::v1;

/// A topic on the wire; open asks are counted by whoever read it.
pub fn topic(topic: &Topic, open_asks: u32) -> v1::Topic {
    v1::Topic {
        id: topic.id.to_string(),
        channel_id: topic.channel.to_string(),
        name: topic.name.as_str().to_owned(),
        created_at_unix_ms: topic.created_at.0,
        created_by_account_id: topic.created_by.to_string(),
        archived: topic.archived,
        message_count: topic.message_count,
        last_activity_unix_ms: topic.last_activity.0,
        participant_account_ids: topic.participants.iter().map(ToString::to_string).collect(),
        open_ask_count: open_asks,
        braked: topic.run.is_braked(),
        last_channel_seq: topic.last_seq.0,
    }
}

/// How far a person has read a topic, on the wire.
pub fn read_position(position: &ReadPosition) -> v1::ReadPosition {
    v1::ReadPosition {
        topic_id: position.topic.to_string(),
        channel_seq: position.seq.0,
        unread_count: position.unread,
        last_channel_seq: position.newest.0,
    }
}

/// A list of topics on the wire.
pub(crate) fn listed_topics(listed: &ListedTopics) -> v1::ListTopicsResponse {
    v1::ListTopicsResponse {
        topics: listed.topics.iter().map(summed_up).collect(),
        read_positions: listed.read_positions.iter().map(read_position).collect(),
    }
}

/// The topics of several channels on the wire.
pub(crate) fn topics_of_channels(listed: &TopicsOfChannels) -> v1::ListTopicsOfChannelsResponse {
    v1::ListTopicsOfChannelsResponse {
        topics: listed.topics.iter().map(summed_up).collect(),
        read_positions: listed.read_positions.iter().map(read_position).collect(),
        moved: listed.moved.iter().map(moved_topic).collect(),
    }
}

fn summed_up(summary: &TopicSummary) -> v1::Topic {
    topic(&summary.topic, summary.open_asks)
}

fn moved_topic(moved: &MovedTopic) -> v1::MovedTopic {
    v1::MovedTopic { topic_id: moved.topic.to_string(), into_topic_id: moved.into.to_string() }
}

#[cfg(test)]
mod tests {
    use compass_domain::{AccountId, ChannelId, Seq, TopicId, TopicName, UnixMillis, brake::AGENT_MESSAGES};

    use super::*;

    #[test]
    fn a_topic_is_shown_whole() {
        let author = AccountId::from_bytes([3; 16]);
        let name = TopicName::parse("Plan").unwrap();
        let (id, channel) = (TopicId::from_bytes([1; 16]), ChannelId::from_bytes([2; 16]));
        let mut of =
            Topic::new(id, channel, name, author, UnixMillis(5)).with_message(author, Seq(1), UnixMillis(7));
        of.archived = true;
        of.run.length = AGENT_MESSAGES;
        let expected = v1::Topic {
            id: "01".repeat(16),
            channel_id: "02".repeat(16),
            name: "Plan".into(),
            created_at_unix_ms: 5,
            created_by_account_id: "03".repeat(16),
            archived: true,
            message_count: 1,
            last_activity_unix_ms: 7,
            participant_account_ids: vec!["03".repeat(16)],
            open_ask_count: 4,
            braked: true,
            last_channel_seq: 1,
        };
        assert_eq!(topic(&of, 4), expected);
    }
}
