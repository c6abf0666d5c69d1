//! Messages: posting, listing and searching.

use std::collections::BTreeSet;

use compass_comms::{
    channels::resolve::ChannelRef,
    messages::{
        list_messages::{ListMessages, list_messages},
        post_message::{PostMessage, TopicInput, post_message},
        search_messages::{SearchMessages, search_messages},
    },
};
use compass_domain::{
    AccountId, AskId, ChannelId, ErrorKind, MessageId, Position, TopicId,
    ask::{AskDraft, QuestionDraft},
    message::DraftBlock,
};

use super::{
    play::{Play, call, refusal},
    state::{Part, Said, Target, Thread, Used, folded, kept},
    step::Dice,
};
use crate::drafts;

/// Words of texts, none of which has the stem of another.
const WORDS: &[&str] = &["apple", "river", "stone", "cloud", "tiger"];
pub(super) const TOPICS: &[&str] =
    &["plans", "Plans ", "bugs", "BUGS", "news", "later", "PLANS", "plans", "bugs", " News", "older", ""];
const KEYS: &[&str] = &["", "", "", "", "", "", "k1", "k2", "k3"];

pub(super) fn is_fit(name: &str) -> bool {
    !name.trim().is_empty() && name.trim().chars().count() <= 120
}

/// True if a draft holds together.
fn is_whole(block: &DraftBlock) -> bool {
    let DraftBlock::Ask(ask) = block else { return true };
    let ids: BTreeSet<&str> = ask.questions.iter().map(|question| question.id.as_str()).collect();
    let points_at_an_option = |question: &QuestionDraft| {
        question.recommended.is_none_or(|at| usize::try_from(at).is_ok_and(|at| at < question.options.len()))
    };
    !ask.questions.is_empty()
        && ids.len() == ask.questions.len()
        && !ids.contains("")
        && ask.questions.iter().all(points_at_an_option)
}

fn draw_ask(dice: &mut Dice<'_>) -> AskDraft {
    let mut questions = vec![drafts::question("q", &["yes", "no"])];
    questions[0].text = format!("{}?", dice.one(WORDS));
    match dice.below(10) {
        0 => questions.push(drafts::multi("more", &["a", "b", "c"])),
        1 => questions.push(drafts::question("free", &[])),
        2 => questions[0].recommended = Some(1),
        3 => match dice.below(6) {
            0 => questions.clear(),
            1 => questions.push(drafts::question("q", &[])),
            2 => questions[0].recommended = Some(2),
            _ => questions[0].recommended = Some(0),
        },
        _ => {}
    }
    AskDraft { questions }
}

fn draw_blocks(dice: &mut Dice<'_>) -> Vec<DraftBlock> {
    let text = |dice: &mut Dice<'_>| {
        let words = [dice.one(WORDS), dice.one(&["@one ", "and", "@bob,", "with"]), dice.one(WORDS)];
        DraftBlock::Text(words.join(" "))
    };
    match dice.below(10) {
        0..4 => vec![text(dice)],
        4..7 => vec![DraftBlock::Ask(draw_ask(dice))],
        7 => vec![text(dice), DraftBlock::Ask(draw_ask(dice))],
        8 => vec![DraftBlock::Ask(draw_ask(dice)), DraftBlock::Ask(draw_ask(dice))],
        _ => (0..dice.below(3)).map(|_| text(dice)).collect(),
    }
}

