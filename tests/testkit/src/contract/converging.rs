//! A snapshot plus the events after it is the later snapshot, for every call that changes something.
//!
//! A client here is as simple as a client can be. It upserts by id; it drops a channel that it lost; it reads again
//! a channel that it gained, and the accounts when who takes part in a channel changed; it counts a topic's messages by
//! itself. Whatever else it would have to do is an event that is missing or incomplete.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use compass_comms::{
    Caller, Comms,
    accounts::{
        create_agent::{CreateAgent, create_agent},
        create_user::{CreateUser, create_user},
        list_accounts::list_accounts,
        reparent_agent::{ReparentAgent, reparent_agent},
        set_status::{SetStatus, set_status},
    },
    asks::{
        cancel_ask::{CancelAsk, cancel_ask},
        respond_to_ask::{RespondToAsk, respond_to_ask},
    },
    channels::{
        create_channel::{CreateChannel, Mode, create_channel},
        join_channel::join_channel,
        list_channels::list_channels,
        open_dm::{OpenDm, open_dm},
        resolve::ChannelRef,
        set_policy::{SetPolicy, set_policy},
        update_board::{BoardChange, UpdateBoard, update_board},
        update_members::{UpdateMembers, update_members},
    },
    events::{Audiences, EventStream, StreamItem, SubscribeFrom, subscribe},
    groups::{
        create_group::{CreateGroup, create_group},
        list_groups::list_groups,
        resolve::GroupRef,
    },
    messages::{
        list_messages::{ListMessages, list_messages},
        post_message::{PostMessage, TopicInput, post_message},
    },
    ports::TopicSummary,
    topics::{
        list_topics::{self, ListTopics, list_topics},
        update_topic::{UpdateTopic, update_topic},
    },
};
use compass_domain::{
    Account, AccountId, AskId, Channel, ChannelGroup, ChannelId, Event, GroupId, Message, MessageId,
    Position, Seq, Topic, TopicId, UnixMillis,
    brake::{AGENT_MESSAGES, AgentRun},
    channel::MembershipMode,
    group::Visibility,
    message::DraftBlock,
    topic::LISTED_PARTICIPANTS,
};
use compass_ports::Next;

use tokio::{task::JoinSet, time::timeout};

use super::channels::Draws;
use crate::{Fixture, Scene, drafts};

/// How long an event may take that must come.
const PATIENCE: Duration = Duration::from_mins(2);

type Step = for<'a> fn(&'a Cast) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// One call that changes something: its RPC or arm, what is special about it, and how it is made.
struct Row(&'static str, &'static str, Step);

