//! A server without doors: storage, use cases and hub.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use compass_comms::{
    Caller, Comms,
    accounts::{
        bootstrap::{Bootstrap, bootstrap},
        create_agent::{CreateAgent, create_agent},
    },
    asks::{
        cancel_ask::{CancelAsk, cancel_ask},
        respond_to_ask::{RespondToAsk, respond_to_ask},
    },
    channels::{
        Homes,
        create_channel::{CreateChannel, Mode, create_channel},
        resolve::ChannelRef,
        update_members::{UpdateMembers, update_members},
    },
    messages::post_message::{PostMessage, TopicInput, post_message},
};
use compass_domain::{
    Account, AskId, ChannelId, Event, LifecycleState, Message, MessageId, NodeId, Presence, SessionId,
    TenantId,
    ask::{AnswerDraft, AskDraft, OptionDraft, QuestionDraft},
    delivery::Lane,
    message::DraftBlock,
};
use compass_hub::{
    Hub, HubPorts,
    ports::AttachMode,
    sessions::{Enroll, RunnerKey},
};
use compass_memory::{MemoryBus, MemoryStorage, MemoryWriter};
use compass_ports::{Next, PresenceSource as _, Subscription, Turns};
use compass_testkit::FlakyWriter;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    fakes::{CountedIds, FakeLanes, FakeRunners, FlakyLedger, Sent, TokioClock},
    watched::WatchedAudience,
};

pub(crate) struct Rig {
    pub(crate) tenant: TenantId,
    pub(crate) comms: Comms,
    pub(crate) hub: Arc<Hub>,
    pub(crate) lanes: Arc<FakeLanes>,
    pub(crate) runners: Arc<FakeRunners>,
    pub(crate) bus: Arc<MemoryBus>,
    pub(crate) storage: Arc<MemoryStorage>,
    pub(crate) ledger: Arc<FlakyLedger>,
    pub(crate) audience: Arc<WatchedAudience>,
    pub(crate) writer: Arc<FlakyWriter>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    ports: HubPorts,
}

