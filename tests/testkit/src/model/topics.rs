//! Topics: listing, renaming, merging, archiving, and how far people have read them.

use std::collections::BTreeSet;

use compass_comms::{
    ports::{MovedTopic, TopicSummary},
    topics::{
        list_topics::{ListTopics, list_topics},
        list_topics_of_channels::{ListTopicsOfChannels, list_topics_of_channels},
        mark_read::{MarkRead, mark_read},
        read_positions::{ReadPositions, read_positions},
        update_topic::{UpdateTopic, update_topic},
    },
};
use compass_domain::{AccountId, ChannelId, ErrorKind, ReadPosition, Seq, TopicId};

use super::{
    play::{Play, call, refusal},
    state::{Said, Thread},
    step::Dice,
    talk::{TOPICS, is_fit},
};

/// What a topic looks like to a reader: the row, its newest seq, its messages, its first authors, its open asks.
type Shown = (Thread, u64, u64, Vec<AccountId>, u32);

fn shown(summary: &TopicSummary) -> Shown {
    let topic = &summary.topic;
    let thread = Thread {
        id: topic.id,
        channel: topic.channel,
        name: topic.name.as_str().to_owned(),
        created_by: topic.created_by,
        is_archived: topic.archived,
    };
    let authors = topic.participants.clone();
    (thread, topic.last_seq.0, topic.message_count, authors, summary.open_asks)
}

impl Play {
    pub(super) async fn draw_list_topics(&mut self, dice: &mut Dice<'_>, is_relayed: bool) {
        let who = self.draw_caller(dice, is_relayed);
        let channel = self.draw_channel_ref(dice, who);
        let list = ListTopics { channel, include_archived: dice.once_in(2) };
        self.list_topics(who, list, is_relayed).await;
    }

    pub(super) async fn list_topics(&mut self, who: AccountId, list: ListTopics, is_relayed: bool) {
        let expected = self.gate(who, is_relayed).and_then(|()| {
            let channel = self.meant(who, &list.channel)?;
            if !self.state.takes_part(who, channel) {
                return Err(ErrorKind::NotFound);
            }
            let threads = self.state.threads.iter().filter(|thread| thread.channel == channel);
            let threads = threads.filter(|thread| list.include_archived || !thread.is_archived);
            let mut topics: Vec<Shown> = threads.map(|thread| self.shown_topic(thread)).collect();
            topics.sort_by_key(|(_, newest, ..)| std::cmp::Reverse(*newest));
            let mut ids: Vec<TopicId> = topics.iter().map(|(thread, ..)| thread.id).collect();
            ids.sort_unstable();
            let places = ids.into_iter().filter(|_| self.state.is_person(who));
            let places: Vec<ReadPosition> = places.map(|topic| self.place_in(who, topic)).collect();
            Ok((topics, places))
        });
        let came = call!(self, who, is_relayed, ListTopics, list_topics, list);
        let Some(((topics, places), came)) = self.settle(expected, came) else { return };
        assert_eq!(came.topics.iter().map(shown).collect::<Vec<_>>(), topics);
        assert_eq!(came.read_positions, places);
    }

    fn shown_topic(&self, thread: &Thread) -> Shown {
        let mut authors: Vec<AccountId> = Vec::new();
        let (mut messages, mut open) = (0, 0);
        let mut said: Vec<&Said> = self.state.said_in(thread.id).collect();
        said.sort_by_key(|message| message.seq);
        for message in said {
            messages += 1;
            open += message.asks().filter(|asked| asked.end == super::state::End::Open).count();
            if !authors.contains(&message.author) {
                authors.push(message.author);
            }
        }
        authors.truncate(5);
        let open = u32::try_from(open).expect("a small number");
        (thread.clone(), self.state.newest_in(thread.id), messages, authors, open)
    }

    /// How far someone has read a topic.
    fn place_in(&self, who: AccountId, topic: TopicId) -> ReadPosition {
        let seq = self.state.reads.get(&(topic, who)).copied().unwrap_or_default();
        let unread = self.state.said_in(topic).filter(|said| said.seq > seq && said.author != who).count();
        let newest = Seq(self.state.newest_in(topic));
        ReadPosition { topic, seq: Seq(seq), unread: u32::try_from(unread).expect("a small number"), newest }
    }

    pub(super) async fn draw_update_topic(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_caller(dice, false);
        let channel = self.draw_busy_channel(dice, who);
        let topic = if dice.once_in(16) { None } else { Some(self.draw_topic(dice, Some(channel))) };
        let near = self.state.threads.iter().filter(|thread| thread.channel == channel);
        let near: Vec<&str> = near.map(|thread| thread.name.as_str()).collect();
        let name = match dice.below(4) {
            0 | 1 => None,
            2 => dice.pick(&near).map(str::to_uppercase),
            _ => Some(dice.one(TOPICS).to_owned()),
        };
        let archived = dice.once_in(2).then(|| dice.once_in(2));
        self.update_topic(who, UpdateTopic { topic, name, archived }).await;
    }

