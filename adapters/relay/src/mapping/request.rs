//! Requests of the conversation as inputs of its use cases.

use compass_comms::{
    accounts::reparent_agent::ReparentAgent,
    asks::{list_open_asks::ListOpenAsks, respond_to_ask::RespondToAsk},
    channels::{
        create_channel::{CreateChannel, Mode},
        open_dm::OpenDm,
        resolve::ChannelRef,
        set_policy::SetPolicy,
        update_board::{BoardChange, UpdateBoard},
        update_members::UpdateMembers,
    },
    groups::{create_group::CreateGroup, resolve::GroupRef},
    messages::{
        list_messages::ListMessages,
        post_message::{PostMessage, TopicInput},
        search_messages::SearchMessages,
    },
    topics::{
        list_topics::ListTopics, list_topics_of_channels::ListTopicsOfChannels, mark_read::MarkRead,
        read_positions::ReadPositions, update_topic::UpdateTopic,
    },
};
use compass_domain::{
    Position, SearchQuery, Seq, ask::AnswerDraft, group::Visibility, search::SearchQueryError,
};
use compass_proto::v1::{
    self, list_messages_request::Container as ListIn, post_message_request::Container as PostIn,
    post_message_request::Topic, search_messages_request::Scope as SearchIn, update_pinned_board_request::Op,
};

use super::ids::{each_reference, given, optional, required};
use crate::{error::DoorError, mapping::blocks_in};

/// What a request that names no channel means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// The calling agent's home channel.
    Home,
    /// Nothing: it is refused.
    Refused,
}

/// A post.
pub(crate) fn post_in(post: v1::PostMessageRequest, unnamed: Unnamed) -> Result<PostMessage, DoorError> {
    let blocks = blocks_in(post.blocks)?;
    let (id, name) = match post.container {
        Some(PostIn::ChannelId(id)) => (Some(id), None),
        Some(PostIn::ChannelName(name)) => (None, Some(name)),
        None => (None, None),
    };
    let channel = container(id, name, unnamed)?;
    let existing_only = post.existing_topic_only;
    let topic = match post.topic {
        Some(Topic::TopicId(id)) => {
            let unknown = || DoorError::UnknownReference { field: "topic_id".to_owned(), text: id.clone() };
            let id = given("topic_id", &id)?.parse().map_err(|_| unknown())?;
            TopicInput { id: Some(id), name: None, existing_only }
        }
        Some(Topic::TopicName(name)) => TopicInput { id: None, name: Some(name), existing_only },
        None => TopicInput::default(),
    };
    Ok(PostMessage { channel, topic, blocks, client_request_id: post.client_request_id })
}

/// A page of messages; none if it names a channel or topic that cannot exist, whose page is empty.
pub(crate) fn list_messages_in(
    list: v1::ListMessagesRequest,
    unnamed: Unnamed,
) -> Result<Option<ListMessages>, DoorError> {
    if !list.topic_id.is_empty() && !list.topic_name.is_empty() {
        return Err(DoorError::Both { one: "topic_id", other: "topic_name" });
    }
    let before = before_in(&list.before_message_id)?;
    let (id, name) = match list.container {
        Some(ListIn::ChannelId(id)) => (Some(id), None),
        Some(ListIn::ChannelName(name)) => (None, Some(name)),
        None => (None, None),
    };
    let channel = match container(id, name, unnamed) {
        Err(DoorError::NotFound(_)) => return Ok(None),
        channel => channel?,
    };
    let Ok(topic) = optional(&list.topic_id, || DoorError::NotFound("topic")) else { return Ok(None) };
    Ok(Some(ListMessages {
        channel,
        topic,
        topic_name: (!list.topic_name.is_empty()).then_some(list.topic_name),
        before,
        limit: list.limit,
        snapshot: (list.snapshot_seq != 0).then_some(Position(list.snapshot_seq)),
    }))
}

/// A page of open asks; none if it names a channel that cannot exist, whose page is empty.
pub(crate) fn list_open_asks_in(list: &v1::ListOpenAsksRequest) -> Result<Option<ListOpenAsks>, DoorError> {
    let before = before_in(&list.before_message_id)?;
    let Ok(channel) = optional(&list.channel_id, || DoorError::NotFound("channel")) else { return Ok(None) };
    Ok(Some(ListOpenAsks { channel, limit: list.limit, before }))
}

/// The topics of a channel.
pub(crate) fn list_topics_in(list: v1::ListTopicsRequest, unnamed: Unnamed) -> Result<ListTopics, DoorError> {
    let channel = match unnamed {
        Unnamed::Home if list.channel_id.is_empty() && list.channel_name.is_empty() => ChannelRef::Home,
        _ => channel_ref(&list.channel_id, list.channel_name)?,
    };
    Ok(ListTopics { channel, include_archived: list.include_archived })
}

/// The topics of several channels; a text that is no id is a channel that does not exist.
pub(crate) fn list_topics_of_channels_in(list: &v1::ListTopicsOfChannelsRequest) -> ListTopicsOfChannels {
    ListTopicsOfChannels { channels: list.channel_ids.iter().map(|id| id.parse().ok()).collect() }
}