impl Play {
    pub(super) async fn draw_post(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        // Often the same again, for the sake of keys.
        let used: Vec<(String, Used)> = self
            .state
            .keys
            .iter()
            .filter(|((author, _), _)| *author == who)
            .map(|((_, key), used)| (key.clone(), used.clone()))
            .collect();
        if !used.is_empty() && dice.once_in(4) {
            let (key, used) = used[dice.below(used.len())].clone();
            let topic = match used.target {
                Target::Id(id) => TopicInput { id: Some(id), ..TopicInput::default() },
                Target::Name { name, existing_only } => {
                    TopicInput { name: Some(name), existing_only, id: None }
                }
            };
            let channel = ChannelRef::Id(used.channel);
            let post = PostMessage { channel, topic, blocks: used.blocks, client_request_id: key };
            self.post(who, post, is_relayed).await;
            return;
        }
        let open = |id: &ChannelId| {
            self.state.place(*id).is_some_and(|place| place.owner.is_none_or(|owner| owner == who))
        };
        let open: Vec<ChannelId> = self.state.places_of(who).into_iter().filter(open).collect();
        let is_open = dice.below(2) == 0;
        let channel = dice.pick(&open).filter(|_| is_open).map(ChannelRef::Id);
        let channel = channel.unwrap_or_else(|| self.draw_channel_ref(dice, who));
        let meant = self.meant(who, &channel).ok();
        let name = dice.one(TOPICS).to_owned();
        let has_topics = self.state.threads.iter().any(|thread| Some(thread.channel) == meant);
        let topic = match dice.below(24) {
            0..10 => TopicInput { name: Some(name), ..TopicInput::default() },
            10..13 => TopicInput { name: Some(name), existing_only: true, id: None },
            13..17 if !has_topics => TopicInput { name: Some(name), ..TopicInput::default() },
            13..23 => TopicInput { id: Some(self.draw_topic(dice, meant)), ..TopicInput::default() },
            _ => match dice.below(3) {
                0 => TopicInput::default(),
                1 => TopicInput { name: Some("x".repeat(121)), ..TopicInput::default() },
                _ => TopicInput {
                    id: Some(self.draw_topic(dice, meant)),
                    name: Some(name),
                    existing_only: false,
                },
            },
        };
        let key = dice.one(KEYS).to_owned();
        let blocks = draw_blocks(dice);
        self.post(who, PostMessage { channel, topic, blocks, client_request_id: key }, is_relayed).await;
    }

    pub(super) async fn post(
        &mut self,
        who: AccountId,
        post: PostMessage,
        is_relayed: bool,
    ) -> Option<MessageId> {
        let expected = self.gate(who, is_relayed).and_then(|()| self.placed(who, &post));
        let (blocks, key) = (post.blocks.clone(), post.client_request_id.clone());
        let came = call!(self, who, is_relayed, Post, post_message, post);
        let (expected, came) = self.settle(expected, came)?;
        let message = Said::from(&*came.message);
        if let Some(repeated) = expected.repeated {
            assert!(!came.inserted, "a repeat stores nothing");
            assert_eq!(Some(&message), self.state.message(repeated));
            return Some(repeated);
        }
        assert!(came.inserted, "it is the first of its kind");
        assert!(self.state.message(message.id).is_none(), "its id is new");
        let topic = expected.thread.unwrap_or(message.topic);
        let is_known = self.state.thread(topic).is_some();
        assert_eq!(is_known, expected.thread.is_some(), "the id of a new topic is new");
        let ids: Vec<AskId> = message.asks().map(|asked| asked.id).collect();
        let fresh: BTreeSet<AskId> = ids.iter().copied().filter(|id| self.state.ask(*id).is_none()).collect();
        assert_eq!(fresh.len(), ids.len(), "ids of asks are new");
        let asks = blocks.iter().filter(|block| matches!(block, DraftBlock::Ask(_))).count();
        assert_eq!(ids.len(), asks, "every ask is stored");
        let blocks_kept = kept(&blocks, &ids);
        let said = self.next_message(message.id, expected.channel, topic, who, blocks_kept);
        assert_eq!(message, said);
        match expected.target.clone() {
            Target::Name { name, .. } if expected.thread.is_none() => self.state.threads.push(Thread {
                id: topic,
                channel: expected.channel,
                name,
                created_by: who,
                is_archived: false,
            }),
            Target::Name { .. } => self.thread_mut(topic).is_archived = false,
            Target::Id(_) => {}
        }
        if !key.is_empty() {
            let (channel, target, message) = (expected.channel, expected.target, said.id);
            self.state.keys.insert((who, key), Used { channel, target, blocks, message });
        }
        self.told.push(said.id);
        self.state.messages.push(said);
        Some(message.id)
    }

    pub(super) fn thread_mut(&mut self, id: TopicId) -> &mut Thread {
        self.state.threads.iter_mut().find(|thread| thread.id == id).expect("the model knows the topic")
    }