/// Every row runs after the ones above it.
const ROWS: &[Row] = &[
    Row("CommsService/CreateUser", "a person", |cast| Box::pin(cast.create_user("cleo"))),
    Row("CommsService/CreateAgent", "a root", |cast| Box::pin(cast.create_agent("other", None))),
    Row("CommsService/CreateAgent", "a child", |cast| {
        Box::pin(cast.create_agent("kid", Some(cast.bot.actor.id)))
    }),
    Row("CommsService/CreateChannel", "with everyone", |cast| {
        Box::pin(cast.create_channel(&cast.ana, "everyone", vec![&cast.ben, &cast.bot], Mode::Flat))
    }),
    Row("CommsService/CreateChannel", "without the others", |cast| {
        Box::pin(cast.create_channel(&cast.ben, "bens", Vec::new(), Mode::Flat))
    }),
    Row("CommsService/CreateChannel", "a tree", |cast| {
        Box::pin(cast.create_channel(&cast.ana, "tree", Vec::new(), Mode::Tree { anchor: cast.bot.actor.id }))
    }),
    Row("CommsService/CreateAgent", "a child below a tree", |cast| {
        Box::pin(cast.create_agent("leaf", Some(cast.bot.actor.id)))
    }),
    Row("CommsService/PostMessage", "into a new topic", |cast| {
        Box::pin(cast.say(&cast.ana, "lobby", "first"))
    }),
    Row("CommsService/PostMessage", "into a known topic", |cast| {
        Box::pin(cast.say(&cast.bot, "lobby", "more"))
    }),
    Row("CommsService/PostMessage", "where not everyone is", |cast| {
        Box::pin(cast.say(&cast.ana, "room", "only two"))
    }),
    Row("CommsService/PostMessage", "into a tree", |cast| Box::pin(cast.say(&cast.bot, "tree", "below"))),
    Row("CommsService/UpdateChannelMembers", "one joins what has messages", |cast| {
        Box::pin(cast.update("room", |update| update.add_handles = vec!["ben".into()]))
    }),
    Row("CommsService/PostMessage", "after one joined", |cast| {
        Box::pin(cast.say(&cast.ben, "room", "hello"))
    }),
    Row("CommsService/UpdateChannelMembers", "subscribed and joined at once", |cast| {
        Box::pin(cast.update("lobby", |update| {
            update.subscribe_handles = vec!["bot".into()];
            update.add_handles = vec!["other".into()];
        }))
    }),
    Row("CommsService/UpdateChannelMembers", "one leaves", |cast| {
        Box::pin(cast.update("room", |update| update.remove_handles = vec!["ben".into()]))
    }),
    Row("CommsService/PostMessage", "after one left", |cast| {
        Box::pin(cast.say(&cast.ana, "room", "alone again"))
    }),
    Row("CommsService/UpdateChannelMembers", "one that others saw there leaves", |cast| {
        Box::pin(cast.update("lobby", |update| update.remove_handles = vec!["other".into()]))
    }),
    Row("CommsService/UpdateChannelMembers", "one joins a tree by a row", |cast| {
        Box::pin(cast.update("tree", |update| update.add_handles = vec!["ben".into()]))
    }),
    Row("CommsService/PostMessage", "two asks", |cast| Box::pin(cast.ask("lobby"))),
    Row("CommsService/RespondToAsk", "the first", |cast| Box::pin(cast.answer())),
    Row("arm cancel_ask", "the second", |cast| Box::pin(cast.cancel())),
    Row("CommsService/UpdateTopic", "another name", |cast| {
        Box::pin(cast.update_topic("room", "talk", Some("speech"), None))
    }),
    Row("CommsService/UpdateTopic", "archived", |cast| {
        Box::pin(cast.update_topic("room", "speech", None, Some(true)))
    }),
    Row("CommsService/PostMessage", "into a second topic", |cast| Box::pin(cast.start("lobby", "aside"))),
    Row("CommsService/UpdateTopic", "merged into the other", |cast| {
        Box::pin(cast.update_topic("lobby", "talk", Some("aside"), None))
    }),
    Row("CommsService/UpdatePinnedBoard", "a pin", |cast| Box::pin(cast.pin("lobby"))),
    Row("CommsService/UpdatePinnedBoard", "no pin", |cast| Box::pin(cast.unpin("lobby"))),
    Row("CommsService/SetChannelPolicy", "one owns it and it is mandatory", |cast| {
        Box::pin(cast.set_policy("lobby", true))
    }),
    Row("CommsService/SetChannelPolicy", "nobody owns it", |cast| Box::pin(cast.set_policy("lobby", false))),
    Row("CommsService/CreateChannelGroup", "ana's own", |cast| {
        Box::pin(cast.create_group("private", Visibility::Owner))
    }),
    Row("CommsService/CreateChannelGroup", "everyone's", |cast| {
        Box::pin(cast.create_group("public", Visibility::Shared))
    }),
    Row("CommsService/CreateChannel", "in a group that everyone sees", |cast| {
        Box::pin(cast.create_in("public", "square"))
    }),
    Row("CommsService/CreateChannel", "in ana's own group", |cast| {
        Box::pin(cast.create_in("private", "cellar"))
    }),
    Row("PeopleService/JoinChannel", "by one that saw it", |cast| Box::pin(cast.join("square"))),
    Row("PeopleService/OpenDM", "of two people", |cast| Box::pin(cast.open_dm("ben"))),
    Row("CommsService/ReparentAgent", "below another, out of a tree", |cast| {
        Box::pin(cast.reparent("leaf", Some("other")))
    }),
    Row("CommsService/ReparentAgent", "to the top", |cast| Box::pin(cast.reparent("kid", None))),
    Row("CommsService/ReparentAgent", "into a tree", |cast| Box::pin(cast.reparent("other", Some("bot")))),
    Row("arm set_status", "nothing of it is in the snapshot", |cast| Box::pin(cast.set_status())),
];

/// The RPCs and arms that have a row.
pub fn covered() -> BTreeSet<&'static str> {
    ROWS.iter().map(|Row(call, ..)| *call).collect()
}

