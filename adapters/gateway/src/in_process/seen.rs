//! What the domain holds, as an agent sees it.

use compass_agent::{
    ports::CallResult,
    seen::{
        Delivery, Handles, SeenAsk, SeenBlock, SeenChannel, SeenGroup, SeenMessage, SeenOption, SeenPresence,
        SeenQuestion, SeenRosterEntry, SeenTopic,
    },
};
use compass_comms::{accounts::get_roster::RosterEntry, relay_union::CallOutcome};
use compass_domain::{
    AccountKind, Ask, AskState, BlockView, Channel, ChannelGroup, Message, MessageBlock, Presence, Topic,
    ask::{Question, QuestionAnswer, QuestionOption},
    channel::ChannelKind,
};
use compass_hub::ports::{Labelled, Labels};

/// What a call came to.
pub(super) fn result(outcome: &CallOutcome) -> CallResult {
    match outcome {
        CallOutcome::Post(posted) => CallResult::Post(Some(message(&posted.message))),
        CallOutcome::List(page) => CallResult::List(page.iter().map(|listed| message(listed)).collect()),
        CallOutcome::ListTopics(listed) => CallResult::ListTopics(
            listed.topics.iter().map(|summary| topic(&summary.topic, summary.open_asks)).collect(),
        ),
        CallOutcome::Roster(entries) => CallResult::Roster(entries.iter().map(roster_entry).collect()),
        CallOutcome::SetStatus => CallResult::SetStatus,
        CallOutcome::OpenDm(opened) => {
            CallResult::OpenDm { channel: Some(channel(&opened.channel)), created: opened.created }
        }
        CallOutcome::CreateChannel(of) => CallResult::CreateChannel(Some(channel(of))),
        CallOutcome::UpdateMembers(of) => CallResult::UpdateMembers(Some(channel(of))),
        CallOutcome::CreateGroup(of) => CallResult::CreateChannelGroup(Some(group(of))),
        CallOutcome::CancelAsk(_) => CallResult::CancelAsk,
        // No tool changes a pinned board.
        CallOutcome::Pin(_) => CallResult::Unexpected("pin".to_owned()),
    }
}

/// An owed message with its labels.
pub(super) fn delivery(labelled: &Labelled) -> Delivery {
    let Labels { topic_name, channel_name, from_handle, asker_handle } = labelled.labels.clone();
    Delivery {
        topic_name,
        channel_name,
        ..Delivery::labelled(message(&labelled.message), from_handle, &asker_handle)
    }
}

fn message(message: &Message) -> SeenMessage {
    SeenMessage {
        id: message.id().to_string(),
        topic_id: message.topic().to_string(),
        author_account_id: message.author().to_string(),
        at_unix_ms: message.at().0,
        channel_seq: message.seq().0,
        blocks: message.blocks().iter().map(block).collect(),
        handles: Handles::default(),
    }
}

fn block(block: &MessageBlock) -> SeenBlock {
    match block.view() {
        BlockView::Text(text) => SeenBlock::Text { text: text.to_owned() },
        BlockView::Ask(of) => SeenBlock::Ask { ask: ask(of) },
        BlockView::Answer(of) => {
            SeenBlock::AskAnswer { ask: ask(of.ask()), asker_account_id: of.asker().to_string() }
        }
    }
}

fn ask(ask: &Ask) -> SeenAsk {
    let (answered_by, closed_at) = match ask.state() {
        AskState::Open => (None, None),
        AskState::Answered { by, at, .. } => (Some(by), Some(at)),
        AskState::Cancelled { at } => (None, Some(at)),
    };
    let questions = ask.questions().iter().enumerate();
    SeenAsk {
        ask_id: ask.id().to_string(),
        questions: questions.map(|(index, of)| question(of, ask.answer(index))).collect(),
        answered: matches!(ask.state(), AskState::Answered { .. }),
        cancelled: matches!(ask.state(), AskState::Cancelled { .. }),
        answered_by_account_id: answered_by.map(ToString::to_string).unwrap_or_default(),
        closed_at_unix_ms: closed_at.map_or(0, |at| at.0),
    }
}

fn question(question: &Question, answer: Option<&QuestionAnswer>) -> SeenQuestion {
    SeenQuestion {
        question_id: question.id().to_owned(),
        question: question.text().to_owned(),
        header: question.header().to_owned(),
        options: question.options().iter().map(option).collect(),
        allow_multiple: question.allow_multiple(),
        recommended: question.recommended(),
        chosen_option_ids: answer.map(|answer| answer.chosen().to_vec()).unwrap_or_default(),
        custom_text: answer.map(|answer| answer.custom_text().to_owned()).unwrap_or_default(),
        timed_out: question.timed_out(),
    }
}

fn option(option: &QuestionOption) -> SeenOption {
    SeenOption {
        id: option.id().to_owned(),
        label: option.label().to_owned(),
        description: option.description().to_owned(),
        preview: option.preview().to_owned(),
    }
}

fn channel(channel: &Channel) -> SeenChannel {
    let by_row = channel.members.iter().filter(|member| member.subscribed).map(|member| member.account);
    let subscribers = by_row.chain(channel.tree_subscribers.iter().copied());
    SeenChannel {
        id: channel.id.to_string(),
        name: channel.name.as_str().to_owned(),
        direct: channel.kind == ChannelKind::Dm,
        member_account_ids: channel.members.iter().map(|member| member.account.to_string()).collect(),
        subscriber_account_ids: subscribers.map(|account| account.to_string()).collect(),
        handles: Handles::default(),
    }
}

fn group(group: &ChannelGroup) -> SeenGroup {
    SeenGroup { id: group.id.to_string(), name: group.name.as_str().to_owned() }
}

fn topic(topic: &Topic, open_asks: u32) -> SeenTopic {
    SeenTopic {
        id: topic.id.to_string(),
        name: topic.name.as_str().to_owned(),
        archived: topic.archived,
        message_count: topic.message_count,
        last_activity_unix_ms: topic.last_activity.0,
        open_ask_count: open_asks,
    }
}

fn roster_entry(entry: &RosterEntry) -> SeenRosterEntry {
    let parent = match &entry.agent.kind {
        AccountKind::Agent { parent, .. } => *parent,
        _ => None,
    };
    let (activity, at) = entry.activity.as_ref().map_or(("", 0), |(text, at)| (text.as_str(), at.0));
    SeenRosterEntry {
        agent_account_id: entry.agent.id.to_string(),
        handle: entry.agent.handle.to_string(),
        display_name: entry.agent.display_name.clone(),
        parent_agent_id: parent.map(|parent| parent.to_string()).unwrap_or_default(),
        presence: presence(entry.presence),
        activity: activity.to_owned(),
        activity_at_unix_ms: at,
    }
}

fn presence(presence: Presence) -> SeenPresence {
    match presence {
        Presence::Idle => SeenPresence::Idle,
        Presence::Working => SeenPresence::Working,
        Presence::Waiting => SeenPresence::Waiting,
        Presence::Offline => SeenPresence::Offline,
    }
}
