//! What the model remembers, and the few rules that many calls share. Nothing here asks the rules of the product.

use std::collections::BTreeMap;

use compass_domain::{
    AccountId, AskId, BlockView, Channel, ChannelId, GroupId, Message, MessageId, Position, TopicId,
    ask::{AskDraft, AskState, OptionDraft, QuestionDraft},
    channel::{ChannelKind, MembershipMode},
    message::DraftBlock,
};

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) id: AccountId,
    pub(super) handle: String,
    pub(super) display_name: String,
    pub(super) kind: Kind,
}

/// What an account is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Person { is_admin: bool },
    Bot { owner: AccountId, home: ChannelId, parent: Option<AccountId> },
    System,
}

/// A group of channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) id: GroupId,
    pub(super) name: String,
    pub(super) parent: Option<GroupId>,
    pub(super) owner: AccountId,
    pub(super) is_shared: bool,
}

/// A channel, as a viewer is told of it, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) id: ChannelId,
    pub(super) name: String,
    pub(super) group: Option<GroupId>,
    pub(super) is_direct: bool,
    pub(super) anchor: Option<AccountId>,
    /// Who alone may post.
    pub(super) owner: Option<AccountId>,
    pub(super) is_mandatory: bool,
    /// Rows, in the order they came, and whether they are subscribed.
    pub(super) members: Vec<(AccountId, bool)>,
    /// Subscribed without a row, by account.
    pub(super) choosers: Vec<AccountId>,
    /// Pinned messages and who pinned them, in the order of the board.
    pub(super) pins: Vec<(MessageId, AccountId)>,
}

/// A topic; what its messages say of it is not kept but counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) id: TopicId,
    pub(super) channel: ChannelId,
    pub(super) name: String,
    pub(super) created_by: AccountId,
    pub(super) is_archived: bool,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) id: MessageId,
    pub(super) channel: ChannelId,
    pub(super) topic: TopicId,
    pub(super) author: AccountId,
    pub(super) seq: u64,
    pub(super) blocks: Vec<Part>,
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Ask(Asked),
    Answer { ask: Asked, asker: AccountId },
}

/// An ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) id: AskId,
    pub(super) questions: Vec<QuestionDraft>,
    pub(super) end: End,
}

/// How an ask stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Open,
    /// What was chosen and written for each question, and by whom.
    Answered(Vec<(Vec<String>, String)>, AccountId),
    Cancelled,
}

/// A topic as a post names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Id(TopicId),
    Name { name: String, existing_only: bool },
}

/// What a key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) channel: ChannelId,
    pub(super) target: Target,
    pub(super) blocks: Vec<DraftBlock>,
    pub(super) message: MessageId,
}

/// Everything that was said and done.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) accounts: Vec<Who>,
    pub(super) activities: BTreeMap<AccountId, String>,
    pub(super) groups: Vec<Group>,
    pub(super) places: Vec<Place>,
    /// Who without a row chose to be subscribed in a tree, or not to be.
    pub(super) choices: BTreeMap<(ChannelId, AccountId), bool>,
    /// Direct conversations by their two, the lower id first.
    pub(super) directs: BTreeMap<(AccountId, AccountId), ChannelId>,
    /// Whoever had a direct conversation at any time; an aid to drawing.
    pub(super) pairs: Vec<(AccountId, AccountId)>,
    /// The rooms in which managers talk to their reports.
    pub(super) rooms: BTreeMap<AccountId, ChannelId>,
    pub(super) threads: Vec<Thread>,
    /// In the order they were posted, over all channels.
    pub(super) messages: Vec<Said>,
    pub(super) keys: BTreeMap<(AccountId, String), Used>,
    pub(super) reads: BTreeMap<(TopicId, AccountId), u64>,
    /// Where the topics of a channel went that were joined to others.
    pub(super) moved: BTreeMap<(ChannelId, TopicId), TopicId>,
    /// Positions with the number of messages there were.
    pub(super) snapshots: Vec<(Position, usize)>,
}

/// Names are compared without case and outer blanks.
pub(super) fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

impl State {
    pub(super) fn who(&self, id: AccountId) -> Option<&Who> {
        self.accounts.iter().find(|who| who.id == id)
    }

    pub(super) fn by_handle(&self, handle: &str) -> Option<&Who> {
        self.accounts.iter().find(|who| who.handle == handle)
    }

    pub(super) fn is_person(&self, id: AccountId) -> bool {
        self.who(id).is_some_and(|who| matches!(who.kind, Kind::Person { .. }))
    }

    pub(super) fn is_bot(&self, id: AccountId) -> bool {
        self.owner_of(id).is_some()
    }

    /// The person who owns an agent.
    pub(super) fn owner_of(&self, bot: AccountId) -> Option<AccountId> {
        match self.who(bot)?.kind {
            Kind::Bot { owner, .. } => Some(owner),
            _ => None,
        }
    }