    /// The next message of a channel.
    pub(super) fn next_message(
        &self,
        id: MessageId,
        channel: ChannelId,
        topic: TopicId,
        author: AccountId,
        blocks: Vec<Part>,
    ) -> Said {
        let before = self.state.messages.iter().filter(|message| message.channel == channel).count();
        Said { id, channel, topic, author, seq: before as u64 + 1, blocks }
    }

    /// Where a post goes.
    fn placed(&self, who: AccountId, post: &PostMessage) -> Result<Placed, ErrorKind> {
        let existing_only = post.topic.existing_only;
        let target = match (post.topic.id, &post.topic.name) {
            (Some(id), None) => Target::Id(id),
            (None, Some(name)) if is_fit(name) => {
                Target::Name { name: name.trim().to_owned(), existing_only }
            }
            _ => return Err(ErrorKind::InvalidArgument),
        };
        if post.blocks.is_empty() || !post.blocks.iter().all(is_whole) {
            return Err(ErrorKind::InvalidArgument);
        }
        let channel = self.meant(who, &post.channel)?;
        let place = self.state.place(channel).ok_or(ErrorKind::NotFound)?;
        if !self.state.takes_part(who, channel) || place.owner.is_some_and(|owner| owner != who) {
            return Err(ErrorKind::NotFound);
        }
        let thread = match &target {
            Target::Id(id) => match self.state.thread(*id) {
                Some(thread) if thread.channel == channel => Some(thread.id),
                _ => return Err(ErrorKind::InvalidArgument),
            },
            Target::Name { name, existing_only } => match self.state.thread_named(channel, name) {
                None if *existing_only => return Err(ErrorKind::NotFound),
                found => found.map(|thread| thread.id),
            },
        };
        let repeated = match self.state.keys.get(&(who, post.client_request_id.clone())) {
            None => None,
            Some(used) if used.channel == channel && used.target == target && used.blocks == post.blocks => {
                Some(used.message)
            }
            Some(_) => return Err(ErrorKind::Conflict),
        };
        Ok(Placed { channel, target, thread, repeated })
    }

    pub(super) async fn draw_list_messages(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let channel = self.draw_channel_ref(dice, who);
        let meant = self.meant(who, &channel).ok();
        let (mut topic, mut topic_name) = (None, None);
        match dice.below(8) {
            0..4 => {}
            4 | 5 => topic = Some(self.draw_topic(dice, meant)),
            6 => topic_name = Some(dice.one(TOPICS).to_owned()),
            _ => {
                topic = Some(self.draw_topic(dice, meant));
                topic_name = dice.once_in(2).then(|| "plans".to_owned());
            }
        }
        let before = dice.once_in(3).then(|| self.draw_message(dice, meant));
        let limit = dice.one(&[0, 1, 2, 5, 200, 201]);
        let newest = self.newest_position(who).await;
        self.state.snapshots.push((newest, self.state.messages.len()));
        let snapshots: Vec<Position> = self.state.snapshots.iter().map(|(at, _)| *at).collect();
        let snapshot = if dice.once_in(2) { Some(dice.one(&snapshots)) } else { None };
        let list = ListMessages { channel, topic, topic_name, before, limit, snapshot };
        self.list_messages(who, list, is_relayed).await;
    }

    /// The newest position, as the product has it; the model cannot know its numbers.
    pub(super) async fn newest_position(&self, who: AccountId) -> Position {
        let tenant = self.caller(who).tenant;
        let mut unit = self.comms.storage.read(&tenant).await.expect("storage can be read");
        unit.last_position().await.expect("the newest position can be read")
    }

    pub(super) async fn list_messages(&mut self, who: AccountId, list: ListMessages, is_relayed: bool) {
        let expected = self.gate(who, is_relayed).and_then(|()| self.page(who, &list));
        let came = call!(self, who, is_relayed, List, list_messages, list);
        let Some((page, came)) = self.settle(expected, came) else { return };
        assert_eq!(came.iter().map(|message| Said::from(&**message)).collect::<Vec<_>>(), page);
    }