/// A live session and what it was sent.
pub(crate) struct Live {
    pub(crate) session: SessionId,
    pub(crate) runner: RunnerKey,
    received: mpsc::UnboundedReceiver<Sent>,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        let rig = Self::stopped();
        rig.hub.run().await.unwrap();
        rig
    }

    /// Everything put together and the hub not running, as if its process had been killed.
    pub(crate) fn stopped() -> Self {
        let clock = Arc::new(TokioClock(Instant::now()));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let storage = Arc::new(MemoryStorage::new(clock.clone()));
        let bus = Arc::new(MemoryBus::new(NonZeroU64::MIN, clock.clone()));
        let writer = MemoryWriter::start(MemoryStorage::clone(&storage), bus.clone(), &tasks, stop.clone());
        let writer = Arc::new(FlakyWriter::over(Arc::new(writer)));
        let ids = Arc::new(CountedIds(AtomicU64::new(1)));
        let lanes = Arc::new(FakeLanes::default());
        let runners = Arc::new(FakeRunners::over(lanes.clone()));
        let ledger = Arc::new(FlakyLedger {
            rows: storage.clone(),
            is_down: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            is_blind: AtomicBool::new(false),
        });
        let audience = Arc::new(WatchedAudience::over(storage.clone()));
        let ports = HubPorts {
            ledger: ledger.clone(),
            audience: audience.clone(),
            placements: storage.clone(),
            overview: storage.clone(),
            lanes: lanes.clone(),
            launcher: runners.clone(),
            writer: writer.clone(),
            bus: bus.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            tasks: tasks.clone(),
            stop: stop.clone(),
            node: NodeId::from_bytes([9; 16]),
        };
        let hub = Hub::new(ports.clone());
        let comms = Comms {
            storage: storage.clone(),
            writer: ports.writer.clone(),
            bus: bus.clone(),
            presence: hub.clone(),
            clock,
            ids,
            tasks: tasks.clone(),
            homes: Homes::default(),
            turns: Turns::default(),
        };
        Self {
            tenant: TenantId::default_tenant(),
            comms,
            hub,
            lanes,
            runners,
            bus,
            storage,
            ledger,
            audience,
            writer,
            stop,
            tasks,
            ports,
        }
    }

    /// A fresh hub over the same rows, as after a restart. The old one must not be running.
    pub(crate) async fn restart(&mut self) {
        self.hub = Hub::new(self.ports.clone());
        self.hub.run().await.unwrap();
    }

    /// A rig with its administrator and an agent of hers that is subscribed to a channel.
    pub(crate) async fn with_one() -> (Self, Account, Account, ChannelId) {
        let rig = Self::new().await;
        let ann = rig.admin().await;
        let one = rig.agent(&ann, "one").await;
        let channel = rig.channel(&ann, &[&one], &[]).await;
        (rig, ann, one, channel)
    }

    /// A rig with its administrator, and two agents of hers in a channel to which only the second is subscribed.
    pub(crate) async fn with_author_and_listener() -> (Self, Account, Account, Account, ChannelId) {
        let rig = Self::new().await;
        let ann = rig.admin().await;
        let (one, two) = (rig.agent(&ann, "one").await, rig.agent(&ann, "two").await);
        let channel = rig.channel(&ann, &[&two], &[&one]).await;
        (rig, ann, one, two, channel)
    }

    pub(crate) async fn admin(&self) -> Account {
        let admin_handle = "ann".to_owned();
        bootstrap(&self.comms, &self.tenant, Bootstrap { admin_handle }).await.unwrap().admin
    }

    pub(crate) async fn agent(&self, owner: &Account, handle: &str) -> Account {
        let create = CreateAgent { handle: handle.into(), display_name: String::new(), parent: None };
        create_agent(&self.comms, &self.caller(owner), create).await.unwrap()
    }

    /// A channel of `owner` where `subscribed` are delivered to and `members` only take part.
    pub(crate) async fn channel(
        &self,
        owner: &Account,
        subscribed: &[&Account],
        members: &[&Account],
    ) -> ChannelId {
        let create = CreateChannel {
            name: "work".into(),
            group: None,
            members: subscribed.iter().chain(members).map(|account| account.id).collect(),
            member_handles: Vec::new(),
            mode: Mode::Flat,
        };
        let channel = create_channel(&self.comms, &self.caller(owner), create).await.unwrap().id;
        let subscribe = subscribed.iter().map(|account| account.id).collect();
        let update = UpdateMembers { subscribe, ..UpdateMembers::of(ChannelRef::Id(channel)) };
        update_members(&self.comms, &self.caller(owner), update).await.unwrap();
        channel
    }

    pub(crate) async fn remove(&self, owner: &Account, channel: ChannelId, account: &Account) {
        let update = UpdateMembers { remove: vec![account.id], ..UpdateMembers::of(ChannelRef::Id(channel)) };
        update_members(&self.comms, &self.caller(owner), update).await.unwrap();
    }

    pub(crate) async fn say(&self, author: &Account, channel: ChannelId, text: &str) -> Arc<Message> {
        self.post(author, channel, DraftBlock::Text(text.into())).await
    }

    pub(crate) async fn ask(&self, author: &Account, channel: ChannelId) -> (Arc<Message>, AskId) {
        let option = |id: &str| OptionDraft { id: id.into(), label: id.into(), ..OptionDraft::default() };
        let question = QuestionDraft {
            id: "q".into(),
            text: "Ship it?".into(),
            options: vec![option("yes"), option("no")],
            ..QuestionDraft::default()
        };
        let ask = DraftBlock::Ask(AskDraft { questions: vec![question] });
        let message = self.post(author, channel, ask).await;
        let id = message.asks().next().unwrap().id();
        (message, id)
    }

    pub(crate) async fn answer(&self, by: &Account, ask: AskId) -> Arc<Message> {
        let answers = vec![AnswerDraft {
            question_id: "q".into(),
            chosen_option_ids: vec!["yes".into()],
            custom_text: String::new(),
        }];
        let respond = RespondToAsk { ask: Some(ask), answers };
        respond_to_ask(&self.comms, &self.caller(by), respond).await.unwrap().answer_message
    }

    pub(crate) async fn cancel(&self, by: &Account, ask: AskId) {
        cancel_ask(&self.comms, &self.caller(by), CancelAsk { ask: Some(ask) }).await.unwrap();
    }

    async fn post(&self, author: &Account, channel: ChannelId, block: DraftBlock) -> Arc<Message> {
        let topic = TopicInput { id: None, name: Some("talk".into()), existing_only: false };
        let post = PostMessage {
            channel: ChannelRef::Id(channel),
            topic,
            blocks: vec![block],
            client_request_id: String::new(),
        };
        post_message(&self.comms, &self.caller(author), post).await.unwrap().message
    }

    pub(crate) fn caller(&self, account: &Account) -> Caller {
        Caller { tenant: self.tenant.clone(), actor: account.actor() }
    }

    pub(crate) fn runner(&self, agent: &Account) -> RunnerKey {
        RunnerKey::Agent { tenant: self.tenant.clone(), account: agent.id }
    }

    /// A process of an agent that attaches and starts its session.
    pub(crate) async fn attach(&self, agent: &Account, instance: &str) -> Live {
        self.attach_as(agent, instance, AttachMode::Deliveries).await
    }

    pub(crate) async fn attach_as(&self, agent: &Account, instance: &str, mode: AttachMode) -> Live {
        let runner = self.runner(agent);
        let enroll = Enroll { runner: runner.clone(), instance: instance.into(), mode, take_over: false };
        self.hub.enroll(&enroll).await.unwrap();
        let attached = self.hub.open_stream(&runner, instance).unwrap();
        let session = attached.start.unwrap().session;
        let received = self.lanes.lead(session);
        assert!(self.hub.started(&runner, session).await.unwrap());
        Live { session, runner, received }
    }

    pub(crate) async fn report(&self, live: &Live, state: LifecycleState) {
        assert!(self.hub.report_state(&live.runner, live.session, state).await.unwrap());
    }

    pub(crate) async fn acknowledge(&self, agent: &Account, messages: &[&Arc<Message>]) {
        let ids = messages.iter().map(|message| message.id()).collect();
        self.hub.acknowledge(&self.tenant, agent.id, ids).await.unwrap();
    }

    pub(crate) async fn presence(&self, agent: &Account) -> Presence {
        let found = self.hub.presence_of(&self.tenant, &[agent.id]).await.unwrap();
        found.get(&agent.id).copied().unwrap_or(Presence::Offline)
    }

    /// How many messages an agent is owed, routed or not.
    pub(crate) async fn owed(&self, agent: &Account) -> usize {
        self.hub
            .fetch(&self.tenant, agent.id, compass_hub::delivery::FetchQuery::default())
            .await
            .unwrap()
            .items
            .len()
    }
}

