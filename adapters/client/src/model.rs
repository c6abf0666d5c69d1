//! What the server tells, as plain values; texts in them are untrusted. Serialized, they are the commands' JSON.

use serde::Serialize;

/// A person, an agent or the server itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Its id.
    pub id: String,
    /// Unique name.
    pub handle: String,
    /// Shown beside the handle; may be empty.
    pub display_name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: AccountKind,
}

/// What an account is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AccountKind {
    /// A person.
    Person {
        /// May run the installation.
        admin: bool,
    },
    /// A program that works for a person.
    Agent {
        /// The person.
        owner_account_id: String,
        /// The agent's own channel.
        home_channel_id: String,
        /// The agent it reports to.
        parent_agent_id: Option<String>,
    },
    /// The server.
    System,
    /// A kind this program does not know.
    Unknown,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Channel {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The group it is in.
    pub group_id: Option<String>,
    /// `channel`, `dm`, `group_dm` or `unknown`.
    pub kind: &'static str,
    /// Who has a stored entry.
    pub member_account_ids: Vec<String>,
    /// Who subscribed.
    pub subscriber_account_ids: Vec<String>,
    /// The agent below which everyone takes part; none if only members do.
    pub anchor_agent_id: Option<String>,
    /// Who alone may post; none if every participant may.
    pub owner_account_id: Option<String>,
    /// Every agent that takes part is delivered to, subscribed or not.
    pub mandatory_subscription: bool,
    /// Pinned messages, in order.
    pub pinned_message_ids: Vec<String>,
}

/// A group of channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Its name; others may have it too.
    pub name: String,
    /// The group it stands in.
    pub parent_group_id: Option<String>,
    /// Who created it.
    pub owner_account_id: String,
    /// Everyone sees it if every group above it is shared too.
    pub shared: bool,
}

/// A direct conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Direct {
    /// Its channel.
    pub channel: Channel,
    /// It was opened just now.
    pub created: bool,
}

/// An agent of a roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RosterEntry {
    /// The agent.
    pub agent_account_id: String,
    /// Unique name.
    pub handle: String,
    /// Shown beside the handle; may be empty.
    pub display_name: String,
    /// The agent it reports to.
    pub parent_agent_id: Option<String>,
    /// `idle`, `working`, `waiting`, `offline` or `unknown`.
    pub presence: &'static str,
    /// What it last said it does.
    pub activity: Option<String>,
    /// When it said so, in milliseconds since 1970.
    pub activity_at_unix_ms: Option<i64>,
}

/// A topic of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Topic {
    /// Its id.
    pub id: String,
    /// Its channel.
    pub channel_id: String,
    /// Its name.
    pub name: String,
    /// Hidden unless asked for.
    pub archived: bool,
    /// How many messages it holds.
    pub message_count: u64,
    /// Asks in it that are open.
    pub open_ask_count: u32,
    /// True if the next agent messages in it wait until a person posts.
    pub braked: bool,
    /// Time of the newest message, in milliseconds since 1970.
    pub last_activity_unix_ms: i64,
}

/// How far a person has read a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadPosition {
    /// The topic.
    pub topic_id: String,
    /// Place of the newest message that was read; 0 if none was.
    pub channel_seq: u64,
    /// Messages of others after it.
    pub unread_count: u32,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// Its topic.
    pub topic_id: String,
    /// Who posted it.
    pub author_account_id: String,
    /// When, in milliseconds since 1970 by the server's clock.
    pub at_unix_ms: i64,
    /// Place in its channel.
    pub channel_seq: u64,
    /// What it says.
    pub blocks: Vec<Block>,
}

impl Message {
    /// The asks in it.
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Ask(ask) => Some(ask),
            _ => None,
        })
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text(String),
    /// Questions to people.
    Ask(Ask),
    /// A person's answer to an ask.
    AskAnswer {
        /// The ask as it was closed.
        ask: Ask,
        /// Who asked.
        asker_account_id: String,
    },
    /// A kind this program does not know.
    Unknown,
}

/// Questions to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ask {
    /// Its id.
    pub ask_id: String,
    /// `open`, `answered` or `cancelled`.
    pub state: AskState,
    /// Who answered.
    pub answered_by_account_id: Option<String>,
    /// When it closed, in milliseconds since 1970.
    pub closed_at_unix_ms: Option<i64>,
    /// The questions with, once answered, their answers.
    pub questions: Vec<Question>,
}

/// Where an ask stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskState {
    /// Waits for a person.
    Open,
    /// A person answered.
    Answered,
    /// Its author withdrew it.
    Cancelled,
}