/// M6, EV-11, EV-12: three viewers that keep up with every call, and three that start over at the end.
pub async fn a_snapshot_and_the_events_after_it_are_the_later_snapshot(fixture: &Fixture) {
    let cast = Cast::new(fixture).await;
    let mut clients = Vec::new();
    for viewer in cast.viewers() {
        clients.push(Client::start(&cast, viewer).await);
    }
    for Row(call, what, step) in ROWS {
        step(&cast).await;
        let until = cast.canary().await;
        for client in &mut clients {
            client.follow(&cast, until).await;
            client.check(&cast, &format!("{call}, {what}")).await;
        }
    }
    for viewer in cast.viewers() {
        let mut late = Client::start(&cast, viewer).await;
        late.follow(&cast, cast.canary().await).await;
        late.check(&cast, "everything again over a newer snapshot").await;
    }
}

/// EV-9 to EV-11, M6: calls of three callers run side by side while clients come and go; what a call is refused
/// with does not matter here.
pub async fn clients_that_start_while_random_calls_run_reach_the_snapshot(fixture: &Fixture) {
    const CALLS: usize = 25;
    const SEED: u64 = 41;
    let cast = Arc::new(Cast::new(fixture).await);
    let mut clients = Vec::new();
    for round in 0..3 {
        let mut tasks = JoinSet::new();
        for (number, caller) in cast.viewers().into_iter().enumerate() {
            let (cast, caller) = (Arc::clone(&cast), caller.clone());
            let seed = SEED + 1000 * round + 100 * number as u64;
            tasks.spawn(async move {
                let mut draws = Draws(seed);
                for call in 0..CALLS {
                    cast.random_call(&caller, &mut draws, &format!("{seed}-{call}")).await;
                }
            });
        }
        for viewer in cast.viewers() {
            clients.push(Client::start(&cast, viewer).await);
        }
        tasks.join_all().await;
        let until = cast.canary().await;
        for client in &mut clients {
            client.follow(&cast, until).await;
            client.check(&cast, &format!("round {round} of seed {SEED}")).await;
        }
    }
}

/// The people and agents of the rows: `room` is ana's and bot's, `lobby` everyone's.
struct Cast {
    scene: Scene,
    comms: Comms,
    audiences: Arc<Audiences>,
    ana: Caller,
    ben: Caller,
    bot: Caller,
    anas: Account,
}

impl Cast {
    async fn new(fixture: &Fixture) -> Self {
        let scene = Scene::new(fixture);
        let (anas, ben) = (scene.admin("ana").await, scene.user("ben").await);
        let bot = scene.agent("bot", &anas).await;
        scene.channel("room", &[&anas, &bot]).await;
        scene.channel("lobby", &[&anas, &ben, &bot]).await;
        let (ana, ben, bot) = (scene.caller(&anas), scene.caller(&ben), scene.caller(&bot));
        let (comms, audiences) = (scene.comms(), Arc::default());
        Self { scene, comms, audiences, ana, ben, bot, anas }
    }

    fn viewers(&self) -> [&Caller; 3] {
        [&self.ana, &self.ben, &self.bot]
    }

    /// An event that everyone sees and that changes nothing; its seq.
    async fn canary(&self) -> u64 {
        let mut tap = self.scene.bus.tap();
        let canary = Event::AccountChanged(Arc::new(self.anas.clone()));
        self.scene.bus.publish(&self.scene.tenant, vec![canary.clone()]);
        let Next::Event(published) = tap.next().await else { panic!("the canary") };
        assert_eq!(published.event, canary, "nothing else happens meanwhile");
        published.seq
    }

    async fn create_user(&self, handle: &str) {
        let create = CreateUser { handle: handle.into(), display_name: "Cleo".into() };
        create_user(&self.comms, &self.ana, create).await.expect("a person");
    }

    async fn create_agent(&self, handle: &str, parent: Option<AccountId>) {
        let create = CreateAgent { handle: handle.into(), parent, ..CreateAgent::default() };
        create_agent(&self.comms, &self.ana, create).await.expect("an agent");
    }

    async fn create_channel(&self, by: &Caller, name: &str, members: Vec<&Caller>, mode: Mode) {
        let create = CreateChannel {
            name: name.into(),
            group: None,
            members: members.iter().map(|member| member.actor.id).collect(),
            member_handles: Vec::new(),
            mode,
        };
        create_channel(&self.comms, by, create).await.expect("a channel");
    }