/// A change of a topic; a text that is no id is a topic that does not exist.
pub(crate) fn update_topic_in(update: v1::UpdateTopicRequest) -> Result<UpdateTopic, DoorError> {
    let topic = given("topic_id", &update.topic_id)?.parse().ok();
    Ok(UpdateTopic { topic, name: update.name, archived: update.archived })
}

/// A search; none if it names a channel that cannot exist, which holds nothing. The query is checked all the same.
pub(crate) fn search_in(
    search: v1::SearchMessagesRequest,
) -> Result<Option<SearchMessages>, SearchQueryError> {
    let channel = match search.scope {
        None => None,
        Some(SearchIn::ChannelId(id)) if id.is_empty() => None,
        Some(SearchIn::ChannelId(id)) => match id.parse() {
            Ok(id) => Some(id),
            Err(_) => return SearchQuery::parse(&search.query).map(|_| None),
        },
    };
    let snapshot = (search.snapshot_seq != 0).then_some(Position(search.snapshot_seq));
    Ok(Some(SearchMessages { query: search.query, channel, limit: search.limit, snapshot }))
}

/// How far a person has read.
pub(crate) fn read_positions_in(list: &v1::ReadPositionsRequest) -> Result<ReadPositions, DoorError> {
    let channel = optional(&list.channel_id, || DoorError::NotFound("channel"))?;
    Ok(ReadPositions { channel })
}

/// A place that was read; a text that is no id is a topic that does not exist.
pub(crate) fn mark_read_in(mark: &v1::MarkReadRequest) -> Result<MarkRead, DoorError> {
    let topic = given("topic_id", &mark.topic_id)?.parse().ok();
    Ok(MarkRead { topic, seq: Seq(mark.channel_seq) })
}

/// A new channel.
pub(crate) fn create_channel_in(create: v1::CreateChannelRequest) -> Result<CreateChannel, DoorError> {
    // Direct conversations are found or made by OpenDM, one for each pair.
    if create.kind != i32::from(v1::ChannelKind::Channel) {
        return Err(DoorError::EnumValue { field: "kind", value: create.kind });
    }
    let group = group_ref(("group_id", &create.group_id), ("group_name", create.group_name))?;
    let mode = mode_in(create.membership_mode, &create.anchor_agent_id)?;
    Ok(CreateChannel {
        name: create.name,
        group,
        members: each_reference("member_account_ids", &create.member_account_ids)?,
        member_handles: create.member_handles,
        mode,
    })
}

/// A batch of member changes.
pub(crate) fn update_members_in(update: v1::UpdateChannelMembersRequest) -> Result<UpdateMembers, DoorError> {
    Ok(UpdateMembers {
        channel: channel_ref(&update.channel_id, update.channel_name)?,
        add: each_reference("add_member_account_ids", &update.add_member_account_ids)?,
        remove: each_reference("remove_member_account_ids", &update.remove_member_account_ids)?,
        subscribe: each_reference("subscribe_account_ids", &update.subscribe_account_ids)?,
        unsubscribe: each_reference("unsubscribe_account_ids", &update.unsubscribe_account_ids)?,
        add_handles: update.add_handles,
        remove_handles: update.remove_handles,
        subscribe_handles: update.subscribe_handles,
        unsubscribe_handles: update.unsubscribe_handles,
        new_name: (!update.new_name.is_empty()).then_some(update.new_name),
    })
}

/// A new group.
pub(crate) fn create_group_in(create: v1::CreateChannelGroupRequest) -> Result<CreateGroup, DoorError> {
    let (id, name) = (create.parent_group_id, create.parent_group_name);
    let visibility = match v1::ChannelGroupVisibility::try_from(create.visibility) {
        Ok(v1::ChannelGroupVisibility::Owner) => Visibility::Owner,
        Ok(v1::ChannelGroupVisibility::Shared) => Visibility::Shared,
        Err(_) => return Err(DoorError::EnumValue { field: "visibility", value: create.visibility }),
    };
    let parent = group_ref(("parent_group_id", &id), ("parent_group_name", name))?;
    Ok(CreateGroup { name: create.name, parent, visibility })
}

/// A channel's policy.
pub(crate) fn set_policy_in(set: &v1::SetChannelPolicyRequest) -> Result<SetPolicy, DoorError> {
    let owner_only = match v1::ChannelPostPolicy::try_from(set.post_policy) {
        Ok(v1::ChannelPostPolicy::Open) => false,
        Ok(v1::ChannelPostPolicy::OwnerOnly) => true,
        Err(_) => return Err(DoorError::EnumValue { field: "post_policy", value: set.post_policy }),
    };
    let field = || "owner_account_id".to_owned();
    let unknown = || DoorError::UnknownReference { field: field(), text: set.owner_account_id.clone() };
    Ok(SetPolicy {
        channel: required("channel_id", "channel", &set.channel_id)?,
        owner_only,
        owner: optional(&set.owner_account_id, unknown)?,
        mandatory: set.mandatory_subscription,
    })
}

