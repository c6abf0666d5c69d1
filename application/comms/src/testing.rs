//! Rows and values that tests of the pure decisions are made of.

use std::{num::NonZeroU64, sync::Arc};

use compass_domain::{
    AccountId, Actor, ActorKind, AskId, ChannelId, Event, Message, MessageId, NewMessage, Seq, TenantId,
    Topic, TopicId, TopicName, UnixMillis, UserRole,
    ask::{AnswerDraft, AskDraft, OptionDraft, QuestionDraft},
    channel::{ChannelHead, PostPolicy},
    message::{Content, DraftBlock, Placement},
};
use compass_memory::{MemoryBus, MemoryStorage, MemoryWriter};
use compass_ports::{Clock, Ids, Loaded, LoadedAsk, StorageError, Turns};
use compass_testkit::NobodyPresent;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Caller, Comms, channels::Homes, ports::MockStorage};

pub(crate) const CHANNEL: ChannelId = ChannelId::from_bytes([1; 16]);
pub(crate) const ELSEWHERE: ChannelId = ChannelId::from_bytes([2; 16]);
pub(crate) const TOPIC: TopicId = TopicId::from_bytes([3; 16]);
pub(crate) const NEW_TOPIC: TopicId = TopicId::from_bytes([4; 16]);
pub(crate) const NEW_MESSAGE: MessageId = MessageId::from_bytes([5; 16]);
pub(crate) const ASK_MESSAGE: MessageId = MessageId::from_bytes([6; 16]);

pub(crate) fn account(number: u8) -> AccountId {
    AccountId::from_bytes([number; 16])
}

pub(crate) fn ask_id(number: u8) -> AskId {
    AskId::from_bytes([number; 16])
}

pub(crate) fn person(number: u8) -> Actor {
    Actor { id: account(number), kind: ActorKind::User { role: UserRole::Member } }
}

pub(crate) fn agent(number: u8) -> Actor {
    Actor { id: account(number), kind: ActorKind::Agent { owner: account(0xee) } }
}

pub(crate) fn topic(channel: ChannelId, name: &str) -> Topic {
    let name = TopicName::parse(name).unwrap();
    Topic::new(TOPIC, channel, name, account(9), UnixMillis(10))
}

/// The channel at seq 7 with participants.
pub(crate) fn channel(policy: PostPolicy, participants: &[Actor]) -> Loaded {
    let mut loaded = Loaded::new();
    loaded.put_channel(ChannelHead { id: CHANNEL, last_seq: Seq(7), last_at: UnixMillis(700), policy });
    for participant in participants {
        loaded.put_participant(CHANNEL, participant.id);
    }
    loaded
}

/// An ask with one single-select question `q` that offers `yes` and `no`.
pub(crate) fn ask_draft() -> AskDraft {
    let option = |id: &str| OptionDraft { id: id.into(), label: id.into(), ..OptionDraft::default() };
    let question = QuestionDraft {
        id: "q".into(),
        text: "Ship it?".into(),
        options: vec![option("yes"), option("no")],
        ..QuestionDraft::default()
    };
    AskDraft { questions: vec![question] }
}

pub(crate) fn answer(option: &str) -> Vec<AnswerDraft> {
    let chosen_option_ids = vec![option.to_owned()];
    vec![AnswerDraft { question_id: "q".into(), chosen_option_ids, custom_text: String::new() }]
}

/// A message of `author` with one open ask per id.
pub(crate) fn ask_message(author: Actor, asks: &[AskId]) -> Arc<Message> {
    let blocks = asks.iter().map(|_| DraftBlock::Ask(ask_draft())).collect();
    let mut ids = asks.iter().copied();
    let content = Content::compose(blocks, || ids.next().unwrap()).unwrap();
    let placement = Placement {
        id: ASK_MESSAGE,
        channel: CHANNEL,
        topic: TOPIC,
        seq: Seq(7),
        at: UnixMillis(700),
        run: 0,
    };
    Arc::clone(NewMessage::post(author, &content, placement, None).message())
}

/// Adds a message's asks, as a locked read finds them.
pub(crate) fn put_asks(loaded: &mut Loaded, message: &Arc<Message>) {
    for ask in message.asks() {
        let found = LoadedAsk {
            channel: message.channel(),
            message: message.id(),
            author: message.author(),
            digest: ask.digest(),
        };
        loaded.put_ask(ask.id(), Ok((found, Arc::clone(message))));
    }
}

/// What a list of events says, in order.
pub(crate) fn told(events: &[Event]) -> Vec<&'static str> {
    let name = |event: &Event| match event {
        Event::MessagePosted(_) => "posted",
        Event::MessageUpdated(_) => "updated",
        Event::TopicUpserted(_) => "topic",
        _ => "other",
    };
    events.iter().map(name).collect()
}

/// A storage that cannot be reached.
pub(crate) fn unreachable_storage() -> MockStorage {
    let unavailable = || StorageError::Unavailable("no route".into());
    let mut storage = MockStorage::new();
    storage.expect_read().returning(move |_| Err(unavailable()));
    storage.expect_begin().returning(move |_| Err(unavailable()));
    storage.expect_find_token().returning(move |_| Err(unavailable()));
    storage.expect_find_tokens().returning(move |_| Err(unavailable()));
    storage
}

/// Ports over `storage`, with a writer that has stopped: a job that is submitted comes back unavailable.
pub(crate) async fn ports_over(storage: MockStorage) -> Comms {
    let clock: Arc<dyn Clock> = Arc::new(StoppedClock);
    let bus = Arc::new(MemoryBus::new(NonZeroU64::MIN, Arc::clone(&clock)));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let writer =
        MemoryWriter::start(MemoryStorage::new(Arc::clone(&clock)), bus.clone(), &tasks, stop.clone());
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    tasks.reopen();
    Comms {
        storage: Arc::new(storage),
        writer: Arc::new(writer),
        bus,
        presence: Arc::new(NobodyPresent),
        clock,
        ids: Arc::new(OneId),
        tasks,
        homes: Homes::default(),
        turns: Turns::default(),
    }
}

pub(crate) fn caller(actor: Actor) -> Caller {
    Caller { tenant: TenantId::default_tenant(), actor }
}

struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(900)
    }
}

struct OneId;

impl Ids for OneId {
    fn ordered(&self) -> [u8; 16] {
        [7; 16]
    }

    fn random(&self) -> [u8; 16] {
        [8; 16]
    }

    fn secret(&self) -> [u8; 32] {
        [9; 32]
    }
}