    async fn update(&self, channel: &str, change: impl FnOnce(&mut UpdateMembers) + Send) {
        let mut update = UpdateMembers::of(ChannelRef::Name(channel.into()));
        change(&mut update);
        update_members(&self.comms, &self.ana, update).await.expect("the members change");
    }

    async fn say(&self, by: &Caller, channel: &str, text: &str) {
        self.post(by, channel, vec![drafts::text(text)]).await;
    }

    async fn ask(&self, channel: &str) {
        let ask = || DraftBlock::Ask(drafts::yes_or_no());
        self.post(&self.bot, channel, vec![ask(), ask()]).await;
    }

    async fn post(&self, by: &Caller, channel: &str, blocks: Vec<DraftBlock>) {
        let topic = TopicInput { name: Some("talk".into()), ..TopicInput::default() };
        let channel = ChannelRef::Name(channel.into());
        let post = PostMessage { channel, topic, blocks, client_request_id: String::new() };
        post_message(&self.comms, by, post).await.expect("a message");
    }

    async fn answer(&self) {
        let respond = RespondToAsk { ask: self.open_ask().await, answers: drafts::yes() };
        respond_to_ask(&self.comms, &self.ben, respond).await.expect("an answer");
    }

    async fn cancel(&self) {
        let cancel = CancelAsk { ask: self.open_ask().await };
        cancel_ask(&self.comms, &self.bot, cancel).await.expect("a cancel");
    }

    async fn update_topic(&self, channel: &str, topic: &str, name: Option<&str>, archived: Option<bool>) {
        let list = ListTopics { channel: ChannelRef::Name(channel.into()), include_archived: true };
        let listed = list_topics(&self.comms, &self.ana, list).await.expect("topics").topics;
        let found = listed.iter().find(|summary| summary.topic.name.as_str() == topic);
        let id = found.map(|summary| summary.topic.id);
        let update = UpdateTopic { topic: id, name: name.map(Into::into), archived };
        update_topic(&self.comms, &self.ana, update).await.expect("the topic changes");
    }

    async fn start(&self, channel: &str, topic: &str) {
        let topic = TopicInput { name: Some(topic.into()), ..TopicInput::default() };
        let (channel, blocks) = (ChannelRef::Name(channel.into()), vec![drafts::text("aside")]);
        let post = PostMessage { channel, topic, blocks, client_request_id: String::new() };
        post_message(&self.comms, &self.ben, post).await.expect("a message");
    }

    /// The channel of that name that ana sees.
    async fn named(&self, name: &str) -> Channel {
        let channels = list_channels(&self.comms, &self.ana).await.expect("channels");
        channels.into_iter().find(|channel| channel.name.as_str() == name).expect("the channel")
    }

    async fn pin(&self, channel: &str) {
        let channel = self.named(channel).await.id;
        let messages = messages_of(&self.comms, &self.ana, ChannelRef::Id(channel), None).await;
        let change = BoardChange::Pin { message: messages[0].id(), replace: None };
        update_board(&self.comms, &self.ana, UpdateBoard { channel, change }).await.expect("a pin");
    }

    async fn unpin(&self, channel: &str) {
        let channel = self.named(channel).await;
        let change = BoardChange::Unpin(channel.pins.first().map(|pin| pin.message));
        let update = UpdateBoard { channel: channel.id, change };
        update_board(&self.comms, &self.ana, update).await.expect("no pin");
    }

    async fn set_policy(&self, channel: &str, is_owned: bool) {
        let channel = self.named(channel).await.id;
        let owner = is_owned.then_some(self.anas.id);
        let set = SetPolicy { channel, owner_only: is_owned, owner, mandatory: is_owned };
        set_policy(&self.comms, &self.ana, set).await.expect("a policy");
    }

    async fn create_group(&self, name: &str, visibility: Visibility) {
        let create = CreateGroup { name: name.into(), parent: None, visibility };
        create_group(&self.comms, &self.ana, create).await.expect("a group");
    }

    async fn create_in(&self, group: &str, name: &str) {
        let create = CreateChannel {
            name: name.into(),
            group: Some(GroupRef::Name(group.into())),
            members: Vec::new(),
            member_handles: Vec::new(),
            mode: Mode::Flat,
        };
        create_channel(&self.comms, &self.ana, create).await.expect("a channel");
    }