/// A change of a board. A channel that is not named is one that does not exist: nothing is meant by default.
pub(crate) fn update_board_in(update: v1::UpdatePinnedBoardRequest) -> Result<UpdateBoard, DoorError> {
    let Some(op) = update.op else {
        return Err(DoorError::Neither { one: "pin", other: "unpin_message_id" });
    };
    let channel = update.channel_id.parse().map_err(|_| DoorError::NotFound("channel"))?;
    let change = match op {
        Op::Pin(pin) => BoardChange::Pin {
            message: required("pin.message_id", "message", &pin.message_id)?,
            replace: optional(&pin.replace_message_id, || DoorError::NotFound("message"))?,
        },
        Op::UnpinMessageId(message) => BoardChange::Unpin(given("unpin_message_id", &message)?.parse().ok()),
    };
    Ok(UpdateBoard { channel, change })
}

/// With whom to talk.
pub(crate) fn open_dm_in(open: v1::OpenDmRequest) -> Result<OpenDm, DoorError> {
    given("peer_handle", &open.peer_handle)?;
    Ok(OpenDm { peer_handle: open.peer_handle })
}

/// Where an agent is to stand.
pub(crate) fn reparent_in(reparent: &v1::ReparentAgentRequest) -> Result<ReparentAgent, DoorError> {
    let agent = given("agent_account_id", &reparent.agent_account_id)?.parse().ok();
    let new_parent = optional(&reparent.new_parent_agent_id, || DoorError::NotFound("parent agent"))?;
    Ok(ReparentAgent { agent, new_parent })
}

/// An answer; a text that is no id is an ask that does not exist.
pub(crate) fn respond_in(respond: v1::RespondToAskRequest) -> Result<RespondToAsk, DoorError> {
    let ask = given("ask_id", &respond.ask_id)?.parse().ok();
    let answers = respond.answers.into_iter().map(|answer| AnswerDraft {
        question_id: answer.question_id,
        chosen_option_ids: answer.chosen_option_ids,
        custom_text: answer.custom_text,
    });
    Ok(RespondToAsk { ask, answers: answers.collect() })
}

fn container(id: Option<String>, name: Option<String>, unnamed: Unnamed) -> Result<ChannelRef, DoorError> {
    match (id, name) {
        (Some(id), _) if !(id.is_empty() && unnamed == Unnamed::Home) => {
            required("channel_id", "channel", &id).map(ChannelRef::Id)
        }
        (_, Some(name)) => {
            given("channel_name", &name)?;
            Ok(ChannelRef::Name(name))
        }
        _ if unnamed == Unnamed::Home => Ok(ChannelRef::Home),
        _ => Err(DoorError::Neither { one: "channel_id", other: "channel_name" }),
    }
}

/// What is named by its id or by its name, if by either.
fn one_of<I: std::str::FromStr, T>(
    what: &'static str,
    (id_field, id): (&'static str, &str),
    (name_field, name): (&'static str, String),
    by_id: impl FnOnce(I) -> T,
    by_name: impl FnOnce(String) -> T,
) -> Result<Option<T>, DoorError> {
    match (id.is_empty(), name.is_empty()) {
        (false, false) => Err(DoorError::Both { one: id_field, other: name_field }),
        (true, true) => Ok(None),
        (true, false) => Ok(Some(by_name(name))),
        (false, true) => required(id_field, what, id).map(by_id).map(Some),
    }
}

/// A group that need not be named.
fn group_ref(id: (&'static str, &str), name: (&'static str, String)) -> Result<Option<GroupRef>, DoorError> {
    one_of("group", id, name, GroupRef::Id, GroupRef::Name)
}

fn channel_ref(id: &str, name: String) -> Result<ChannelRef, DoorError> {
    let (one, other) = ("channel_id", "channel_name");
    let named = one_of("channel", (one, id), (other, name), ChannelRef::Id, ChannelRef::Name)?;
    named.ok_or(DoorError::Neither { one, other })
}

fn before_in<T: std::str::FromStr>(text: &str) -> Result<Option<T>, DoorError> {
    let field = || "before_message_id".to_owned();
    optional(text, || DoorError::UnknownReference { field: field(), text: text.to_owned() })
}

fn mode_in(mode: i32, anchor: &str) -> Result<Mode, DoorError> {
    match v1::ChannelMembershipMode::try_from(mode) {
        Ok(v1::ChannelMembershipMode::Flat) if anchor.is_empty() => Ok(Mode::Flat),
        Ok(v1::ChannelMembershipMode::Flat) => {
            Err(DoorError::Unexpected { field: "anchor_agent_id", reason: "in a flat channel" })
        }
        Ok(v1::ChannelMembershipMode::Tree) => {
            let field = || "anchor_agent_id".to_owned();
            let unknown = |_| DoorError::UnknownReference { field: field(), text: anchor.to_owned() };
            let anchor = given("anchor_agent_id", anchor)?.parse().map_err(unknown)?;
            Ok(Mode::Tree { anchor })
        }
        Err(_) => Err(DoorError::EnumValue { field: "membership_mode", value: mode }),
    }
}

#[cfg(test)]
mod tests;