    async fn update_topic(&mut self, who: AccountId, update: UpdateTopic) {
        let found = update.topic.and_then(|topic| self.state.thread(topic)).cloned();
        let expected = match (&update.name, found) {
            (Some(name), _) if !is_fit(name) => Err(ErrorKind::InvalidArgument),
            (_, Some(thread)) if self.state.takes_part(who, thread.channel) => Ok(thread),
            _ => Err(ErrorKind::NotFound),
        };
        self.note(who, false, &update);
        let came = update_topic(&self.comms, &self.caller(who), update.clone()).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((thread, came)) = settled else { return };
        let holder = update.name.as_ref().and_then(|name| self.state.thread_named(thread.channel, name));
        let kept = match holder.map(|holder| holder.id) {
            Some(into) if into != thread.id => {
                self.merge(thread.id, into);
                into
            }
            _ => {
                if let Some(name) = &update.name {
                    name.trim().clone_into(&mut self.thread_mut(thread.id).name);
                }
                thread.id
            }
        };
        if let Some(archived) = update.archived {
            self.thread_mut(kept).is_archived = archived;
        }
        let kept = self.state.thread(kept).expect("it is there").clone();
        assert_eq!(shown(&came), self.shown_topic(&kept));
    }

    /// All messages of one topic move into another; nothing that was unread counts as read.
    fn merge(&mut self, from: TopicId, into: TopicId) {
        let newest = [self.state.newest_in(from), self.state.newest_in(into)];
        let readers: BTreeSet<AccountId> = self
            .state
            .reads
            .keys()
            .filter(|(topic, _)| [from, into].contains(topic))
            .map(|(_, reader)| *reader)
            .collect();
        for reader in readers {
            let read =
                [from, into].map(|topic| self.state.reads.remove(&(topic, reader)).unwrap_or_default());
            let unfinished = (0..2).filter(|at| read[*at] < newest[*at]).map(|at| read[at]).min();
            let joined = unfinished.unwrap_or_else(|| read[0].max(read[1]));
            self.state.reads.insert((into, reader), joined);
        }
        for message in self.state.messages.iter_mut().filter(|message| message.topic == from) {
            message.topic = into;
        }
        for end in self.state.moved.values_mut().filter(|end| **end == from) {
            *end = into;
        }
        let channel = self.state.thread(from).expect("it is there").channel;
        self.state.moved.insert((channel, from), into);
        self.state.threads.retain(|thread| thread.id != from);
    }

    /// Where topics went, as someone who asks for these channels is told.
    pub(super) async fn moved_topics(&mut self, who: AccountId, channels: &[ChannelId]) {
        let expected = if self.state.is_person(who) {
            let asked = |channel| channels.contains(&channel) && self.state.takes_part(who, channel);
            let moved = self.state.moved.iter().filter(|((channel, _), _)| asked(*channel));
            Ok(moved.map(|(&(_, topic), &into)| MovedTopic { topic, into }).collect::<Vec<_>>())
        } else {
            Err(ErrorKind::PermissionDenied)
        };
        let list = ListTopicsOfChannels { channels: channels.iter().copied().map(Some).collect() };
        self.note(who, false, &list);
        let came = list_topics_of_channels(&self.comms, &self.caller(who), list).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((expected, came)) = settled else { return };
        assert_eq!(came.moved, expected);
    }

    pub(super) async fn draw_mark_read(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_person(dice);
        let channel = self.draw_busy_channel(dice, who);
        let topic = if dice.once_in(16) { None } else { Some(self.draw_topic(dice, Some(channel))) };
        let newest = topic.map(|topic| self.state.newest_in(topic)).unwrap_or_default();
        let seq = dice.below(usize::try_from(newest).expect("a small number") + 2) as u64;
        self.mark_read(who, topic, seq).await;
    }

    pub(super) async fn mark_read(&mut self, who: AccountId, topic: Option<TopicId>, seq: u64) {
        let newest = topic.map(|topic| self.state.newest_in(topic)).unwrap_or_default();
        let topic_seen = topic.and_then(|topic| self.state.thread(topic));
        let expected = match (self.state.is_person(who), topic_seen) {
            (false, _) => Err(ErrorKind::PermissionDenied),
            (_, Some(thread)) if self.state.takes_part(who, thread.channel) => {
                if seq > newest {
                    Err(ErrorKind::InvalidArgument)
                } else {
                    Ok(thread.id)
                }
            }
            _ => Err(ErrorKind::NotFound),
        };
        let mark = MarkRead { topic, seq: Seq(seq) };
        self.note(who, false, &mark);
        let came = mark_read(&self.comms, &self.caller(who), mark).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((topic, came)) = settled else { return };
        let place = self.state.reads.entry((topic, who)).or_default();
        *place = seq.max(*place);
        if *place == 0 {
            self.state.reads.remove(&(topic, who));
        }
        assert_eq!(came, self.place_in(who, topic));
    }

    pub(super) async fn draw_read_positions(&mut self, dice: &mut Dice<'_>) {
        let who = self.draw_person(dice);
        let channel = dice.once_in(2).then(|| self.draw_channel(dice, who));
        self.read_positions(who, channel).await;
    }

    pub(super) async fn read_positions(&mut self, who: AccountId, channel: Option<ChannelId>) {
        let expected = match channel {
            _ if !self.state.is_person(who) => Err(ErrorKind::PermissionDenied),
            Some(channel) if !self.state.takes_part(who, channel) => Err(ErrorKind::NotFound),
            _ => {
                let threads = self.state.threads.iter().filter(|thread| {
                    self.state.takes_part(who, thread.channel)
                        && channel.is_none_or(|channel| channel == thread.channel)
                });
                let mut ids: Vec<TopicId> = threads.map(|thread| thread.id).collect();
                ids.sort_unstable();
                Ok(ids.into_iter().map(|topic| self.place_in(who, topic)).collect::<Vec<_>>())
            }
        };
        let list = ReadPositions { channel };
        self.note(who, false, &list);
        let came = read_positions(&self.comms, &self.caller(who), list).await;
        let settled = self.settle(expected, came.map_err(|error| refusal(&error)));
        let Some((expected, came)) = settled else { return };
        assert_eq!(came, expected);
    }
}