    async fn join(&self, channel: &str) {
        let channel = self.named(channel).await.id;
        join_channel(&self.comms, &self.ben, channel).await.expect("ben joins");
    }

    async fn open_dm(&self, peer: &str) {
        open_dm(&self.comms, &self.ana, OpenDm { peer_handle: peer.into() }).await.expect("a conversation");
    }

    async fn reparent(&self, agent: &str, parent: Option<&str>) {
        let accounts = list_accounts(&self.comms, &self.ana).await.expect("accounts");
        let id = |handle: &str| {
            accounts.iter().find(|account| account.handle.as_str() == handle).map(|account| account.id)
        };
        let reparent = ReparentAgent { agent: id(agent), new_parent: parent.and_then(id) };
        reparent_agent(&self.comms, &self.ana, reparent).await.expect("the agent moves");
    }

    async fn set_status(&self) {
        let status = SetStatus { activity: "reading".into() };
        set_status(&self.comms, &self.bot, status).await.expect("a status");
    }

    /// One call of a caller in one of the channels it sees; many are refused.
    async fn random_call(&self, by: &Caller, draws: &mut Draws, name: &str) {
        let channels = list_channels(&self.comms, by).await.expect("channels");
        // Whoever was removed everywhere has nothing to do.
        let Some(channel) = draws.pick(&channels) else { return };
        let channel = ChannelRef::Id(channel.id);
        let accounts = list_accounts(&self.comms, by).await.expect("accounts");
        let anyone = |draws: &mut Draws| accounts[draws.below(accounts.len())].id;
        match draws.below(8) {
            0 => {
                let create = CreateAgent {
                    handle: format!("a{name}"),
                    parent: (draws.below(2) == 0).then(|| anyone(draws)),
                    ..CreateAgent::default()
                };
                drop(create_agent(&self.comms, by, create).await);
            }
            1 => {
                let mode =
                    if draws.below(2) == 0 { Mode::Flat } else { Mode::Tree { anchor: anyone(draws) } };
                let members = vec![anyone(draws), anyone(draws)];
                let create = CreateChannel {
                    name: name.into(),
                    group: None,
                    members,
                    member_handles: Vec::new(),
                    mode,
                };
                drop(create_channel(&self.comms, by, create).await);
            }
            2 | 3 => {
                let mut update = UpdateMembers::of(channel);
                update.add = vec![anyone(draws)];
                update.remove = vec![anyone(draws)];
                update.subscribe = vec![anyone(draws)];
                drop(update_members(&self.comms, by, update).await);
            }
            4 => self.random_end(by, draws).await,
            kind => {
                let blocks = match kind {
                    5 => vec![DraftBlock::Ask(drafts::yes_or_no()), DraftBlock::Ask(drafts::yes_or_no())],
                    _ => vec![drafts::text(name)],
                };
                let topic = format!("topic {}", draws.below(4));
                let topic = TopicInput { name: Some(topic), ..TopicInput::default() };
                let post = PostMessage { channel, topic, blocks, client_request_id: String::new() };
                drop(post_message(&self.comms, by, post).await);
            }
        }
    }

    /// Answers or withdraws an open ask of some channel.
    async fn random_end(&self, by: &Caller, draws: &mut Draws) {
        for channel in list_channels(&self.comms, by).await.expect("channels") {
            let messages = messages_of(&self.comms, by, ChannelRef::Id(channel.id), None).await;
            let open = messages.iter().flat_map(|message| message.asks()).find(|ask| ask.is_open());
            let Some(ask) = open.map(compass_domain::Ask::id) else { continue };
            if draws.below(2) == 0 {
                let respond = RespondToAsk { ask: Some(ask), answers: drafts::yes() };
                drop(respond_to_ask(&self.comms, by, respond).await);
            } else {
                drop(cancel_ask(&self.comms, by, CancelAsk { ask: Some(ask) }).await);
            }
            return;
        }
    }

    /// The first ask of the lobby that is open.
    async fn open_ask(&self) -> Option<AskId> {
        let messages = messages_of(&self.comms, &self.bot, ChannelRef::Name("lobby".into()), None).await;
        let open = messages.iter().flat_map(|message| message.asks()).find(|ask| ask.is_open());
        open.map(compass_domain::Ask::id)
    }
}

