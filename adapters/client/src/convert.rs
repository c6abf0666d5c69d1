//! From protobuf to [`crate::model`], and from domain drafts to protobuf.

use compass_domain::{
    ask::{AnswerDraft, AskDraft, OptionDraft, QuestionDraft},
    message::DraftBlock,
};
use compass_proto::v1 as pb;

use crate::model::{
    Account, AccountKind, Ask, AskState, Block, Channel, Choice, Group, Message, OpenAsk, Question,
    ReadPosition, RosterEntry, TokenInfo, Topic,
};

impl From<pb::Account> for Account {
    fn from(wire: pb::Account) -> Self {
        let kind = match wire.kind {
            Some(pb::account::Kind::User(user)) => {
                AccountKind::Person { admin: user.role() == pb::UserRole::Admin }
            }
            Some(pb::account::Kind::Agent(agent)) => AccountKind::Agent {
                owner_account_id: agent.owner_user_id,
                home_channel_id: agent.home_channel_id,
                parent_agent_id: filled(agent.parent_agent_id),
            },
            Some(pb::account::Kind::System(_)) => AccountKind::System,
            None => AccountKind::Unknown,
        };
        Self { id: wire.id, handle: wire.handle, display_name: wire.display_name, kind }
    }
}

impl From<pb::RosterEntry> for RosterEntry {
    fn from(wire: pb::RosterEntry) -> Self {
        let presence = presence(wire.presence());
        Self {
            agent_account_id: wire.agent_account_id,
            handle: wire.handle,
            display_name: wire.display_name,
            parent_agent_id: filled(wire.parent_agent_id),
            presence,
            activity: filled(wire.activity),
            activity_at_unix_ms: (wire.activity_at_unix_ms != 0).then_some(wire.activity_at_unix_ms),
        }
    }
}

pub(crate) fn presence(wire: pb::AgentPresence) -> &'static str {
    match wire {
        pb::AgentPresence::Idle => "idle",
        pb::AgentPresence::Working => "working",
        pb::AgentPresence::Waiting => "waiting",
        pb::AgentPresence::Offline => "offline",
        pb::AgentPresence::Unspecified => "unknown",
    }
}

impl From<pb::Channel> for Channel {
    fn from(wire: pb::Channel) -> Self {
        let kind = match pb::ChannelKind::try_from(wire.kind) {
            Ok(pb::ChannelKind::Channel) => "channel",
            Ok(pb::ChannelKind::Dm) => "dm",
            Ok(pb::ChannelKind::GroupDm) => "group_dm",
            Err(_) => "unknown",
        };
        Self {
            id: wire.id,
            name: wire.name,
            group_id: filled(wire.group_id),
            kind,
            member_account_ids: wire.member_account_ids,
            subscriber_account_ids: wire.subscriber_account_ids,
            anchor_agent_id: filled(wire.anchor_agent_id),
            owner_account_id: filled(wire.owner_account_id),
            mandatory_subscription: wire.mandatory_subscription,
            pinned_message_ids: wire.pinned_entries.into_iter().map(|entry| entry.message_id).collect(),
        }
    }
}

impl From<pb::ChannelGroup> for Group {
    fn from(wire: pb::ChannelGroup) -> Self {
        let shared = wire.visibility() == pb::ChannelGroupVisibility::Shared;
        Self {
            id: wire.id,
            name: wire.name,
            parent_group_id: filled(wire.parent_group_id),
            owner_account_id: wire.owner_user_id,
            shared,
        }
    }
}

impl From<pb::Topic> for Topic {
    fn from(wire: pb::Topic) -> Self {
        Self {
            id: wire.id,
            channel_id: wire.channel_id,
            name: wire.name,
            archived: wire.archived,
            message_count: wire.message_count,
            open_ask_count: wire.open_ask_count,
            braked: wire.braked,
            last_activity_unix_ms: wire.last_activity_unix_ms,
        }
    }
}

impl From<pb::ReadPosition> for ReadPosition {
    fn from(wire: pb::ReadPosition) -> Self {
        Self { topic_id: wire.topic_id, channel_seq: wire.channel_seq, unread_count: wire.unread_count }
    }
}

impl From<pb::Message> for Message {
    fn from(wire: pb::Message) -> Self {
        Self {
            id: wire.id,
            topic_id: wire.topic_id,
            author_account_id: wire.author_account_id,
            at_unix_ms: wire.at_unix_ms,
            channel_seq: wire.channel_seq,
            blocks: wire.blocks.into_iter().map(Block::from).collect(),
        }
    }
}

impl From<pb::MessageBlock> for Block {
    fn from(wire: pb::MessageBlock) -> Self {
        match wire.block {
            Some(pb::message_block::Block::Text(text)) => Self::Text(text),
            Some(pb::message_block::Block::Ask(ask)) => Self::Ask(ask.into()),
            Some(pb::message_block::Block::AskAnswer(answer)) => match answer.ask {
                Some(ask) => Self::AskAnswer { ask: ask.into(), asker_account_id: answer.asker_account_id },
                None => Self::Unknown,
            },
            None => Self::Unknown,
        }
    }
}

