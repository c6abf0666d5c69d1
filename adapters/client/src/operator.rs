//! What operators' commands call.

use compass_proto::v1 as pb;
use serde::Serialize;

use crate::{Client, ClientError, agents, connect::within_deadline, convert};

/// One agent, and what stands between it and its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentOverview {
    /// Its account.
    pub account_id: String,
    /// Its handle.
    pub handle: String,
    /// Whose it is.
    pub owner_account_id: String,
    /// `idle`, `working`, `waiting`, `offline` or `unknown`.
    pub presence: &'static str,
    /// Its live sessions.
    pub sessions: Vec<AgentSession>,
    /// Where it is started; absent if nowhere.
    pub placement: Option<AgentPlacement>,
    /// Messages it is owed with its next turn; counted up to 1000, as the other two.
    pub owed_delivers: u32,
    /// Messages it is owed at once.
    pub owed_steers: u32,
    /// Messages for it that wait until a person posts in their topic.
    pub braked: u32,
    /// Messages it wrote that wait for the end of its turn.
    pub held: u32,
    /// What went wrong for it lately, oldest first.
    pub notes: Vec<AgentNote>,
}

/// A live session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentSession {
    /// Which.
    pub session_id: String,
    /// Through which runner.
    pub runner: String,
    /// Held by which node.
    pub node_id: String,
    /// False if it only counts for presence.
    pub takes_deliveries: bool,
    /// The words of [`crate::model::SessionStatus::state`].
    pub state: &'static str,
}

/// Where an agent is started, and how that went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentPlacement {
    /// On which runner.
    pub runner: String,
    /// In which container of it.
    pub container_name: String,
    /// `mention`, `any` or `never`.
    pub wake: &'static str,
    /// Starts that failed in a row.
    pub failures: u32,
    /// Before that time it is not woken, in milliseconds since 1970; absent if it may be woken now.
    pub next_wake_unix_ms: Option<i64>,
    /// What the last failed start said.
    pub error: Option<String>,
}

/// Something that went wrong for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentNote {
    /// When it happened last, in milliseconds since 1970.
    pub at_unix_ms: i64,
    /// What happened and why.
    pub text: String,
    /// How often in a row.
    pub times: u32,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `corrupt`, `failing_wake`, `no_runner`, `overdue` or `unknown`.
    pub kind: &'static str,
    /// What is wrong, in words.
    pub text: String,
    /// The agent it is about.
    pub account_id: Option<String>,
    /// The message it is about.
    pub message_id: Option<String>,
}

/// What a server found wrong with itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many messages were read to look for rows that cannot be.
    pub examined_messages: u32,
}

impl Client {
    /// The agents of the caller, by handle; those of everyone for an admin.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn agents(&self) -> Result<Vec<AgentOverview>, ClientError> {
        let request = within_deadline(pb::ListAgentsRequest {});
        let reply = self.take(self.operator().list_agents(request).await?);
        Ok(reply.agents.into_iter().map(AgentOverview::from).collect())
    }

    /// Lets the server look for what is wrong; for admins.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn diagnose(&self) -> Result<Diagnosis, ClientError> {
        let request = within_deadline(pb::DiagnoseRequest {});
        let reply = self.take(self.operator().diagnose(request).await?);
        let findings = reply.findings.into_iter().map(Finding::from).collect();
        Ok(Diagnosis { findings, examined_messages: reply.examined_messages })
    }
}

impl From<pb::AgentOverview> for AgentOverview {
    fn from(wire: pb::AgentOverview) -> Self {
        Self {
            presence: convert::presence(wire.presence()),
            account_id: wire.account_id,
            handle: wire.handle,
            owner_account_id: wire.owner_account_id,
            sessions: wire.sessions.into_iter().map(AgentSession::from).collect(),
            placement: wire.placement.map(AgentPlacement::from),
            owed_delivers: wire.owed_delivers,
            owed_steers: wire.owed_steers,
            braked: wire.braked,
            held: wire.held,
            notes: wire
                .notes
                .into_iter()
                .map(|note| AgentNote { at_unix_ms: note.at_unix_ms, text: note.text, times: note.times })
                .collect(),
        }
    }
}

impl From<pb::AgentSession> for AgentSession {
    fn from(wire: pb::AgentSession) -> Self {
        Self {
            state: agents::state(wire.state()).unwrap_or("unknown"),
            session_id: wire.session_id,
            runner: wire.runner,
            node_id: wire.node_id,
            takes_deliveries: wire.takes_deliveries,
        }
    }
}

impl From<pb::AgentPlacement> for AgentPlacement {
    fn from(wire: pb::AgentPlacement) -> Self {
        Self {
            wake: match wire.wake() {
                pb::WakePolicy::Mention => "mention",
                pb::WakePolicy::Any => "any",
                pb::WakePolicy::Never => "never",
            },
            runner: wire.runner,
            container_name: wire.container_name,
            failures: wire.failures,
            next_wake_unix_ms: (wire.next_wake_unix_ms != 0).then_some(wire.next_wake_unix_ms),
            error: filled(wire.error),
        }
    }
}

impl From<pb::Finding> for Finding {
    fn from(wire: pb::Finding) -> Self {
        Self {
            kind: match wire.kind() {
                pb::FindingKind::Corrupt => "corrupt",
                pb::FindingKind::FailingWake => "failing_wake",
                pb::FindingKind::NoRunner => "no_runner",
                pb::FindingKind::Overdue => "overdue",
                pb::FindingKind::Unspecified => "unknown",
            },
            text: wire.text,
            account_id: filled(wire.account_id),
            message_id: filled(wire.message_id),
        }
    }
}

fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
