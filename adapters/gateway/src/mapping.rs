//! The wire's messages and what is around them, to and from the agent core's.

use compass_agent::seen::{
    Delivery, Handles, SeenAsk, SeenBlock, SeenChannel, SeenGroup, SeenMessage, SeenOption, SeenPresence,
    SeenQuestion, SeenRosterEntry, SeenTopic,
};
use compass_domain::{
    ask::{AskDraft, OptionDraft, QuestionDraft},
    group::Visibility,
    message::DraftBlock,
    roster::RosterScope,
};
use compass_proto::v1::{self, message_block::Block};

pub(crate) fn message(message: v1::Message) -> SeenMessage {
    SeenMessage {
        id: message.id,
        topic_id: message.topic_id,
        author_account_id: message.author_account_id,
        at_unix_ms: message.at_unix_ms,
        channel_seq: message.channel_seq,
        blocks: message.blocks.into_iter().map(block).collect(),
        handles: Handles::default(),
    }
}

pub(crate) fn deliver(op: v1::DeliverControl) -> Delivery {
    Delivery {
        topic_name: op.topic_name,
        channel_name: op.channel_name,
        ..Delivery::labelled(message(op.message.unwrap_or_default()), op.from_handle, &op.asker_handle)
    }
}

pub(crate) fn steer(op: v1::SteerControl) -> Delivery {
    let v1::SteerControl { message, from_handle, traceparent, topic_name, channel_name, asker_handle } = op;
    let op = v1::DeliverControl { message, topic_name, from_handle, traceparent, channel_name, asker_handle };
    Delivery { steer: true, ..deliver(op) }
}

pub(crate) fn channel(channel: v1::Channel) -> SeenChannel {
    SeenChannel {
        direct: channel.kind() == v1::ChannelKind::Dm,
        id: channel.id,
        name: channel.name,
        member_account_ids: channel.member_account_ids,
        subscriber_account_ids: channel.subscriber_account_ids,
        handles: Handles::default(),
    }
}

pub(crate) fn group(group: v1::ChannelGroup) -> SeenGroup {
    SeenGroup { id: group.id, name: group.name }
}

pub(crate) fn topic(topic: v1::Topic) -> SeenTopic {
    SeenTopic {
        id: topic.id,
        name: topic.name,
        archived: topic.archived,
        message_count: topic.message_count,
        last_activity_unix_ms: topic.last_activity_unix_ms,
        open_ask_count: topic.open_ask_count,
    }
}

pub(crate) fn roster_entry(entry: v1::RosterEntry) -> SeenRosterEntry {
    SeenRosterEntry {
        presence: presence(entry.presence),
        agent_account_id: entry.agent_account_id,
        handle: entry.handle,
        display_name: entry.display_name,
        parent_agent_id: entry.parent_agent_id,
        activity: entry.activity,
        activity_at_unix_ms: entry.activity_at_unix_ms,
    }
}

fn presence(presence: i32) -> SeenPresence {
    match v1::AgentPresence::try_from(presence) {
        Ok(v1::AgentPresence::Idle) => SeenPresence::Idle,
        Ok(v1::AgentPresence::Working) => SeenPresence::Working,
        Ok(v1::AgentPresence::Waiting) => SeenPresence::Waiting,
        Ok(v1::AgentPresence::Offline) => SeenPresence::Offline,
        Ok(v1::AgentPresence::Unspecified) | Err(_) => SeenPresence::Unknown,
    }
}

pub(crate) fn scope(scope: RosterScope) -> v1::RosterScope {
    match scope {
        RosterScope::Neighborhood => v1::RosterScope::Neighborhood,
        RosterScope::Subtree => v1::RosterScope::Subtree,
        RosterScope::Owner => v1::RosterScope::Owner,
    }
}

pub(crate) fn visibility(visibility: Visibility) -> v1::ChannelGroupVisibility {
    match visibility {
        Visibility::Owner => v1::ChannelGroupVisibility::Owner,
        Visibility::Shared => v1::ChannelGroupVisibility::Shared,
    }
}

pub(crate) fn draft(block: DraftBlock) -> v1::MessageBlock {
    let block = match block {
        DraftBlock::Text(text) => Block::Text(text),
        DraftBlock::Ask(ask) => Block::Ask(draft_ask(ask)),
    };
    v1::MessageBlock { block: Some(block) }
}