/// What a client shows.
#[derive(Debug, Default, PartialEq, Eq)]
struct View {
    accounts: BTreeMap<AccountId, Account>,
    groups: BTreeMap<GroupId, ChannelGroup>,
    channels: BTreeMap<ChannelId, Channel>,
    topics: BTreeMap<TopicId, TopicSummary>,
    messages: BTreeMap<MessageId, Arc<Message>>,
}

impl View {
    /// Everything the viewer may read, messages up to `snapshot`.
    async fn read(comms: &Comms, viewer: &Caller, snapshot: Option<Position>) -> Self {
        let mut view = Self::default();
        view.read_accounts(comms, viewer).await;
        let groups = list_groups(comms, viewer).await.expect("groups");
        view.groups = groups.into_iter().map(|group| (group.id, group)).collect();
        for channel in list_channels(comms, viewer).await.expect("channels") {
            view.read_channel(comms, viewer, channel.id, snapshot).await;
            view.channels.insert(channel.id, channel);
        }
        view
    }

    async fn read_accounts(&mut self, comms: &Comms, viewer: &Caller) {
        let accounts = list_accounts(comms, viewer).await.expect("accounts");
        self.accounts = accounts.into_iter().map(|account| (account.id, account)).collect();
    }

    async fn read_channel(
        &mut self,
        comms: &Comms,
        viewer: &Caller,
        channel: ChannelId,
        snapshot: Option<Position>,
    ) {
        let list = ListTopics { channel: ChannelRef::Id(channel), include_archived: true };
        match list_topics(comms, viewer, list).await {
            Ok(listed) => {
                self.topics.extend(listed.topics.into_iter().map(|summary| (summary.topic.id, summary)));
                let messages = messages_of(comms, viewer, ChannelRef::Id(channel), snapshot).await;
                self.messages.extend(messages.into_iter().map(|message| (message.id(), message)));
            }
            // Seen, and no more than that.
            Err(list_topics::Error::ChannelNotFound) => {}
            Err(error) => panic!("topics: {error}"),
        }
    }

    fn drop_channel(&mut self, channel: ChannelId) {
        self.channels.remove(&channel);
        self.topics.retain(|_, summary| summary.topic.channel != channel);
        self.messages.retain(|_, message| message.channel() != channel);
    }

    /// The topics with what the messages in hand say about them.
    fn counted(&self) -> BTreeMap<TopicId, TopicSummary> {
        self.topics.iter().map(|(id, summary)| (*id, self.count(summary))).collect()
    }

    fn count(&self, summary: &TopicSummary) -> TopicSummary {
        let mut messages: Vec<&Arc<Message>> =
            self.messages.values().filter(|message| message.topic() == summary.topic.id).collect();
        messages.sort_by_key(|message| message.seq());
        let mut topic = (*summary.topic).clone();
        topic.message_count = messages.len() as u64;
        topic.last_seq = messages.last().map_or(topic.last_seq, |message| message.seq());
        topic.last_activity = messages.iter().map(|message| message.at()).max().unwrap_or(UnixMillis(0));
        topic.run = told_of(topic.run);
        topic.participants.clear();
        for message in &messages {
            let is_new = !topic.participants.contains(&message.author());
            if is_new && topic.participants.len() < LISTED_PARTICIPANTS {
                topic.participants.push(message.author());
            }
        }
        let open = messages.iter().flat_map(|message| message.asks()).filter(|ask| ask.is_open()).count();
        TopicSummary { topic: Arc::new(topic), open_asks: u32::try_from(open).expect("few asks") }
    }
}

async fn messages_of(
    comms: &Comms,
    viewer: &Caller,
    channel: ChannelRef,
    snapshot: Option<Position>,
) -> Vec<Arc<Message>> {
    let list = ListMessages { channel, topic: None, topic_name: None, before: None, limit: 200, snapshot };
    let messages = list_messages(comms, viewer, list).await.expect("messages");
    assert!(messages.len() < 200, "one page holds all");
    messages
}

/// What a client is told of a run, which the server alone counts: whether it brakes.
fn told_of(run: AgentRun) -> AgentRun {
    AgentRun { length: if run.is_braked() { AGENT_MESSAGES } else { 0 }, person: Seq(0) }
}

/// One viewer's client.
struct Client {
    viewer: Caller,
    view: View,
    stream: EventStream,
}

