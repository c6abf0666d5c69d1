//! A server without doors: every port in memory, a clock that tests move, ids that count.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use compass_comms::{
    Caller, Comms,
    accounts::{
        bootstrap::{Bootstrap, bootstrap},
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
    },
    channels::{
        Homes,
        create_channel::{CreateChannel, Mode, create_channel},
        resolve::ChannelRef,
    },
    events::Audiences,
    messages::post_message::{self, PostMessage, Posted, TopicInput},
};
use compass_domain::{
    Account, AccountId, AccountKind, AskId, Channel, ChannelId, Classified, ErrorKind, Event, TenantId,
    UnixMillis,
    ask::{AnswerDraft, AskDraft, OptionDraft, QuestionDraft},
    message::DraftBlock,
};
use compass_memory::{MemoryBus, MemoryStorage, MemoryWriter};
use compass_ports::{Clock, EventBus, Ids, Next, Subscription, Turns};
use compass_testkit::NobodyPresent;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) struct House {
    pub(crate) comms: Comms,
    pub(crate) audiences: Arc<Audiences>,
    pub(crate) clock: Arc<MovedClock>,
    pub(crate) tenant: TenantId,
    pub(crate) admin: Caller,
    pub(crate) sign_in: String,
}

pub(crate) struct MovedClock(AtomicI64);

impl MovedClock {
    pub(crate) fn advance_ms(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for MovedClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
struct CountedIds(AtomicU64);

impl CountedIds {
    fn next(&self) -> [u8; 8] {
        self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes()
    }
}

impl Ids for CountedIds {
    fn ordered(&self) -> [u8; 16] {
        let mut id = [0x01; 16];
        id[8..].copy_from_slice(&self.next());
        id
    }

    fn random(&self) -> [u8; 16] {
        let mut id = [0xa0; 16];
        id[8..].copy_from_slice(&self.next());
        id
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0x5e; 32];
        secret[24..].copy_from_slice(&self.next());
        secret
    }
}

/// Ports in memory, with nothing stored yet.
pub(crate) fn empty() -> (Comms, Arc<MovedClock>) {
    let clock = Arc::new(MovedClock(AtomicI64::new(1_000_000)));
    let shared: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let tasks = TaskTracker::new();
    let storage = MemoryStorage::new(Arc::clone(&shared));
    let bus: Arc<dyn EventBus> = Arc::new(MemoryBus::new(NonZeroU64::new(77).unwrap(), Arc::clone(&shared)));
    let writer = MemoryWriter::start(storage.clone(), Arc::clone(&bus), &tasks, CancellationToken::new());
    let comms = Comms {
        storage: Arc::new(storage),
        writer: Arc::new(writer),
        bus,
        presence: Arc::new(NobodyPresent),
        clock: shared,
        ids: Arc::new(CountedIds::default()),
        tasks,
        homes: Homes::default(),
        turns: Turns::default(),
    };
    (comms, clock)
}

impl House {
    /// A house with its admin `root`.
    pub(crate) async fn new() -> Self {
        let (comms, clock) = empty();
        let tenant = TenantId::default_tenant();
        let made = bootstrap(&comms, &tenant, Bootstrap { admin_handle: "root".into() }).await.unwrap();
        let admin = Caller { tenant: tenant.clone(), actor: made.admin.actor() };
        let audiences = Arc::default();
        Self { comms, audiences, clock, tenant, admin, sign_in: made.sign_in.unwrap() }
    }

    pub(crate) fn caller(&self, account: &Account) -> Caller {
        Caller { tenant: self.tenant.clone(), actor: account.actor() }
    }

    pub(crate) async fn user(&self, handle: &str) -> Caller {
        let create = CreateUser { handle: handle.into(), display_name: String::new() };
        self.caller(&create_user(&self.comms, &self.admin, create).await.unwrap())
    }

    pub(crate) async fn agent(&self, owner: &Caller, handle: &str) -> Caller {
        let create = CreateAgent { handle: handle.into(), ..CreateAgent::default() };
        self.caller(&create_agent(&self.comms, owner, create).await.unwrap())
    }

