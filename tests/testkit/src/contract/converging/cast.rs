//! People and agents, and every call they make.

use std::sync::Arc;

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
    events::Audiences,
    groups::{
        create_group::{CreateGroup, create_group},
        resolve::GroupRef,
    },
    messages::post_message::{PostMessage, TopicInput, post_message},
    topics::{
        list_topics::{ListTopics, list_topics},
        update_topic::{UpdateTopic, update_topic},
    },
};
use compass_domain::{Account, AccountId, AskId, Channel, Event, group::Visibility, message::DraftBlock};
use compass_ports::Next;

use super::super::channels::Draws;
use super::client::messages_of;
use crate::{Fixture, Scene, drafts};

/// The people and agents of the rows: `room` is ana's and bot's, `lobby` everyone's.
pub(super) struct Cast {
    pub(super) scene: Scene,
    pub(super) comms: Comms,
    pub(super) audiences: Arc<Audiences>,
    pub(super) ana: Caller,
    pub(super) ben: Caller,
    pub(super) bot: Caller,
    pub(super) anas: Account,
}

impl Cast {
    pub(super) async fn new(fixture: &Fixture) -> Self {
        let scene = Scene::new(fixture);
        let (anas, ben) = (scene.admin("ana").await, scene.user("ben").await);
        let bot = scene.agent("bot", &anas).await;
        scene.channel("room", &[&anas, &bot]).await;
        scene.channel("lobby", &[&anas, &ben, &bot]).await;
        let (ana, ben, bot) = (scene.caller(&anas), scene.caller(&ben), scene.caller(&bot));
        let (comms, audiences) = (scene.comms(), Arc::default());
        Self { scene, comms, audiences, ana, ben, bot, anas }
    }

    pub(super) fn viewers(&self) -> [&Caller; 3] {
        [&self.ana, &self.ben, &self.bot]
    }

    /// An event that everyone sees and that changes nothing; its seq.
    pub(super) async fn canary(&self) -> u64 {
        let mut tap = self.scene.bus.tap();
        let canary = Event::AccountChanged(Arc::new(self.anas.clone()));
        self.scene.bus.publish(&self.scene.tenant, vec![canary.clone()]);
        let Next::Event(published) = tap.next().await else { panic!("the canary") };
        assert_eq!(published.event, canary, "nothing else happens meanwhile");
        published.seq
    }

    pub(super) async fn create_user(&self, handle: &str) {
        let create = CreateUser { handle: handle.into(), display_name: "Cleo".into() };
        create_user(&self.comms, &self.ana, create).await.expect("a person");
    }

    pub(super) async fn create_agent(&self, handle: &str, parent: Option<AccountId>) {
        let create = CreateAgent { handle: handle.into(), parent, ..CreateAgent::default() };
        create_agent(&self.comms, &self.ana, create).await.expect("an agent");
    }

    pub(super) async fn create_channel(&self, by: &Caller, name: &str, members: Vec<&Caller>, mode: Mode) {
        let create = CreateChannel {
            name: name.into(),
            group: None,
            members: members.iter().map(|member| member.actor.id).collect(),
            member_handles: Vec::new(),
            mode,
        };
        create_channel(&self.comms, by, create).await.expect("a channel");
    }

    pub(super) async fn update(&self, channel: &str, change: impl FnOnce(&mut UpdateMembers) + Send) {
        let mut update = UpdateMembers::of(ChannelRef::Name(channel.into()));
        change(&mut update);
        update_members(&self.comms, &self.ana, update).await.expect("the members change");
    }

    pub(super) async fn say(&self, by: &Caller, channel: &str, text: &str) {
        self.post(by, channel, vec![drafts::text(text)]).await;
    }

    pub(super) async fn ask(&self, channel: &str) {
        let ask = || DraftBlock::Ask(drafts::yes_or_no());
        self.post(&self.bot, channel, vec![ask(), ask()]).await;
    }

    pub(super) async fn post(&self, by: &Caller, channel: &str, blocks: Vec<DraftBlock>) {
        let topic = TopicInput { name: Some("talk".into()), ..TopicInput::default() };
        let channel = ChannelRef::Name(channel.into());
        let post = PostMessage { channel, topic, blocks, client_request_id: String::new() };
        post_message(&self.comms, by, post).await.expect("a message");
    }

    pub(super) async fn answer(&self) {
        let respond = RespondToAsk { ask: self.open_ask().await, answers: drafts::yes() };
        respond_to_ask(&self.comms, &self.ben, respond).await.expect("an answer");
    }

    pub(super) async fn cancel(&self) {
        let cancel = CancelAsk { ask: self.open_ask().await };
        cancel_ask(&self.comms, &self.bot, cancel).await.expect("a cancel");
    }