    fn page(&self, who: AccountId, list: &ListMessages) -> Result<Vec<Said>, ErrorKind> {
        let is_unfit = list.topic_name.as_deref().is_some_and(|name| !is_fit(name));
        if is_unfit || (list.topic.is_some() && list.topic_name.is_some()) {
            return Err(ErrorKind::InvalidArgument);
        }
        let channel = match self.meant(who, &list.channel) {
            Err(ErrorKind::NotFound) => return Ok(Vec::new()),
            meant => meant?,
        };
        if !self.state.takes_part(who, channel) {
            return Ok(Vec::new());
        }
        let topic = match &list.topic_name {
            Some(name) => Some(self.state.thread_named(channel, name).ok_or(ErrorKind::NotFound)?.id),
            None => list.topic,
        };
        let before = match list.before.map(|before| self.state.message(before)) {
            None => u64::MAX,
            Some(Some(before)) if before.channel == channel => before.seq,
            Some(_) => return Err(ErrorKind::InvalidArgument),
        };
        let known = self.known_at(list.snapshot);
        let mut page: Vec<Said> = self.state.messages[..known].to_vec();
        page.retain(|message| {
            message.channel == channel
                && topic.is_none_or(|topic| message.topic == topic)
                && message.seq < before
        });
        page.reverse();
        page.truncate(clamped(list.limit));
        Ok(page)
    }

    /// How many messages there were at a position that was seen before.
    fn known_at(&self, snapshot: Option<Position>) -> usize {
        let Some(snapshot) = snapshot else { return self.state.messages.len() };
        let known = self.state.snapshots.iter().find(|(at, _)| *at == snapshot);
        known.expect("snapshots are drawn from those that were seen").1
    }

    pub(super) async fn draw_search(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        let channel = dice.once_in(3).then(|| self.draw_channel(dice, who));
        let (one, other) = (dice.one(WORDS), dice.one(WORDS));
        let has = |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|w| w == word);
        let (query, form) = match dice.below(6) {
            0 => ("  ".to_owned(), 0),
            1 => (format!("{one} OR {other}"), 1),
            2 => (format!("{one} -{other}"), 2),
            3 => (format!("{one} {other}"), 3),
            _ => (one.to_uppercase(), 4),
        };
        let finds = |text: &str| match form {
            1 => has(text, one) || has(text, other),
            2 => has(text, one) && !has(text, other),
            3 => has(text, one) && has(text, other),
            _ => has(text, one),
        };
        let mut expected: Vec<Said> = self.state.messages.clone();
        expected.retain(|message| {
            self.state.takes_part(who, message.channel)
                && channel.is_none_or(|channel| channel == message.channel)
                && finds(&searched(message))
        });
        let expected = if form == 0 { Err(ErrorKind::InvalidArgument) } else { Ok(expected) };
        let search = SearchMessages { query, channel, limit: 200, snapshot: None };
        self.note(who, false, &search);
        let came = search_messages(&self.comms, &self.caller(who), search).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((mut expected, came)) = settled else { return };
        // How good a find is, is for each storage to say; what is found is not.
        let mut came: Vec<Said> = came.iter().map(|message| Said::from(&**message)).collect();
        came.sort_by_key(|message| message.id);
        expected.sort_by_key(|message| message.id);
        assert_eq!(came, expected);
    }
}

/// A limit as a page keeps it: 50 if none is given, 200 at the most.
pub(super) fn clamped(limit: u32) -> usize {
    match limit {
        0 => 50,
        more => more.min(200) as usize,
    }
}

/// What a search looks at.
fn searched(message: &Said) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in &message.blocks {
        match part {
            Part::Text(text) => lines.push(text.clone()),
            Part::Ask(asked) => lines.extend(asked.questions.iter().map(|question| question.text.clone())),
            Part::Answer { ask, .. } => {
                lines.extend(ask.questions.iter().map(|question| question.text.clone()));
                if let super::state::End::Answered(answers, _) = &ask.end {
                    lines.extend(answers.iter().map(|(_, custom)| custom.clone()));
                }
            }
        }
    }
    folded(&lines.join("\n"))
}

/// Where a post goes.
struct Placed {
    channel: ChannelId,
    target: Target,
    /// None if the topic is new.
    thread: Option<TopicId>,
    /// The message that was stored under the same key.
    repeated: Option<MessageId>,
}