    pub(crate) async fn account(&self, id: AccountId) -> Account {
        let mut unit = self.comms.storage.read(&self.tenant).await.unwrap();
        unit.find_account(id).await.unwrap().unwrap()
    }

    pub(crate) async fn home_of(&self, agent: &Caller) -> ChannelId {
        match self.account(agent.actor.id).await.kind {
            AccountKind::Agent { home_channel, .. } => home_channel,
            other => panic!("{other:?} has no home"),
        }
    }

    pub(crate) async fn channel(&self, by: &Caller, name: &str, members: &[&Caller]) -> Channel {
        create_channel(&self.comms, by, new_channel(name, members)).await.unwrap()
    }

    pub(crate) async fn post(&self, by: &Caller, channel: ChannelId, text: &str) -> Posted {
        self.post_blocks(by, channel, vec![DraftBlock::Text(text.into())]).await
    }

    pub(crate) async fn ask(&self, by: &Caller, channel: ChannelId) -> AskId {
        let posted = self.post_blocks(by, channel, vec![DraftBlock::Ask(ask_draft())]).await;
        posted.message.asks().next().unwrap().id()
    }

    pub(crate) async fn post_blocks(
        &self,
        by: &Caller,
        channel: ChannelId,
        blocks: Vec<DraftBlock>,
    ) -> Posted {
        let post = PostMessage { blocks, ..a_post(ChannelRef::Id(channel)) };
        post_message::post_message(&self.comms, by, post).await.unwrap()
    }

    /// Everything the bus tells from now on.
    pub(crate) fn listen(&self) -> Box<dyn Subscription> {
        self.comms.bus.tap()
    }

    /// The seq of the newest event.
    pub(crate) async fn told_so_far(&self) -> u64 {
        let canary = Event::MessageSettled {
            channel: ChannelId::from_bytes([0; 16]),
            message: compass_domain::MessageId::from_bytes([0; 16]),
        };
        let mut tap = self.listen();
        self.comms.bus.publish(&self.tenant, vec![canary]);
        match tap.next().await {
            Next::Event(published) => published.seq,
            other => panic!("no event but {other:?}"),
        }
    }
}

pub(crate) fn new_channel(name: &str, members: &[&Caller]) -> CreateChannel {
    CreateChannel {
        name: name.into(),
        group: None,
        members: members.iter().map(|member| member.actor.id).collect(),
        member_handles: Vec::new(),
        mode: Mode::Flat,
    }
}

/// A text into topic `general`.
pub(crate) fn a_post(channel: ChannelRef) -> PostMessage {
    PostMessage {
        channel,
        topic: TopicInput { name: Some("general".into()), ..TopicInput::default() },
        blocks: vec![DraftBlock::Text("hello".into())],
        client_request_id: String::new(),
    }
}

pub(crate) fn ask_draft() -> AskDraft {
    let option = |id: &str| OptionDraft { id: id.into(), label: id.into(), ..OptionDraft::default() };
    let options = vec![option("yes"), option("no")];
    let question =
        QuestionDraft { id: "q".into(), text: "Ship it?".into(), options, ..QuestionDraft::default() };
    AskDraft { questions: vec![question] }
}

pub(crate) fn answer(option: &str) -> Vec<AnswerDraft> {
    let chosen_option_ids = vec![option.to_owned()];
    vec![AnswerDraft { question_id: "q".into(), chosen_option_ids, custom_text: String::new() }]
}

/// The next event of a subscription that has one.
pub(crate) async fn next(events: &mut Box<dyn Subscription>) -> Event {
    match events.next().await {
        Next::Event(published) => published.event.clone(),
        other => panic!("no event but {other:?}"),
    }
}

/// The kind of the failure a call must end in.
pub(crate) fn kind<T: std::fmt::Debug, E: Classified>(result: Result<T, E>) -> ErrorKind {
    match result {
        Ok(done) => panic!("not refused: {done:?}"),
        Err(error) => error.kind(),
    }
}

/// The text of the failure a call must end in.
pub(crate) fn text<T: std::fmt::Debug, E: Classified>(result: Result<T, E>) -> String {
    match result {
        Ok(done) => panic!("not refused: {done:?}"),
        Err(error) => error.to_string(),
    }
}