    pub(super) async fn update_topic(
        &self,
        channel: &str,
        topic: &str,
        name: Option<&str>,
        archived: Option<bool>,
    ) {
        let list = ListTopics { channel: ChannelRef::Name(channel.into()), include_archived: true };
        let listed = list_topics(&self.comms, &self.ana, list).await.expect("topics").topics;
        let found = listed.iter().find(|summary| summary.topic.name.as_str() == topic);
        let id = found.map(|summary| summary.topic.id);
        let update = UpdateTopic { topic: id, name: name.map(Into::into), archived };
        update_topic(&self.comms, &self.ana, update).await.expect("the topic changes");
    }

    pub(super) async fn start(&self, channel: &str, topic: &str) {
        let topic = TopicInput { name: Some(topic.into()), ..TopicInput::default() };
        let (channel, blocks) = (ChannelRef::Name(channel.into()), vec![drafts::text("aside")]);
        let post = PostMessage { channel, topic, blocks, client_request_id: String::new() };
        post_message(&self.comms, &self.ben, post).await.expect("a message");
    }

    /// The channel of that name that ana sees.
    pub(super) async fn named(&self, name: &str) -> Channel {
        let channels = list_channels(&self.comms, &self.ana).await.expect("channels");
        channels.into_iter().find(|channel| channel.name.as_str() == name).expect("the channel")
    }

    pub(super) async fn pin(&self, channel: &str) {
        let channel = self.named(channel).await.id;
        let messages = messages_of(&self.comms, &self.ana, ChannelRef::Id(channel), None).await;
        let change = BoardChange::Pin { message: messages[0].id(), replace: None };
        update_board(&self.comms, &self.ana, UpdateBoard { channel, change }).await.expect("a pin");
    }

    pub(super) async fn unpin(&self, channel: &str) {
        let channel = self.named(channel).await;
        let change = BoardChange::Unpin(channel.pins.first().map(|pin| pin.message));
        let update = UpdateBoard { channel: channel.id, change };
        update_board(&self.comms, &self.ana, update).await.expect("no pin");
    }

    pub(super) async fn set_policy(&self, channel: &str, is_owned: bool) {
        let channel = self.named(channel).await.id;
        let owner = is_owned.then_some(self.anas.id);
        let set = SetPolicy { channel, owner_only: is_owned, owner, mandatory: is_owned };
        set_policy(&self.comms, &self.ana, set).await.expect("a policy");
    }

    pub(super) async fn create_group(&self, name: &str, visibility: Visibility) {
        let create = CreateGroup { name: name.into(), parent: None, visibility };
        create_group(&self.comms, &self.ana, create).await.expect("a group");
    }

    pub(super) async fn create_in(&self, group: &str, name: &str) {
        let create = CreateChannel {
            name: name.into(),
            group: Some(GroupRef::Name(group.into())),
            members: Vec::new(),
            member_handles: Vec::new(),
            mode: Mode::Flat,
        };
        create_channel(&self.comms, &self.ana, create).await.expect("a channel");
    }

    pub(super) async fn join(&self, channel: &str) {
        let channel = self.named(channel).await.id;
        join_channel(&self.comms, &self.ben, channel).await.expect("ben joins");
    }

    pub(super) async fn open_dm(&self, peer: &str) {
        open_dm(&self.comms, &self.ana, OpenDm { peer_handle: peer.into() }).await.expect("a conversation");
    }

    pub(super) async fn reparent(&self, agent: &str, parent: Option<&str>) {
        let accounts = list_accounts(&self.comms, &self.ana).await.expect("accounts");
        let id = |handle: &str| {
            accounts.iter().find(|account| account.handle.as_str() == handle).map(|account| account.id)
        };
        let reparent = ReparentAgent { agent: id(agent), new_parent: parent.and_then(id) };
        reparent_agent(&self.comms, &self.ana, reparent).await.expect("the agent moves");
    }

    pub(super) async fn set_status(&self) {
        let status = SetStatus { activity: "reading".into() };
        set_status(&self.comms, &self.bot, status).await.expect("a status");
    }

    /// One call of a caller in one of the channels it sees; many are refused.
    pub(super) async fn random_call(&self, by: &Caller, draws: &mut Draws, name: &str) {
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
    pub(super) async fn random_end(&self, by: &Caller, draws: &mut Draws) {
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
    pub(super) async fn open_ask(&self) -> Option<AskId> {
        let messages = messages_of(&self.comms, &self.bot, ChannelRef::Name("lobby".into()), None).await;
        let open = messages.iter().flat_map(|message| message.asks()).find(|ask| ask.is_open());
        open.map(compass_domain::Ask::id)
    }
}