impl Live {
    /// What came next, within a minute.
    pub(crate) async fn next(&mut self) -> Sent {
        self.next_within(Duration::from_mins(1)).await
    }

    pub(crate) async fn next_within(&mut self, span: Duration) -> Sent {
        let next = tokio::time::timeout(span, self.received.recv()).await;
        next.expect("something is sent in time").unwrap()
    }

    /// The id of what came next, which has to be on this lane.
    pub(crate) async fn next_on(&mut self, lane: Lane) -> MessageId {
        let (found, message) = self.next().await;
        assert_eq!(found, lane);
        message.message.id()
    }

    pub(crate) async fn delivered(&mut self, message: &Message) {
        assert_eq!(self.next_on(Lane::Deliver).await, message.id());
    }

    pub(crate) async fn steered(&mut self, message: &Message) {
        assert_eq!(self.next_on(Lane::Steer).await, message.id());
    }

    /// What was sent so far and not taken.
    pub(crate) fn sent(&mut self) -> Vec<(Lane, MessageId)> {
        std::iter::from_fn(|| self.received.try_recv().ok())
            .map(|(lane, message)| (lane, message.message.id()))
            .collect()
    }
}

/// The same rows behind a writer whose events nobody here hears.
pub(crate) fn deaf_writer(rig: &Rig) -> Rig {
    let bus = Arc::new(MemoryBus::new(NonZeroU64::MIN, rig.comms.clock.clone()));
    let writer =
        MemoryWriter::start(MemoryStorage::clone(&rig.storage), bus.clone(), &rig.tasks, rig.stop.clone());
    let comms = Comms { writer: Arc::new(writer), bus: bus.clone(), ..rig.comms.clone() };
    Rig {
        tenant: rig.tenant.clone(),
        comms,
        hub: rig.hub.clone(),
        lanes: rig.lanes.clone(),
        runners: rig.runners.clone(),
        bus,
        storage: rig.storage.clone(),
        ledger: rig.ledger.clone(),
        audience: rig.audience.clone(),
        writer: rig.writer.clone(),
        stop: rig.stop.clone(),
        tasks: rig.tasks.clone(),
        ports: rig.ports.clone(),
    }
}

/// Lets every task run until it waits, without time passing.
pub(crate) async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// Lets time pass in small steps.
pub(crate) async fn pass(span: Duration) {
    tokio::time::sleep(span).await;
    settle().await;
}

/// The next presence event of an agent.
pub(crate) async fn next_presence(tap: &mut dyn Subscription, agent: &Account) -> (Presence, String) {
    let wait = async {
        loop {
            match tap.next().await {
                Next::Event(published) => {
                    if let Event::AgentPresenceChanged { agent: of, presence, activity } = &published.event
                        && *of == agent.id
                    {
                        return (*presence, activity.clone());
                    }
                }
                other => panic!("the tap ended: {other:?}"),
            }
        }
    };
    tokio::time::timeout(Duration::from_mins(1), wait).await.expect("presence changes within a minute")
}
