//! Calls of the agent core as inputs of the relay's union.

use compass_agent::ports::{Call, Channel};
use compass_comms::{
    accounts::{get_roster::GetRoster, set_status::SetStatus},
    asks::cancel_ask::CancelAsk,
    channels::{
        create_channel::{CreateChannel, Mode},
        open_dm::OpenDm,
        resolve::ChannelRef,
        update_members::UpdateMembers,
    },
    groups::{create_group::CreateGroup, resolve::GroupRef},
    messages::{
        list_messages::ListMessages,
        post_message::{PostMessage, TopicInput},
    },
    relay_union,
    topics::list_topics::ListTopics,
};
use compass_domain::{Classified, ErrorKind};

/// A reference that cannot be one.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    /// No channel has such an id.
    #[error("channel not found")]
    NoChannel,
    /// No message has such an id.
    #[error("before_message_id {0:?} is unknown")]
    UnknownCursor(String),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoChannel => ErrorKind::NotFound,
            Self::UnknownCursor(_) => ErrorKind::InvalidArgument,
        }
    }
}

/// The call of the union; none for a page that can only be empty.
pub(super) fn call(call: Call) -> Result<Option<relay_union::Call>, Error> {
    use relay_union::Call as Union;
    Ok(Some(match call {
        Call::Post { channel, topic, existing_topic_only, blocks, key } => Union::Post(PostMessage {
            channel: channel_ref(channel)?,
            topic: TopicInput { id: None, name: Some(topic), existing_only: existing_topic_only },
            blocks,
            client_request_id: key,
        }),
        Call::List { channel, topic, limit, before_message_id } => {
            let before = match before_message_id.as_str() {
                "" => None,
                text => Some(text.parse().map_err(|_| Error::UnknownCursor(text.to_owned()))?),
            };
            let Ok(channel) = channel_ref(channel) else { return Ok(None) };
            let (topic, topic_name) = (None, topic);
            Union::List(ListMessages { channel, topic, topic_name, before, limit, snapshot: None })
        }
        Call::ListTopics { channel, include_archived } => {
            Union::ListTopics(ListTopics { channel: channel_ref(channel)?, include_archived })
        }
        Call::Roster { scope } => Union::Roster(GetRoster { scope, vantage: None }),
        Call::SetStatus { activity } => Union::SetStatus(SetStatus { activity }),
        Call::OpenDm { peer_handle } => Union::OpenDm(OpenDm { peer_handle }),
        Call::CreateChannel { name, group, members } => Union::CreateChannel(CreateChannel {
            name,
            group: group_ref(group),
            members: Vec::new(),
            member_handles: members,
            mode: Mode::Flat,
        }),
        Call::UpdateMembers { channel, changes } => Union::UpdateMembers(UpdateMembers {
            channel: ChannelRef::Name(channel),
            add: Vec::new(),
            remove: Vec::new(),
            subscribe: Vec::new(),
            unsubscribe: Vec::new(),
            add_handles: changes.add,
            remove_handles: changes.remove,
            subscribe_handles: changes.subscribe,
            unsubscribe_handles: changes.unsubscribe,
            new_name: (!changes.new_name.is_empty()).then_some(changes.new_name),
        }),
        Call::CreateChannelGroup { name, parent_group, visibility } => {
            Union::CreateGroup(CreateGroup { name, parent: group_ref(parent_group), visibility })
        }
        // A text that is no id is an ask that does not exist.
        Call::CancelAsk { ask_id } => Union::CancelAsk(CancelAsk { ask: ask_id.parse().ok() }),
    }))
}

fn channel_ref(channel: Channel) -> Result<ChannelRef, Error> {
    match channel {
        Channel::Home => Ok(ChannelRef::Home),
        Channel::Name(name) => Ok(ChannelRef::Name(name)),
        Channel::Id(id) => id.parse().map(ChannelRef::Id).map_err(|_| Error::NoChannel),
    }
}

fn group_ref(name: String) -> Option<GroupRef> {
    (!name.is_empty()).then_some(GroupRef::Name(name))
}

#[cfg(test)]
mod tests {
    use relay_union::Call as Union;

    use super::*;

    fn list(channel: Channel, before: &str) -> Call {
        Call::List { channel, topic: None, limit: 0, before_message_id: before.into() }
    }

    fn post(channel: Channel) -> Call {
        let (topic, key) = ("t".to_owned(), "k".to_owned());
        Call::Post { channel, topic, existing_topic_only: true, blocks: Vec::new(), key }
    }

    #[test]
    fn a_channel_is_named_by_id_by_name_or_as_the_home() {
        let id = "01".repeat(16);
        for (channel, expected) in [
            (Channel::Home, ChannelRef::Home),
            (Channel::Name("ops".into()), ChannelRef::Name("ops".into())),
            (Channel::Id(id.clone()), ChannelRef::Id(id.parse().expect("an id"))),
        ] {
            let Ok(Some(Union::Post(post))) = call(post(channel.clone())) else { panic!("a post") };
            assert_eq!(post.channel, expected);
            assert_eq!((post.topic.name.as_deref(), post.topic.existing_only), (Some("t"), true));
            assert_eq!(post.client_request_id, "k");
            let Ok(Some(Union::List(list))) = call(list(channel, &id)) else { panic!("a list") };
            assert_eq!(list.channel, expected);
            assert!(list.before.is_some());
        }
    }

    #[test]
    fn what_cannot_be_an_id_is_not_found_holds_nothing_or_is_told() {
        let nowhere = || Channel::Id("nope".into());
        assert_eq!(call(post(nowhere())), Err(Error::NoChannel));
        assert_eq!(call(list(nowhere(), "")), Ok(None));
        assert_eq!(call(list(Channel::Home, "nope")), Err(Error::UnknownCursor("nope".into())));
        let cancelled = call(Call::CancelAsk { ask_id: "nope".into() });
        assert_eq!(cancelled, Ok(Some(Union::CancelAsk(CancelAsk { ask: None }))));
    }

    #[test]
    fn a_group_without_a_name_is_none() {
        let create = |group: &str| {
            let group = group.to_owned();
            match call(Call::CreateChannel { name: "c".into(), group, members: vec!["m".into()] }) {
                Ok(Some(Union::CreateChannel(create))) => create,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(create("").group, None);
        assert_eq!(create("g").group, Some(GroupRef::Name("g".into())));
        assert_eq!(create("").member_handles, ["m"]);
    }
}
