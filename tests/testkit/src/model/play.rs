//! One sequence against one empty tenant: draws the arguments of each step, makes the call, and holds what came
//! against the model.

use std::sync::Arc;

use compass_comms::{
    Caller, Comms,
    channels::resolve::ChannelRef,
    events::{Audiences, EventStream},
};
use compass_domain::{
    AccountId, Actor, ActorKind, ChannelId, Classified, ErrorKind, MessageId, TenantId, TopicId, UserRole,
};

use super::{
    state::{Kind, State, folded},
    step::{Dice, Step, Use},
};
use crate::Scene;

/// Names of channels and groups.
pub(super) const NAMES: &[&str] = &["hall", "Lab", "den", "one-coordination", "Hall ", "lab", "", "team"];

/// A sequence that is played.
pub(super) struct Play {
    /// The node that takes the step.
    pub(super) comms: Comms,
    /// Two nodes over the same rows.
    nodes: [Comms; 2],
    pub(super) tenant: TenantId,
    pub(super) state: State,
    /// What was called, and what came of it.
    pub(super) log: Vec<String>,
    /// True if the call before was refused, as the model said.
    pub(super) was_refused: bool,
    pub(super) audiences: Arc<Audiences>,
    /// Subscribers, not heard yet.
    pub(super) streams: Vec<(AccountId, EventStream)>,
    /// Messages that were posted or changed, in order.
    pub(super) told: Vec<MessageId>,
}

/// Why a call was refused.
#[derive(Debug)]
pub(super) struct Refusal {
    kind: ErrorKind,
    text: String,
}

/// What a caller of the product is told when it is refused.
pub(super) fn refusal(error: &impl Classified) -> Refusal {
    Refusal { kind: error.kind(), text: error.to_string() }
}

/// Makes a call, directly or through the relay, and yields its value or its [`Refusal`].
macro_rules! call {
    ($play:expr, $who:expr, $is_relayed:expr, $arm:ident, $use_case:path, $input:expr) => {{
        let (caller, input) = ($play.caller($who), $input);
        $play.note($who, $is_relayed, &input);
        if $is_relayed {
            let call = compass_comms::relay_union::Call::$arm(input);
            match compass_comms::relay_union::call(&$play.comms, &caller, call).await {
                Ok(compass_comms::relay_union::CallOutcome::$arm(value)) => Ok(value),
                Ok(other) => panic!("the outcome of another arm: {other:?}"),
                Err(error) => Err($crate::model::play::refusal(&error)),
            }
        } else {
            let came = $use_case(&$play.comms, &caller, input).await;
            came.map_err(|error| $crate::model::play::refusal(&error))
        }
    }};
}
pub(super) use call;

impl Play {
    pub(super) fn new(scene: &Scene) -> Self {
        let nodes = [scene.comms(), scene.comms_over(&scene.second)];
        Self {
            comms: nodes[0].clone(),
            nodes,
            tenant: scene.tenant.clone(),
            state: State::default(),
            log: Vec::new(),
            was_refused: false,
            audiences: Arc::default(),
            streams: Vec::new(),
            told: Vec::new(),
        }
    }

    /// The account as a door hands it to a use case.
    pub(super) fn caller(&self, who: AccountId) -> Caller {
        let kind = match self.state.who(who).expect("a caller has an account").kind {
            Kind::Person { is_admin: true } => ActorKind::User { role: UserRole::Admin },
            Kind::Person { is_admin: false } => ActorKind::User { role: UserRole::Member },
            Kind::Bot { owner, .. } => ActorKind::Agent { owner },
            Kind::System => ActorKind::System,
        };
        Caller { tenant: self.tenant.clone(), actor: Actor { id: who, kind } }
    }

    /// Writes down a call.
    pub(super) fn note(&mut self, who: AccountId, is_relayed: bool, input: &impl std::fmt::Debug) {
        let handle = self.state.who(who).map_or("?", |who| &who.handle);
        let by = if is_relayed { "through the relay" } else { "directly" };
        self.log.push(format!("{handle} {by}: {input:?}"));
    }

    /// Holds what came against what the model expects; the values if both allow the call.
    pub(super) fn settle<E, R>(
        &mut self,
        expected: Result<E, ErrorKind>,
        came: Result<R, Refusal>,
    ) -> Option<(E, R)> {
        match (expected, came) {
            (Ok(expected), Ok(came)) => Some((expected, came)),
            (Err(expected), Err(came)) => {
                self.log.push(format!("  refused: {:?}, {}", came.kind, came.text));
                assert_eq!(came.kind, expected, "the product refuses it otherwise: {}", came.text);
                self.was_refused = true;
                None
            }
            (Ok(_), Err(came)) => {
                panic!("the model allows it, the product refuses: {:?}, {}", came.kind, came.text)
            }
            (Err(expected), Ok(_)) => panic!("the model refuses it: {expected:?}, the product allows it"),
        }
    }