impl Client {
    /// Subscribes, then reads.
    async fn start(cast: &Cast, viewer: &Caller) -> Self {
        let start = SubscribeFrom::default();
        let mut stream = subscribe(&cast.comms, &cast.audiences, viewer, start).await;
        let StreamItem::Boundary { snapshot, .. } = stream.next().await else { panic!("a boundary") };
        let snapshot = (snapshot != Position(0)).then_some(snapshot);
        let view = View::read(&cast.comms, viewer, snapshot).await;
        Self { viewer: viewer.clone(), view, stream }
    }

    /// Applies what comes up to the canary.
    async fn follow(&mut self, cast: &Cast, until: u64) {
        loop {
            let item = timeout(PATIENCE, self.stream.next()).await;
            let Ok(StreamItem::Event(published)) = item else { panic!("an event, not {item:?}") };
            self.apply(cast, &published.event).await;
            if published.seq >= until {
                assert_eq!(published.seq, until, "everyone sees the canary");
                return;
            }
        }
    }

    async fn apply(&mut self, cast: &Cast, event: &Event) {
        match event {
            Event::MessagePosted(message) | Event::MessageUpdated(message) => {
                self.view.messages.insert(message.id(), Arc::clone(message));
            }
            Event::TopicUpserted(topic) => {
                let summary = TopicSummary { topic: Arc::clone(topic), open_asks: 0 };
                self.view.topics.insert(topic.id, summary);
            }
            Event::TopicMerged { from, into } => {
                self.view.topics.remove(from);
                self.view.read_channel(&cast.comms, &self.viewer, into.channel, None).await;
            }
            Event::ChannelChanged { channel, removed } if removed.contains(&self.viewer.actor.id) => {
                self.view.drop_channel(channel.id);
                self.view.read_accounts(&cast.comms, &self.viewer).await;
            }
            Event::ChannelChanged { channel, removed } => {
                self.channel_changed(cast, channel).await;
                // Who takes part in a tree is not all in its list of members.
                if !removed.is_empty() || matches!(channel.mode, MembershipMode::Tree { .. }) {
                    self.view.read_accounts(&cast.comms, &self.viewer).await;
                }
            }
            Event::AccountChanged(account) => {
                self.view.accounts.insert(account.id, Account::clone(account));
            }
            Event::ChannelGroupChanged(group) => {
                self.view.groups.insert(group.id, ChannelGroup::clone(group));
            }
            Event::AgentPresenceChanged { .. } | Event::ReadPositionChanged { .. } => {}
            Event::MessageSettled { .. }
            | Event::ActivityChanged { .. }
            | Event::AgentSessionChanged { .. } => {
                panic!("{event:?} is nobody's here")
            }
        }
    }

    async fn channel_changed(&mut self, cast: &Cast, channel: &Channel) {
        let members = |channel: &Channel| -> BTreeSet<AccountId> {
            channel.members.iter().map(|member| member.account).collect()
        };
        let before = self.view.channels.insert(channel.id, channel.clone());
        let is_member = |channel: &Channel| members(channel).contains(&self.viewer.actor.id);
        if before.as_ref().is_none_or(|before| !is_member(before) && is_member(channel)) {
            self.view.read_channel(&cast.comms, &self.viewer, channel.id, None).await;
        }
        if before.is_none_or(|before| members(&before) != members(channel)) {
            self.view.read_accounts(&cast.comms, &self.viewer).await;
        }
    }

    async fn check(&self, cast: &Cast, after: &str) {
        let fresh = View::read(&cast.comms, &self.viewer, None).await;
        let who = &self.viewer.actor.id;
        assert_eq!(self.view.accounts, fresh.accounts, "accounts of {who} after {after}");
        assert_eq!(self.view.groups, fresh.groups, "groups of {who} after {after}");
        assert_eq!(self.view.channels, fresh.channels, "channels of {who} after {after}");
        assert_eq!(self.view.messages, fresh.messages, "messages of {who} after {after}");
        let told = fresh.topics.into_iter().map(|(id, TopicSummary { topic, open_asks })| {
            let topic = Topic { run: told_of(topic.run), ..Topic::clone(&topic) };
            (id, TopicSummary { topic: Arc::new(topic), open_asks })
        });
        let told: BTreeMap<TopicId, TopicSummary> = told.collect();
        assert_eq!(self.view.counted(), told, "topics of {who} after {after}");
    }
}