fn block(block: v1::MessageBlock) -> SeenBlock {
    match block.block {
        Some(Block::Text(text)) => SeenBlock::Text { text },
        Some(Block::Ask(seen)) => SeenBlock::Ask { ask: ask(seen) },
        Some(Block::AskAnswer(answer)) => SeenBlock::AskAnswer {
            ask: ask(answer.ask.unwrap_or_default()),
            asker_account_id: answer.asker_account_id,
        },
        None => SeenBlock::Unknown,
    }
}

fn ask(ask: v1::Ask) -> SeenAsk {
    SeenAsk {
        ask_id: ask.ask_id,
        questions: ask.questions.into_iter().map(question).collect(),
        answered: ask.answered,
        cancelled: ask.cancelled,
        answered_by_account_id: ask.answered_by_account_id,
        closed_at_unix_ms: ask.closed_at_unix_ms,
    }
}

fn question(question: v1::AskQuestion) -> SeenQuestion {
    SeenQuestion {
        question_id: question.question_id,
        question: question.question,
        header: question.header,
        options: question.options.into_iter().map(option).collect(),
        allow_multiple: question.allow_multiple,
        recommended: question.recommended,
        chosen_option_ids: question.chosen_option_ids,
        custom_text: question.custom_text,
        timed_out: question.timed_out,
    }
}

fn option(option: v1::AskOption) -> SeenOption {
    SeenOption {
        id: option.id,
        label: option.label,
        description: option.description,
        preview: option.preview,
    }
}

fn draft_ask(ask: AskDraft) -> v1::Ask {
    v1::Ask { questions: ask.questions.into_iter().map(draft_question).collect(), ..v1::Ask::default() }
}

fn draft_question(question: QuestionDraft) -> v1::AskQuestion {
    v1::AskQuestion {
        question_id: question.id,
        question: question.text,
        header: question.header,
        options: question.options.into_iter().map(draft_option).collect(),
        allow_multiple: question.allow_multiple,
        recommended: question.recommended,
        ..v1::AskQuestion::default()
    }
}