    /// The person an account acts for: an agent's owner, else itself.
    pub(super) fn principal(&self, id: AccountId) -> AccountId {
        self.owner_of(id).unwrap_or(id)
    }

    pub(super) fn parent_of(&self, bot: AccountId) -> Option<AccountId> {
        match self.who(bot)?.kind {
            Kind::Bot { parent, .. } => parent,
            _ => None,
        }
    }

    pub(super) fn home_of(&self, bot: AccountId) -> Option<ChannelId> {
        match self.who(bot)?.kind {
            Kind::Bot { home, .. } => Some(home),
            _ => None,
        }
    }

    /// True if `bot` is `top` or stands somewhere below it.
    pub(super) fn is_below(&self, bot: AccountId, top: AccountId) -> bool {
        std::iter::successors(Some(bot), |at| self.parent_of(*at)).any(|at| at == top)
    }

    pub(super) fn place(&self, id: ChannelId) -> Option<&Place> {
        self.places.iter().find(|place| place.id == id)
    }

    pub(super) fn place_mut(&mut self, id: ChannelId) -> &mut Place {
        self.places.iter_mut().find(|place| place.id == id).expect("the model knows the channel")
    }

    pub(super) fn has_row(&self, who: AccountId, channel: ChannelId) -> bool {
        self.place(channel).is_some_and(|place| place.members.iter().any(|(member, _)| *member == who))
    }

    /// True if the account takes part by where it stands in the tree.
    pub(super) fn stands_in(&self, who: AccountId, channel: ChannelId) -> bool {
        let anchor = self.place(channel).and_then(|place| place.anchor);
        anchor.is_some_and(|anchor| self.is_below(who, anchor) || self.owner_of(anchor) == Some(who))
    }

    pub(super) fn takes_part(&self, who: AccountId, channel: ChannelId) -> bool {
        self.has_row(who, channel) || self.stands_in(who, channel)
    }

    /// The channels in which an account takes part.
    pub(super) fn places_of(&self, who: AccountId) -> Vec<ChannelId> {
        let ids = self.places.iter().map(|place| place.id);
        ids.filter(|id| self.takes_part(who, *id)).collect()
    }

    pub(super) fn sees_account(&self, viewer: AccountId, other: AccountId) -> bool {
        let Some(seen) = self.who(other) else { return false };
        viewer == other
            || matches!(seen.kind, Kind::Person { .. })
            || self.owner_of(other) == Some(viewer)
            || self.places_of(viewer).iter().any(|channel| self.takes_part(other, *channel))
    }

    pub(super) fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.iter().find(|group| group.id == id)
    }

    /// True if the group and everything it stands in is shared.
    pub(super) fn is_shared(&self, id: GroupId) -> bool {
        let mut chain = std::iter::successors(self.group(id), |group| self.group(group.parent?));
        chain.all(|group| group.is_shared)
    }

    pub(super) fn sees_group(&self, viewer: AccountId, id: GroupId) -> bool {
        let Some(group) = self.group(id) else { return false };
        self.is_shared(id) || group.owner == viewer || group.owner == self.principal(viewer)
    }

    pub(super) fn sees_place(&self, viewer: AccountId, id: ChannelId) -> bool {
        let Some(place) = self.place(id) else { return false };
        let is_public = !place.is_direct && place.group.is_some_and(|group| self.is_shared(group));
        self.takes_part(viewer, id) || is_public
    }

    /// A channel as viewers are told of it.
    pub(super) fn shown(&self, id: ChannelId) -> Place {
        let place = self.place(id).expect("the model knows the channel").clone();
        let chosen = self.choices.iter().filter(|((channel, _), yes)| *channel == id && **yes);
        let counts = |who: &AccountId| !self.has_row(*who, id) && self.takes_part(*who, id);
        let choosers = chosen.map(|((_, who), _)| *who).filter(counts).collect();
        Place { choosers, ..place }
    }

    pub(super) fn thread(&self, id: TopicId) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.id == id)
    }

    pub(super) fn thread_named(&self, channel: ChannelId, name: &str) -> Option<&Thread> {
        let name = folded(name);
        self.threads.iter().find(|thread| thread.channel == channel && folded(&thread.name) == name)
    }

    pub(super) fn message(&self, id: MessageId) -> Option<&Said> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// The messages of a topic, oldest first.
    pub(super) fn said_in(&self, topic: TopicId) -> impl Iterator<Item = &Said> {
        self.messages.iter().filter(move |message| message.topic == topic)
    }

    /// The newest seq of a topic.
    pub(super) fn newest_in(&self, topic: TopicId) -> u64 {
        self.said_in(topic).map(|message| message.seq).max().unwrap_or_default()
    }

    /// An ask with the message that holds it.
    pub(super) fn ask(&self, id: AskId) -> Option<(&Said, &Asked)> {
        self.messages.iter().find_map(|message| {
            let asked = message.asks().find(|asked| asked.id == id)?;
            Some((message, asked))
        })
    }

    /// Ends an ask.
    pub(super) fn end_ask(&mut self, id: AskId, end: End) {
        let parts = self.messages.iter_mut().flat_map(|message| &mut message.blocks);
        let mut asks = parts.filter_map(|part| match part {
            Part::Ask(asked) => Some(asked),
            _ => None,
        });
        asks.find(|asked| asked.id == id).expect("the model knows the ask").end = end;
    }
}