    /// Only agents call through the relay.
    pub(super) fn gate(&self, who: AccountId, is_relayed: bool) -> Result<(), ErrorKind> {
        if is_relayed && !self.state.is_bot(who) { Err(ErrorKind::FailedPrecondition) } else { Ok(()) }
    }

    /// Plays a step.
    pub(super) async fn play(&mut self, step: &Step) {
        let dice = &mut Dice::new(&step.dice);
        self.comms = self.nodes[dice.below(2)].clone();
        match step.which {
            Use::CreateUser => self.draw_create_user(dice).await,
            Use::CreateAgent => self.draw_create_agent(dice).await,
            Use::ListAccounts => self.draw_list_accounts(dice).await,
            Use::CreateGroup => self.draw_create_group(dice, false).await,
            Use::RelayCreateGroup => self.draw_create_group(dice, true).await,
            Use::ListGroups => self.draw_list_groups(dice).await,
            Use::ListChannels => self.draw_list_channels(dice).await,
            Use::CreateChannel => self.draw_create_channel(dice, false).await,
            Use::RelayCreateChannel => self.draw_create_channel(dice, true).await,
            Use::UpdateMembers => self.draw_update_members(dice, false).await,
            Use::RelayUpdateMembers => self.draw_update_members(dice, true).await,
            Use::ReparentAgent => self.draw_reparent(dice).await,
            Use::ListMessages => self.draw_list_messages(dice, false).await,
            Use::RelayList => self.draw_list_messages(dice, true).await,
            Use::PostMessage => self.draw_post(dice, false).await,
            Use::RelayPost => self.draw_post(dice, true).await,
            Use::ListTopics => self.draw_list_topics(dice, false).await,
            Use::RelayListTopics => self.draw_list_topics(dice, true).await,
            Use::UpdateTopic => self.draw_update_topic(dice).await,
            Use::RespondToAsk => self.draw_respond(dice).await,
            Use::RelayCancelAsk => self.draw_cancel(dice).await,
            Use::SearchMessages => self.draw_search(dice).await,
            Use::SetPolicy => self.draw_set_policy(dice).await,
            Use::GetRoster => self.draw_roster(dice, false).await,
            Use::RelayRoster => self.draw_roster(dice, true).await,
            Use::RelaySetStatus => self.draw_set_status(dice).await,
            Use::UpdateBoard => self.draw_update_board(dice, false).await,
            Use::RelayPin => self.draw_update_board(dice, true).await,
            Use::Subscribe => self.draw_subscribe(dice).await,
            Use::OpenDm => self.draw_open_dm(dice, false).await,
            Use::RelayOpenDm => self.draw_open_dm(dice, true).await,
            Use::JoinChannel => self.draw_join(dice).await,
            Use::ListOpenAsks => self.draw_list_open_asks(dice).await,
            Use::ReadPositions => self.draw_read_positions(dice).await,
            Use::MarkRead => self.draw_mark_read(dice).await,
        }
    }

    /// Everyone who can call, in the order they came.
    pub(super) fn callers(&self) -> Vec<AccountId> {
        let can = |who: &&super::state::Who| who.kind != Kind::System;
        self.state.accounts.iter().filter(can).map(|who| who.id).collect()
    }

    /// Who calls; mostly an agent if the call is relayed.
    pub(super) fn draw_caller(&self, dice: &mut Dice<'_>, is_relayed: bool) -> AccountId {
        let callers = self.callers();
        let is_bot = |who: &AccountId| self.state.is_bot(*who);
        if is_relayed && !dice.once_in(8) {
            let bots: Vec<AccountId> = callers.iter().copied().filter(is_bot).collect();
            return dice.one(&bots);
        }
        self.draw_busy(dice, &callers)
    }

    /// One of the accounts, rarely one that takes part nowhere.
    fn draw_busy(&self, dice: &mut Dice<'_>, accounts: &[AccountId]) -> AccountId {
        let drawn = dice.one(accounts);
        if self.state.places_of(drawn).is_empty() { dice.one(accounts) } else { drawn }
    }

