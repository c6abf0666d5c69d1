//! Topics: names, and what a topic row keeps.

use std::fmt;

use crate::{
    brake::AgentRun,
    id::{AccountId, ChannelId, Seq, TopicId, UnixMillis},
    limits::{self, LimitError},
    text::fold,
};

/// How many participants a topic lists.
pub const LISTED_PARTICIPANTS: usize = 5;

/// A topic's name: trimmed, not empty, at most 120 code points.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TopicName {
    text: String,
    key: String,
}

/// Why a text is not a topic name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopicNameError {
    /// Nothing but white space.
    #[error("topic name is empty")]
    Empty,
    /// Too long, or a NUL.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

impl TopicName {
    /// Parses a name as a client typed it.
    ///
    /// # Errors
    ///
    /// [`TopicNameError`] with the limit and the actual length.
    pub fn parse(text: &str) -> Result<Self, TopicNameError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(TopicNameError::Empty);
        }
        limits::check_code_points("topic name", trimmed, limits::TOPIC_NAME_CODE_POINTS)?;
        Ok(Self { text: trimmed.to_owned(), key: fold(trimmed) })
    }

    /// The name as it was first spelled.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key by which names of one channel are compared.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A topic of a channel, with the counters its row keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topic {
    /// Which.
    pub id: TopicId,
    /// Its channel.
    pub channel: ChannelId,
    /// First spelling wins.
    pub name: TopicName,
    /// When it was created.
    pub created_at: UnixMillis,
    /// Who posted first.
    pub created_by: AccountId,
    /// Hidden from lists unless asked for.
    pub archived: bool,
    /// Highest `channel_seq` of its messages.
    pub last_seq: Seq,
    /// How many messages it holds.
    pub message_count: u64,
    /// When its newest message was posted.
    pub last_activity: UnixMillis,
    /// The first five authors.
    pub participants: Vec<AccountId>,
    /// How long agents have been among themselves here.
    pub run: AgentRun,
}

impl Topic {
    /// A topic that its first message creates.
    pub fn new(id: TopicId, channel: ChannelId, name: TopicName, by: AccountId, at: UnixMillis) -> Self {
        Self {
            id,
            channel,
            name,
            created_at: at,
            created_by: by,
            archived: false,
            last_seq: Seq(0),
            message_count: 0,
            last_activity: at,
            participants: Vec::new(),
            run: AgentRun::default(),
        }
    }

    /// The topic after a message was added to it.
    #[must_use]
    pub fn with_message(mut self, author: AccountId, seq: Seq, at: UnixMillis) -> Self {
        self.last_seq = self.last_seq.max(seq);
        self.message_count += 1;
        self.last_activity = self.last_activity.max(at);
        if self.participants.len() < LISTED_PARTICIPANTS && !self.participants.contains(&author) {
            self.participants.push(author);
        }
        self
    }

    /// The topic with the run of agent messages that its newest message left.
    #[must_use]
    pub fn with_run(self, run: AgentRun) -> Self {
        Self { run, ..self }
    }

    /// What an update makes of this topic. `holder` is the topic of the channel that has the wanted name, if there is
    /// one; it may be this topic itself.
    ///
    /// Another spelling of the own name is a rename in place; a name that another topic has joins the two.
    pub fn update(&self, update: &TopicUpdate, holder: Option<TopicId>) -> TopicChange {
        if let Some(into) = holder.filter(|holder| update.name.is_some() && *holder != self.id) {
            return TopicChange::Merge { into };
        }
        let name = update.name.clone().unwrap_or_else(|| self.name.clone());
        let changed = Self { name, archived: update.archived.unwrap_or(self.archived), ..self.clone() };
        if changed == *self { TopicChange::Nothing } else { TopicChange::InPlace(changed) }
    }

    /// This topic after the messages of `other` were moved to it.
    ///
    /// `first_posts` holds the place of the first message of every author that either topic lists, each author once:
    /// nobody else can be among the first of both together.
    #[must_use]
    pub fn joined_by(
        mut self,
        other: &Self,
        mut first_posts: Vec<(AccountId, Seq)>,
        archived: Option<bool>,
    ) -> Self {
        self.last_seq = self.last_seq.max(other.last_seq);
        self.message_count += other.message_count;
        self.last_activity = self.last_activity.max(other.last_activity);
        self.archived = archived.unwrap_or(self.archived);
        self.run = self.run.joined(other.run);
        first_posts.sort_by_key(|(author, seq)| (*seq, *author));
        self.participants =
            first_posts.into_iter().map(|(author, _)| author).take(LISTED_PARTICIPANTS).collect();
        self
    }
}