fn draft_option(option: OptionDraft) -> v1::AskOption {
    v1::AskOption {
        id: option.id,
        label: option.label,
        description: option.description,
        preview: option.preview,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_a_poster_owns_is_sent_and_seen() {
        let sent = DraftBlock::Ask(AskDraft {
            questions: vec![QuestionDraft {
                id: "q".into(),
                text: "Which?".into(),
                header: "h".into(),
                options: vec![OptionDraft {
                    id: "0".into(),
                    label: "l".into(),
                    description: "d".into(),
                    preview: "p".into(),
                }],
                allow_multiple: true,
                recommended: Some(0),
            }],
        });
        let wire = draft(sent);
        let SeenBlock::Ask { ask } = block(wire.clone()) else { panic!("no ask") };
        let seen = &ask.questions[0];
        assert_eq!(
            (seen.question_id.as_str(), seen.question.as_str(), seen.header.as_str()),
            ("q", "Which?", "h")
        );
        assert_eq!((seen.allow_multiple, seen.recommended), (true, Some(0)));
        let offered = &seen.options[0];
        let texts = [&offered.id, &offered.label, &offered.description, &offered.preview];
        assert_eq!(texts, ["0", "l", "d", "p"]);
        let Some(Block::Ask(ask)) = wire.block else { panic!("no ask") };
        let owned = |question: &v1::AskQuestion| {
            !question.chosen_option_ids.is_empty() || !question.custom_text.is_empty() || question.timed_out
        };
        assert!(ask.ask_id.is_empty() && !ask.answered && !ask.cancelled, "the server's");
        assert!(!ask.questions.iter().any(owned), "the server's");
    }

    #[test]
    fn an_end_of_an_ask_is_seen_whole() {
        let question = v1::AskQuestion {
            chosen_option_ids: vec!["0".into()],
            custom_text: "c".into(),
            timed_out: true,
            ..v1::AskQuestion::default()
        };
        let closed = v1::Ask {
            ask_id: "a".into(),
            questions: vec![question],
            answered: true,
            answered_by_account_id: "p".into(),
            closed_at_unix_ms: 7,
            ..v1::Ask::default()
        };
        let answer = v1::AskAnswerBlock { ask: Some(closed.clone()), asker_account_id: "x".into() };
        let cancelled = v1::Ask { answered: false, cancelled: true, ..closed };
        let seen = |arm| block(v1::MessageBlock { block: Some(arm) });
        let SeenBlock::AskAnswer { ask, asker_account_id } = seen(Block::AskAnswer(answer)) else {
            panic!("no answer")
        };
        assert_eq!((asker_account_id.as_str(), ask.answered, ask.cancelled), ("x", true, false));
        assert_eq!((ask.answered_by_account_id.as_str(), ask.closed_at_unix_ms), ("p", 7));
        let answered = &ask.questions[0];
        assert_eq!(answered.chosen_option_ids, ["0"]);
        assert_eq!((answered.custom_text.as_str(), answered.timed_out), ("c", true));
        let SeenBlock::Ask { ask } = seen(Block::Ask(cancelled)) else { panic!("no ask") };
        assert_eq!((ask.answered, ask.cancelled), (false, true));
    }

    #[test]
    fn a_delivery_calls_accounts_by_the_handles_of_its_labels() {
        let ask = v1::Ask { answered_by_account_id: "p".into(), ..v1::Ask::default() };
        let answer = v1::AskAnswerBlock { ask: Some(ask), asker_account_id: "x".into() };
        let message = v1::Message {
            author_account_id: "p".into(),
            blocks: vec![v1::MessageBlock { block: Some(Block::AskAnswer(answer)) }],
            ..v1::Message::default()
        };
        let op = v1::DeliverControl {
            message: Some(message.clone()),
            from_handle: "ana".into(),
            asker_handle: "bot".into(),
            topic_name: "plan".into(),
            channel_name: "room".into(),
            ..v1::DeliverControl::default()
        };
        let steered = v1::SteerControl {
            message: Some(message),
            from_handle: "ana".into(),
            asker_handle: "bot".into(),
            topic_name: "plan".into(),
            channel_name: "room".into(),
            ..v1::SteerControl::default()
        };
        for (seen, is_steered) in [(deliver(op), false), (steer(steered), true)] {
            let names = ["p", "x", "y"].map(|id| seen.message.handles.name(id));
            assert_eq!((names, seen.steer), (["ana", "bot", "y"], is_steered));
            assert_eq!((&*seen.topic_name, &*seen.channel_name), ("plan", "room"));
        }
    }

    #[test]
    fn a_channel_a_group_and_a_topic_are_seen() {
        let wire = v1::Channel {
            id: "c".into(),
            name: "n".into(),
            kind: v1::ChannelKind::Dm.into(),
            member_account_ids: vec!["m".into()],
            subscriber_account_ids: vec!["s".into()],
            ..v1::Channel::default()
        };
        let expected = SeenChannel {
            id: "c".into(),
            name: "n".into(),
            direct: true,
            member_account_ids: vec!["m".into()],
            subscriber_account_ids: vec!["s".into()],
            handles: Handles::default(),
        };
        assert_eq!(channel(wire), expected);
        assert!(!channel(v1::Channel::default()).direct);
        let wire = v1::ChannelGroup { id: "g".into(), name: "n".into(), ..v1::ChannelGroup::default() };
        assert_eq!(group(wire), SeenGroup { id: "g".into(), name: "n".into() });
        let wire = v1::Topic {
            id: "t".into(),
            name: "n".into(),
            archived: true,
            message_count: 3,
            last_activity_unix_ms: 4,
            open_ask_count: 5,
            ..v1::Topic::default()
        };
        let expected = SeenTopic {
            id: "t".into(),
            name: "n".into(),
            archived: true,
            message_count: 3,
            last_activity_unix_ms: 4,
            open_ask_count: 5,
        };
        assert_eq!(topic(wire), expected);
    }

    #[test]
    fn an_agent_of_a_roster_is_seen_and_an_unknown_presence_is_unknown() {
        let wire = v1::RosterEntry {
            agent_account_id: "a".into(),
            handle: "h".into(),
            display_name: "d".into(),
            parent_agent_id: "p".into(),
            presence: v1::AgentPresence::Waiting.into(),
            activity: "x".into(),
            activity_at_unix_ms: 6,
        };
        let expected = SeenRosterEntry {
            agent_account_id: "a".into(),
            handle: "h".into(),
            display_name: "d".into(),
            parent_agent_id: "p".into(),
            presence: SeenPresence::Waiting,
            activity: "x".into(),
            activity_at_unix_ms: 6,
        };
        assert_eq!(roster_entry(wire), expected);
        let known = [SeenPresence::Idle, SeenPresence::Working, SeenPresence::Waiting, SeenPresence::Offline];
        assert_eq!([1, 2, 3, 4].map(presence), known);
        assert_eq!([0, 5, -1].map(presence), [SeenPresence::Unknown; 3]);
    }

    #[test]
    fn a_block_without_a_variant_stays_visible() {
        assert_eq!(block(v1::MessageBlock { block: None }), SeenBlock::Unknown);
    }
}
