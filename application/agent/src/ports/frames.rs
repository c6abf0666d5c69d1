//! What a session reports upwards.

use async_trait::async_trait;

/// One report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Where the session stands.
    State(SessionState),
    /// What the model does, for whoever watches; may be dropped.
    Event(SessionEvent),
    /// A message reached the model.
    DeliveryAck {
        /// Which.
        message_id: String,
    },
    /// Control was taken in.
    ControlAck {
        /// All of it up to this number.
        acked_seq: u64,
        /// And these above it, ascending.
        applied_above: Vec<u64>,
    },
    /// The replay is taken in.
    ReplayCompleteAck,
}

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Its process comes up.
    Starting,
    /// Between turns.
    Ready,
    /// In a turn.
    Working,
    /// Over, and well.
    Stopped,
    /// Over, and not well.
    Errored,
}

/// Something the model does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEvent {
    /// Unique in the session.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_unix_ms: i64,
    /// What.
    pub activity: Activity,
}

/// What the model does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// It says something.
    Text {
        /// What.
        text: String,
    },
    /// It thinks.
    Thinking {
        /// What.
        text: String,
    },
    /// It calls a tool.
    ToolCall {
        /// The call's id.
        id: String,
        /// For people.
        title: String,
        /// How far it is.
        status: ToolCallStatus,
    },
    /// A call went on.
    ToolCallUpdate {
        /// The call's id.
        id: String,
        /// How far it is.
        status: ToolCallStatus,
        /// What it printed.
        output: String,
        /// Files it changed.
        diffs: Vec<FileDiff>,
    },
    /// It plans; this replaces the plan before.
    Plan {
        /// In order.
        steps: Vec<PlanStep>,
    },
    /// The core has something to say to people.
    Notice {
        /// What.
        text: String,
    },
}

/// A file that a tool changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// As the agent names it.
    pub path: String,
    /// What was in it; none for a new file.
    pub old_text: Option<String>,
    /// What is in it now.
    pub new_text: String,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: PlanStepStatus,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStepStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

/// How far a call of a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
    /// Not done.
    Failed,
}

/// Reports could not be handed to the runner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PublishError(pub String);

/// Hands reports to the runner.
#[async_trait]
pub trait Publisher: Send + Sync {
    /// Hands a batch over, in order; all of it counts as lost unless this succeeds.
    ///
    /// # Errors
    ///
    /// [`PublishError`] if the runner did not take the whole batch.
    async fn publish(&self, frames: &[Frame]) -> Result<(), PublishError>;
}