/// What a client wants changed of a topic; what is absent stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopicUpdate {
    /// Its name.
    pub name: Option<TopicName>,
    /// Whether lists hide it.
    pub archived: Option<bool>,
}

/// What an update comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TopicChange {
    /// The topic is so already.
    Nothing,
    /// The row as it is to be.
    InPlace(Topic),
    /// The name belongs to another topic, which gets the messages.
    Merge {
        /// That topic.
        into: TopicId,
    },
}

/// How a post names its topic.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TopicSelector {
    /// An existing topic of the channel, left archived if it is.
    Id(TopicId),
    /// A topic by name: created or revived, unless `existing_only`.
    Name {
        /// The name.
        name: TopicName,
        /// An unknown name is refused instead of created.
        existing_only: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(byte: u8) -> AccountId {
        AccountId::from_bytes([byte; 16])
    }

    fn topic(id: u8, name: &str) -> Topic {
        let (id, channel) = (TopicId::from_bytes([id; 16]), ChannelId::from_bytes([9; 16]));
        Topic::new(id, channel, TopicName::parse(name).unwrap(), account(1), UnixMillis(5))
    }

    fn named(name: &str) -> TopicUpdate {
        TopicUpdate { name: Some(TopicName::parse(name).unwrap()), archived: None }
    }

    fn in_place(change: TopicChange) -> Topic {
        let TopicChange::InPlace(topic) = change else { panic!("{change:?}") };
        topic
    }

    #[test]
    fn a_free_name_and_another_spelling_rename_in_place() {
        let old = topic(1, "plan");
        assert_eq!(in_place(old.update(&named("Budget"), None)).name.as_str(), "Budget");
        assert_eq!(in_place(old.update(&named("PLAN"), Some(old.id))).name.as_str(), "PLAN");
    }

    #[test]
    fn what_is_so_already_is_no_change() {
        let old = topic(1, "plan");
        assert_eq!(old.update(&TopicUpdate::default(), None), TopicChange::Nothing);
        assert_eq!(old.update(&named("plan"), Some(old.id)), TopicChange::Nothing);
        let live = TopicUpdate { archived: Some(false), name: None };
        assert_eq!(old.update(&live, None), TopicChange::Nothing);
    }

    #[test]
    fn archiving_and_reviving_keep_everything_else() {
        let old = topic(1, "plan");
        let archived = in_place(old.update(&TopicUpdate { archived: Some(true), name: None }, None));
        assert_eq!(archived, Topic { archived: true, ..old.clone() });
        let live = TopicUpdate { archived: Some(false), name: None };
        assert_eq!(in_place(archived.update(&live, None)), old);
    }

    #[test]
    fn a_name_of_another_topic_merges() {
        let (old, other) = (topic(1, "plan"), topic(2, "budget"));
        assert_eq!(old.update(&named("BUDGET"), Some(other.id)), TopicChange::Merge { into: other.id });
    }

    #[test]
    fn the_survivor_of_a_merge_sums_up_both() {
        let mut one = topic(1, "plan");
        for (author, seq) in [(1, 1), (2, 4), (3, 6), (4, 7), (1, 9)] {
            one = one.with_message(account(author), Seq(seq), UnixMillis(100 + i64::try_from(seq).unwrap()));
        }
        let mut other = Topic { archived: true, ..topic(2, "budget") };
        for (author, seq) in [(5, 2), (2, 3), (6, 5), (7, 8)] {
            other =
                other.with_message(account(author), Seq(seq), UnixMillis(100 + i64::try_from(seq).unwrap()));
        }
        let first = [(7, 8), (1, 1), (2, 3), (5, 2), (6, 5), (3, 6), (4, 7)];
        let first = first.map(|(author, seq)| (account(author), Seq(seq))).to_vec();
        let survivor = other.clone().joined_by(&one, first.clone(), None);
        assert_eq!(
            (survivor.message_count, survivor.last_seq, survivor.last_activity),
            (9, Seq(9), UnixMillis(109))
        );
        assert_eq!(survivor.participants, [1, 5, 2, 6, 3].map(account));
        assert!(survivor.archived, "nobody asked for it to be revived");
        assert_eq!((survivor.id, survivor.name.as_str()), (other.id, "budget"));
        assert!(!other.joined_by(&one, first, Some(false)).archived);
    }
}
