//! Messages, and what is around them, as an agent sees them: what came over the wire, trusted for nothing.

use std::collections::BTreeMap;

/// Handles of accounts, by id.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[serde(transparent)]
pub struct Handles(BTreeMap<String, String>);

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenMessage {
    /// Its id.
    pub id: String,
    /// Its topic's id.
    pub topic_id: String,
    /// Who posted it.
    pub author_account_id: String,
    /// When, in milliseconds since 1970.
    pub at_unix_ms: i64,
    /// Its place in the channel.
    pub channel_seq: u64,
    /// Its blocks.
    pub blocks: Vec<SeenBlock>,
    /// Of who posted it, who asked and who answered.
    #[serde(skip_serializing_if = "Handles::is_empty")]
    pub handles: Handles,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SeenBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An ask.
    Ask {
        /// The ask.
        ask: SeenAsk,
    },
    /// The answer to an ask.
    AskAnswer {
        /// The answered ask.
        ask: SeenAsk,
        /// Who asked.
        asker_account_id: String,
    },
    /// A kind this version does not know; it stays visible.
    Unknown,
}

/// An ask, with its answers once it has them.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenAsk {
    /// Its id.
    pub ask_id: String,
    /// Its questions.
    pub questions: Vec<SeenQuestion>,
    /// A person answered.
    pub answered: bool,
    /// Its author withdrew it.
    pub cancelled: bool,
    /// Who answered.
    pub answered_by_account_id: String,
    /// When it ended, in milliseconds since 1970; 0 while it is open.
    pub closed_at_unix_ms: i64,
}

/// A question, with its answer once it has one.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenQuestion {
    /// Its id.
    pub question_id: String,
    /// What is asked.
    pub question: String,
    /// A short title.
    pub header: String,
    /// What may be chosen.
    pub options: Vec<SeenOption>,
    /// Several options may be chosen.
    pub allow_multiple: bool,
    /// Index of the recommended option.
    pub recommended: Option<i32>,
    /// What was chosen.
    pub chosen_option_ids: Vec<String>,
    /// What was written.
    pub custom_text: String,
    /// It was settled by time instead of by a person.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenOption {
    /// Its id.
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// A longer explanation.
    pub description: String,
    /// What choosing it would produce.
    pub preview: String,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenChannel {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// It is a conversation of two.
    pub direct: bool,
    /// The accounts with a place of their own in it.
    pub member_account_ids: Vec<String>,
    /// Those of the participants that are subscribed.
    pub subscriber_account_ids: Vec<String>,
    /// Of members and subscribers.
    #[serde(skip_serializing_if = "Handles::is_empty")]
    pub handles: Handles,
}

/// A group of channels.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenTopic {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Hidden unless asked for.
    pub archived: bool,
    /// How many messages it holds.
    pub message_count: u64,
    /// When its newest message was posted, in milliseconds since 1970.
    pub last_activity_unix_ms: i64,
    /// How many asks in it are open.
    pub open_ask_count: u32,
}

/// An agent of a roster.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct SeenRosterEntry {
    /// Its account.
    pub agent_account_id: String,
    /// Its handle.
    pub handle: String,
    /// Its name for people.
    pub display_name: String,
    /// Its parent's account; empty for a root.
    pub parent_agent_id: String,
    /// What it is doing by its sessions.
    pub presence: SeenPresence,
    /// What it last said it does.
    pub activity: String,
    /// When it said so, in milliseconds since 1970; 0 if it never did.
    pub activity_at_unix_ms: i64,
}

/// What an agent is doing by its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenPresence {
    /// A value this version does not know.
    #[default]
    Unknown,
    /// Between turns.
    Idle,
    /// In a turn.
    Working,
    /// An ask of its own is open.
    Waiting,
    /// Without a session.
    Offline,
}

/// A delivered message with its labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Delivery {
    /// The message.
    pub message: SeenMessage,
    /// The topic's name.
    pub topic_name: String,
    /// The channel's name.
    pub channel_name: String,
    /// The author's handle.
    pub from_handle: String,
    /// True if it interrupts instead of waiting for the next turn.
    pub steer: bool,
}

impl Handles {
    /// True if none is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What to call an account: by its handle, or by its id if the handle is not known.
    pub fn name<'a>(&'a self, account_id: &'a str) -> &'a str {
        self.0.get(account_id).map_or(account_id, String::as_str)
    }