    /// A caller that is mostly a person.
    pub(super) fn draw_person(&self, dice: &mut Dice<'_>) -> AccountId {
        let callers = self.callers();
        if dice.once_in(8) {
            return dice.one(&callers);
        }
        let people: Vec<AccountId> = callers.into_iter().filter(|who| self.state.is_person(*who)).collect();
        self.draw_busy(dice, &people)
    }

    /// Any account, the built-in one and one that does not exist among them.
    pub(super) fn draw_account(&self, dice: &mut Dice<'_>) -> AccountId {
        let mut all: Vec<AccountId> = self.state.accounts.iter().map(|who| who.id).collect();
        if dice.once_in(12) {
            all = vec![AccountId::from_bytes([0xee; 16])];
        }
        dice.one(&all)
    }

    /// A channel, mostly one in which the caller takes part.
    pub(super) fn draw_channel(&self, dice: &mut Dice<'_>, who: AccountId) -> ChannelId {
        if dice.once_in(16) {
            return ChannelId::from_bytes([0xee; 16]);
        }
        let all: Vec<ChannelId> = self.state.places.iter().map(|place| place.id).collect();
        let (mine, is_mine) = (self.state.places_of(who), dice.below(6) < 5);
        dice.pick(if is_mine { &mine } else { &all }).unwrap_or_else(|| all[0])
    }

    /// A channel by id, by name or as the caller's home.
    pub(super) fn draw_channel_ref(&self, dice: &mut Dice<'_>, who: AccountId) -> ChannelRef {
        match dice.below(8) {
            5 if self.state.is_bot(who) || dice.once_in(4) => ChannelRef::Home,
            0..6 => ChannelRef::Id(self.draw_channel(dice, who)),
            _ => {
                let channel = self.draw_channel(dice, who);
                let name = self.state.place(channel).map_or("nowhere", |place| &place.name);
                ChannelRef::Name(if dice.once_in(3) { name.to_uppercase() } else { name.to_owned() })
            }
        }
    }

    /// A channel in which something was said, mostly one in which the caller takes part.
    pub(super) fn draw_busy_channel(&self, dice: &mut Dice<'_>, who: AccountId) -> ChannelId {
        let busy = |id: &ChannelId| self.state.threads.iter().any(|thread| thread.channel == *id);
        let mine: Vec<ChannelId> = self.state.places_of(who).into_iter().filter(busy).collect();
        let is_mine = dice.below(6) < 5;
        dice.pick(&mine).filter(|_| is_mine).unwrap_or_else(|| self.draw_channel(dice, who))
    }

    /// A topic, mostly of the channel.
    pub(super) fn draw_topic(&self, dice: &mut Dice<'_>, channel: Option<ChannelId>) -> TopicId {
        let threads = self.state.threads.iter();
        let is_any = dice.once_in(12);
        let near = threads.filter(|thread| is_any || channel.is_none_or(|channel| thread.channel == channel));
        let near: Vec<TopicId> = near.map(|thread| thread.id).collect();
        if dice.once_in(16) {
            return TopicId::from_bytes([0xee; 16]);
        }
        dice.pick(&near).unwrap_or(TopicId::from_bytes([0xee; 16]))
    }

    /// A message, mostly of the channel.
    pub(super) fn draw_message(&self, dice: &mut Dice<'_>, channel: Option<ChannelId>) -> MessageId {
        let messages = self.state.messages.iter();
        let is_any = dice.once_in(12);
        let near =
            messages.filter(|message| is_any || channel.is_none_or(|channel| message.channel == channel));
        let near: Vec<MessageId> = near.map(|message| message.id).collect();
        if dice.once_in(16) {
            return MessageId::from_bytes([0xee; 16]);
        }
        dice.pick(&near).unwrap_or(MessageId::from_bytes([0xee; 16]))
    }

    /// The channel that a reference means, as the caller may name it.
    pub(super) fn meant(&self, who: AccountId, channel: &ChannelRef) -> Result<ChannelId, ErrorKind> {
        match channel {
            ChannelRef::Id(id) => Ok(*id),
            ChannelRef::Home => self.state.home_of(who).ok_or(ErrorKind::FailedPrecondition),
            ChannelRef::Name(name) => {
                let name = folded(name);
                if name.is_empty() {
                    return Err(ErrorKind::InvalidArgument);
                }
                let named =
                    |id: &ChannelId| self.state.place(*id).is_some_and(|place| folded(&place.name) == name);
                match self.state.places_of(who).into_iter().filter(named).collect::<Vec<_>>()[..] {
                    [] => Err(ErrorKind::NotFound),
                    [one] => Ok(one),
                    _ => Err(ErrorKind::InvalidArgument),
                }
            }
        }
    }
}
