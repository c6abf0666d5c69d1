//! Asks, messages and answers to try the rules on.

use std::sync::Arc;

use compass_domain::{
    Account, AccountId, AccountKind, Actor, ActorKind, Answers, AskId, ChannelId, ClosedAsk, Handle, Human,
    LockedAsk, Message, MessageId, NewMessage, OpenAsk, Seq, TopicId, UnixMillis, UserRole,
    ask::{AnswerDraft, AnswerError, AskDraft, OptionDraft, QuestionDraft, Reply},
    message::{Content, ContentError, DraftBlock, Placement},
};

pub(crate) const ASKER: AccountId = AccountId::from_bytes([1; 16]);
pub(crate) const PERSON: AccountId = AccountId::from_bytes([2; 16]);
pub(crate) const CHANNEL: ChannelId = ChannelId::from_bytes([3; 16]);
pub(crate) const TOPIC: TopicId = TopicId::from_bytes([4; 16]);
pub(crate) const ASK: AskId = AskId::from_bytes([5; 16]);
pub(crate) const MESSAGE: MessageId = MessageId::from_bytes([6; 16]);
pub(crate) const ANSWER: MessageId = MessageId::from_bytes([7; 16]);

pub(crate) fn person() -> Human {
    let handle = Handle::parse_new("ann").expect("a handle");
    let kind = AccountKind::User { role: UserRole::Member };
    let account = Account { id: PERSON, handle, display_name: String::new(), kind };
    account.actor().human().expect("a person")
}

pub(crate) fn agent() -> Actor {
    Actor { id: ASKER, kind: ActorKind::Agent { owner: PERSON } }
}

pub(crate) fn option(id: &str) -> OptionDraft {
    OptionDraft { id: id.into(), label: format!("label {id}"), ..OptionDraft::default() }
}

pub(crate) fn question(id: &str, options: &[&str], allow_multiple: bool) -> QuestionDraft {
    QuestionDraft {
        id: id.into(),
        text: format!("question {id}?"),
        options: options.iter().map(|id| option(id)).collect(),
        allow_multiple,
        ..QuestionDraft::default()
    }
}

/// One single-select, one multi-select, one free-text question.
pub(crate) fn draft() -> AskDraft {
    AskDraft {
        questions: vec![
            question("one", &["a", "b"], false),
            question("many", &["a", "b", "c"], true),
            question("text", &[], false),
        ],
    }
}

pub(crate) fn compose(blocks: Vec<DraftBlock>) -> Result<Content, ContentError> {
    let mut minted = 0;
    Content::compose(blocks, || {
        minted += 1;
        let mut bytes = *ASK.as_bytes();
        bytes[15] += minted - 1;
        AskId::from_bytes(bytes)
    })
}

pub(crate) fn post(blocks: Vec<DraftBlock>) -> NewMessage {
    let content = compose(blocks).expect("valid blocks");
    let placement =
        Placement { id: MESSAGE, channel: CHANNEL, topic: TOPIC, seq: Seq(1), at: UnixMillis(10), run: 0 };
    NewMessage::post(agent(), &content, placement, None)
}

pub(crate) fn locked(message: &Arc<Message>) -> LockedAsk {
    LockedAsk::restore(message, ASK).expect("the message holds the ask")
}

pub(crate) fn open(message: &Arc<Message>) -> OpenAsk {
    match locked(message) {
        LockedAsk::Open(ask) => ask,
        other => panic!("not open: {other:?}"),
    }
}

pub(crate) fn entry(question: &str, options: &[&str], text: &str) -> AnswerDraft {
    AnswerDraft {
        question_id: question.into(),
        chosen_option_ids: options.iter().map(|&id| id.into()).collect(),
        custom_text: text.into(),
    }
}

pub(crate) fn reply() -> Reply {
    Reply { id: ANSWER, seq: Seq(2), at: UnixMillis(20) }
}

pub(crate) fn answer(entries: Vec<AnswerDraft>) -> Result<(ClosedAsk, NewMessage), AnswerError> {
    let posted = post(vec![DraftBlock::Ask(draft())]);
    open(posted.message()).answer(person(), Answers::parse(entries).expect("within limits"), reply())
}

pub(crate) fn full() -> Vec<AnswerDraft> {
    vec![entry("one", &["b"], ""), entry("many", &["c", "a"], "and more"), entry("text", &[], " ")]
}