impl Said {
    pub(super) fn asks(&self) -> impl Iterator<Item = &Asked> {
        self.blocks.iter().filter_map(|part| match part {
            Part::Ask(asked) => Some(asked),
            _ => None,
        })
    }

    pub(super) fn has_open_ask(&self) -> bool {
        self.asks().any(|asked| asked.end == End::Open)
    }
}

impl From<&compass_domain::Account> for Who {
    fn from(account: &compass_domain::Account) -> Self {
        use compass_domain::{AccountKind, UserRole};
        let kind = match account.kind {
            AccountKind::User { role } => Kind::Person { is_admin: role == UserRole::Admin },
            AccountKind::Agent { owner, home_channel, parent } => {
                Kind::Bot { owner, home: home_channel, parent }
            }
            AccountKind::System => Kind::System,
        };
        let (handle, display_name) = (account.handle.as_str().to_owned(), account.display_name.clone());
        Self { id: account.id, handle, display_name, kind }
    }
}

impl From<&compass_domain::ChannelGroup> for Group {
    fn from(group: &compass_domain::ChannelGroup) -> Self {
        Self {
            id: group.id,
            name: group.name.as_str().to_owned(),
            parent: group.parent,
            owner: group.owner,
            is_shared: group.visibility == compass_domain::group::Visibility::Shared,
        }
    }
}

impl From<&Channel> for Place {
    fn from(channel: &Channel) -> Self {
        for (pin, position) in channel.pins.iter().zip(0..) {
            assert_eq!(pin.position, position, "pins are numbered from 0: {:?}", channel.pins);
        }
        Self {
            id: channel.id,
            name: channel.name.as_str().to_owned(),
            group: channel.group,
            is_direct: channel.kind == ChannelKind::Dm,
            anchor: match channel.mode {
                MembershipMode::Tree { anchor } => Some(anchor),
                MembershipMode::Flat => None,
            },
            owner: channel.policy.owner(),
            is_mandatory: channel.mandatory,
            members: channel.members.iter().map(|member| (member.account, member.subscribed)).collect(),
            choosers: channel.tree_subscribers.clone(),
            pins: channel.pins.iter().map(|pin| (pin.message, pin.pinned_by)).collect(),
        }
    }
}

impl From<&Message> for Said {
    fn from(message: &Message) -> Self {
        let part = |view| match view {
            BlockView::Text(text) => Part::Text(text.to_owned()),
            BlockView::Ask(ask) => Part::Ask(ask.into()),
            BlockView::Answer(answer) => Part::Answer { ask: answer.ask().into(), asker: answer.asker() },
        };
        Self {
            id: message.id(),
            channel: message.channel(),
            topic: message.topic(),
            author: message.author(),
            seq: message.seq().0,
            blocks: message.blocks().iter().map(|block| part(block.view())).collect(),
        }
    }
}

impl From<&compass_domain::Ask> for Asked {
    fn from(ask: &compass_domain::Ask) -> Self {
        let option = |option: &compass_domain::ask::QuestionOption| OptionDraft {
            id: option.id().to_owned(),
            label: option.label().to_owned(),
            description: option.description().to_owned(),
            preview: option.preview().to_owned(),
        };
        let question = |question: &compass_domain::ask::Question| QuestionDraft {
            id: question.id().to_owned(),
            text: question.text().to_owned(),
            header: question.header().to_owned(),
            options: question.options().iter().map(option).collect(),
            allow_multiple: question.allow_multiple(),
            recommended: question.recommended(),
        };
        let end = match ask.state() {
            AskState::Open => End::Open,
            AskState::Answered { answers, by, .. } => {
                let given = |answer: &compass_domain::ask::QuestionAnswer| {
                    (answer.chosen().to_vec(), answer.custom_text().to_owned())
                };
                End::Answered(answers.iter().map(given).collect(), *by)
            }
            AskState::Cancelled { .. } => End::Cancelled,
        };
        Self { id: ask.id(), questions: ask.questions().iter().map(question).collect(), end }
    }
}

/// A draft as the model keeps it once it has an id.
pub(super) fn kept(blocks: &[DraftBlock], asks: &[AskId]) -> Vec<Part> {
    let mut ids = asks.iter();
    let keep = |draft: &AskDraft, id: AskId| Asked { id, questions: draft.questions.clone(), end: End::Open };
    let part = |block: &DraftBlock| match block {
        DraftBlock::Text(text) => Part::Text(text.clone()),
        DraftBlock::Ask(draft) => {
            Part::Ask(keep(draft, *ids.next().expect("every ask of a stored message has an id")))
        }
    };
    blocks.iter().map(part).collect()
}