/// One question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Its id, unique in the ask.
    pub question_id: String,
    /// What is asked.
    pub question: String,
    /// A short title; may be empty.
    pub header: String,
    /// What can be chosen; none for text only.
    pub options: Vec<Choice>,
    /// Several may be chosen.
    pub allow_multiple: bool,
    /// Index of the option the asker suggests.
    pub recommended: Option<i32>,
    /// Of the answer: what was chosen.
    pub chosen_option_ids: Vec<String>,
    /// Of the answer: own words.
    pub custom_text: String,
}

/// One option of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Its id.
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// Explanation; may be empty.
    pub description: String,
    /// Sample; may be empty.
    pub preview: String,
}

/// A message with an open ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenAsk {
    /// The channel it is in.
    pub channel_id: String,
    /// The whole message.
    pub message: Message,
}

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenInfo {
    /// Names the token when revoking.
    pub id: String,
    /// Whose it is, unless a runner's.
    pub account_id: Option<String>,
    /// The runner, if one's.
    pub runner_id: Option<String>,
    /// When it was issued, in milliseconds since 1970.
    pub created_at_unix_ms: i64,
    /// When it stops working, in milliseconds since 1970.
    pub expires_at_unix_ms: Option<i64>,
}

/// The account that a token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    /// Its id.
    pub account_id: String,
    /// Its handle; empty if the server does not tell.
    pub handle: String,
}

/// What a trade of a sign-in secret gives.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// The token to use from now on.
    pub token: String,
    /// Whose it is.
    pub account_id: String,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedIn").field("account_id", &self.account_id).finish_non_exhaustive()
    }
}

/// An agent that was placed and started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spawned {
    /// In which session it runs.
    pub session_id: String,
    /// In which container of its runner.
    pub container_name: String,
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionStatus {
    /// Which.
    pub session_id: String,
    /// Whose.
    pub agent_account_id: String,
    /// `starting`, `ready`, `working`, `stopped`, `errored`, `disconnected` or `unknown`.
    pub state: &'static str,
}

/// Something a session did, or its new state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionFrame {
    /// The state, if this is about it; the words of [`SessionStatus::state`].
    pub state: Option<&'static str>,
    /// When, by the agent's clock, in milliseconds since 1970.
    pub at_unix_ms: Option<i64>,
    /// What it did, if anything.
    pub event: Option<SessionEvent>,
}

/// What an agent did in its session. All texts are the agent's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionEvent {
    /// Words of the model, possibly a part of them.
    Text {
        /// The words.
        text: String,
    },
    /// Reasoning of the model, possibly a part of it.
    Thinking {
        /// The words.
        text: String,
    },
    /// A tool call began.
    ToolCall {
        /// Names it in later updates.
        id: String,
        /// For people.
        title: String,
        /// How far it is.
        status: &'static str,
    },
    /// A tool call went on.
    ToolCallUpdate {
        /// Which.
        id: String,
        /// How far it is.
        status: &'static str,
        /// What it printed.
        output: String,
        /// Files it changed.
        changed_paths: Vec<String>,
    },
    /// The plan, whole.
    Plan {
        /// In order.
        steps: Vec<PlanStep>,
    },
    /// A remark of the program around the model.
    Notice {
        /// The remark.
        text: String,
        /// Where to read on.
        link: Option<String>,
    },
    /// Something this program has no words for.
    Other,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: &'static str,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The stream stands; what happened up to here is read with `snapshot_seq`.
    Started {
        /// For list calls beside the stream.
        snapshot_seq: u64,
    },
    /// A message was posted.
    MessagePosted {
        /// The message.
        message: Message,
    },
    /// An ask in a message closed.
    MessageUpdated {
        /// The message as it is now.
        message: Message,
    },
    /// A topic is new or changed.
    TopicUpserted {
        /// The topic.
        topic: Topic,
    },
    /// A channel is new or changed.
    ChannelChanged {
        /// The channel.
        channel: Channel,
        /// Who no longer takes part.
        removed_account_ids: Vec<String>,
    },
    /// An account is new or changed.
    AccountChanged {
        /// The account.
        account: Account,
    },
    /// An agent's presence or activity changed.
    AgentPresenceChanged {
        /// The agent.
        agent_account_id: String,
        /// `idle`, `working`, `waiting`, `offline` or `unknown`.
        presence: &'static str,
        /// What it says it does; empty if only the presence changed.
        activity: String,
    },
    /// Events were lost; the stream ends.
    ResyncRequired,
    /// An event this program has no use for.
    Other,
}