impl From<pb::Ask> for Ask {
    fn from(wire: pb::Ask) -> Self {
        let state = match (wire.cancelled, wire.answered) {
            (true, _) => AskState::Cancelled,
            (false, true) => AskState::Answered,
            (false, false) => AskState::Open,
        };
        Self {
            ask_id: wire.ask_id,
            state,
            answered_by_account_id: filled(wire.answered_by_account_id),
            closed_at_unix_ms: Some(wire.closed_at_unix_ms).filter(|at| *at != 0),
            questions: wire.questions.into_iter().map(Question::from).collect(),
        }
    }
}

impl From<pb::AskQuestion> for Question {
    fn from(wire: pb::AskQuestion) -> Self {
        Self {
            question_id: wire.question_id,
            question: wire.question,
            header: wire.header,
            options: wire.options.into_iter().map(Choice::from).collect(),
            allow_multiple: wire.allow_multiple,
            recommended: wire.recommended,
            chosen_option_ids: wire.chosen_option_ids,
            custom_text: wire.custom_text,
        }
    }
}

impl From<pb::AskOption> for Choice {
    fn from(wire: pb::AskOption) -> Self {
        Self { id: wire.id, label: wire.label, description: wire.description, preview: wire.preview }
    }
}

impl From<pb::TokenInfo> for TokenInfo {
    fn from(wire: pb::TokenInfo) -> Self {
        Self {
            id: wire.id,
            account_id: filled(wire.account_id),
            runner_id: filled(wire.runner_id),
            created_at_unix_ms: wire.created_at_unix_ms,
            expires_at_unix_ms: Some(wire.expires_at_unix_ms).filter(|at| *at != 0),
        }
    }
}

/// An inbox entry; `None` if it carries no message.
pub(crate) fn open_ask(wire: pb::OpenAskEntry) -> Option<OpenAsk> {
    Some(OpenAsk { channel_id: wire.channel_id, message: wire.message?.into() })
}

pub(crate) fn block(draft: DraftBlock) -> pb::MessageBlock {
    let block = match draft {
        DraftBlock::Text(text) => pb::message_block::Block::Text(text),
        DraftBlock::Ask(ask) => pb::message_block::Block::Ask(wire_ask(ask)),
    };
    pb::MessageBlock { block: Some(block) }
}

pub(crate) fn answer(draft: AnswerDraft) -> pb::AskQuestionAnswer {
    pb::AskQuestionAnswer {
        question_id: draft.question_id,
        chosen_option_ids: draft.chosen_option_ids,
        custom_text: draft.custom_text,
    }
}

fn wire_ask(draft: AskDraft) -> pb::Ask {
    pb::Ask { questions: draft.questions.into_iter().map(wire_question).collect(), ..pb::Ask::default() }
}

fn wire_question(draft: QuestionDraft) -> pb::AskQuestion {
    pb::AskQuestion {
        question_id: draft.id,
        question: draft.text,
        header: draft.header,
        options: draft.options.into_iter().map(wire_option).collect(),
        allow_multiple: draft.allow_multiple,
        recommended: draft.recommended,
        ..pb::AskQuestion::default()
    }
}

fn wire_option(draft: OptionDraft) -> pb::AskOption {
    pb::AskOption { id: draft.id, label: draft.label, description: draft.description, preview: draft.preview }
}

fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_goes_out_whole_and_without_server_owned_fields() {
        let draft = QuestionDraft {
            id: "0".into(),
            text: "which".into(),
            header: "h".into(),
            options: vec![OptionDraft {
                id: "0".into(),
                label: "l".into(),
                description: "d".into(),
                preview: "p\n".into(),
            }],
            allow_multiple: true,
            recommended: Some(0),
        };
        let ask = wire_ask(AskDraft { questions: vec![draft] });
        assert_eq!((ask.ask_id.as_str(), ask.answered, ask.cancelled), ("", false, false));
        let back = Question::from(ask.questions.into_iter().next().unwrap());
        assert_eq!((back.question.as_str(), back.header.as_str()), ("which", "h"));
        assert_eq!((back.allow_multiple, back.recommended), (true, Some(0)));
        assert_eq!(back.options[0].preview, "p\n");
        assert!(back.chosen_option_ids.is_empty() && back.custom_text.is_empty());
    }

    #[test]
    fn a_block_of_an_unknown_kind_stays_visible() {
        assert_eq!(Block::from(pb::MessageBlock { block: None }), Block::Unknown);
    }

    #[test]
    fn a_cancelled_ask_is_never_shown_as_answered() {
        let ask = Ask::from(pb::Ask { cancelled: true, ..pb::Ask::default() });
        assert_eq!(ask.state, AskState::Cancelled);
    }
}