    fn of<'a>(&self, account_ids: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |id: &'a str| self.0.get_key_value(id);
        Self(
            account_ids
                .into_iter()
                .filter_map(known)
                .map(|(id, handle)| (id.clone(), handle.clone()))
                .collect(),
        )
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Handles {
    /// Takes pairs of an id and a handle; an empty handle names nobody.
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        Self(pairs.into_iter().filter(|(_, handle)| !handle.is_empty()).collect())
    }
}

impl SeenChannel {
    /// Takes the handles of those it names.
    pub(crate) fn take_handles(&mut self, handles: &Handles) {
        let ids = self.member_account_ids.iter().chain(&self.subscriber_account_ids);
        self.handles = handles.of(ids.map(String::as_str));
    }
}

impl SeenQuestion {
    /// True if nothing was chosen and nothing written.
    pub fn is_skipped(&self) -> bool {
        self.chosen_option_ids.is_empty() && self.custom_text.is_empty()
    }

    /// True if a person or time has settled it.
    pub fn is_settled(&self) -> bool {
        !self.is_skipped() || self.timed_out
    }

    /// The labels of the chosen options; an id without an option stands for itself.
    pub fn chosen_labels(&self) -> Vec<&str> {
        let label = |id: &'_ String| self.options.iter().find(|option| option.id == *id);
        self.chosen_option_ids.iter().map(|id| label(id).map_or(id.as_str(), |o| o.label.as_str())).collect()
    }
}

impl SeenMessage {
    /// What to call who posted it.
    pub(crate) fn author(&self) -> &str {
        self.handles.name(&self.author_account_id)
    }

    /// The answered ask this message carries, if it is an answer.
    pub fn answer(&self) -> Option<&SeenAsk> {
        self.blocks.iter().find_map(|block| match block {
            SeenBlock::AskAnswer { ask, .. } => Some(ask),
            _ => None,
        })
    }

    /// Takes the handles of those it names.
    pub(crate) fn take_handles(&mut self, handles: &Handles) {
        self.handles = handles.of(self.accounts());
    }

    /// Who posted it, who asked and who answered.
    fn accounts(&self) -> Vec<&str> {
        let mut accounts = vec![self.author_account_id.as_str()];
        for block in &self.blocks {
            match block {
                SeenBlock::Ask { ask } => accounts.push(&ask.answered_by_account_id),
                SeenBlock::AskAnswer { ask, asker_account_id } => {
                    accounts.extend([asker_account_id.as_str(), &ask.answered_by_account_id]);
                }
                SeenBlock::Text { .. } | SeenBlock::Unknown => {}
            }
        }
        accounts
    }

    /// Every text in it that somebody else chose.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = vec![&self.id, &self.topic_id, &self.author_account_id];
        texts.extend(self.handles.texts());
        for block in &self.blocks {
            match block {
                SeenBlock::Text { text } => texts.push(text),
                SeenBlock::Ask { ask } => ask.put_texts(&mut texts),
                SeenBlock::AskAnswer { ask, asker_account_id } => {
                    texts.push(asker_account_id);
                    ask.put_texts(&mut texts);
                }
                SeenBlock::Unknown => {}
            }
        }
        texts
    }
}

impl SeenAsk {
    fn put_texts<'a>(&'a self, texts: &mut Vec<&'a str>) {
        texts.extend([self.ask_id.as_str(), &self.answered_by_account_id]);
        for question in &self.questions {
            let own = [&question.question_id, &question.question, &question.header, &question.custom_text];
            texts.extend(own.into_iter().chain(&question.chosen_option_ids).map(String::as_str));
            for option in &question.options {
                texts.extend([option.id.as_str(), &option.label, &option.description, &option.preview]);
            }
        }
    }
}

impl Delivery {
    /// A delivered message, with what its labels call who posted it and who asked.
    pub fn labelled(message: SeenMessage, from_handle: String, asker_handle: &str) -> Self {
        let asker = message.blocks.iter().find_map(|block| match block {
            SeenBlock::AskAnswer { asker_account_id, .. } => {
                Some((asker_account_id.clone(), asker_handle.to_owned()))
            }
            _ => None,
        });
        let author = (message.author_account_id.clone(), from_handle.clone());
        let handles = [author].into_iter().chain(asker).collect();
        Self { message: SeenMessage { handles, ..message }, from_handle, ..Self::default() }
    }
}

impl SeenPresence {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Offline => "offline",
        }
    }
}
