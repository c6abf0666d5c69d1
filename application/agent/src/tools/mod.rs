//! The tools an agent calls: parse, one call of the gateway, render. None of them answers an ask.

mod cancel_ask;
mod list_messages;
mod outcome;
mod post_ask;
mod post_message;
mod registry;
mod set_status;

pub use cancel_ask::{CancelAskParams, cancel_ask};
pub use list_messages::{ListMessagesParams, list_messages};
pub use outcome::{ToolError, ToolOutput};
pub use post_ask::{OptionParams, PostAskParams, QuestionParams, post_ask};
pub(crate) use post_ask::{ask_under, post_ask_under};
pub use post_message::{PostMessageParams, post_message};
pub use registry::{ALL, Access, CallFailed, Tool, Toolbox, names};
pub use set_status::{SetStatusParams, set_status};

use crate::ports::Channel;

/// Keys for posts: a nonce of this connection and the call's id, so that call ids that repeat between sessions
/// do not collide.
#[derive(Debug, Clone)]
pub struct PostKeys {
    nonce: String,
}

impl PostKeys {
    /// Keys under a nonce.
    pub fn new(nonce: impl Into<String>) -> Self {
        Self { nonce: nonce.into() }
    }

    /// The key of a call.
    pub fn key(&self, call_id: &str) -> String {
        format!("{}:{call_id}", self.nonce)
    }
}

fn channel(name: Option<&str>) -> Result<Channel, ToolError> {
    match name {
        None => Ok(Channel::Home),
        Some(name) if name.trim().is_empty() => Err(ToolError::Blank("channel")),
        Some(name) => Ok(Channel::Name(name.to_owned())),
    }
}

fn require(field: &'static str, value: &str) -> Result<(), ToolError> {
    if value.trim().is_empty() { Err(ToolError::Blank(field)) } else { Ok(()) }
}

#[cfg(test)]
mod testing {
    //! A gateway that records one call and plays back one result.

    use std::sync::Mutex;

    use async_trait::async_trait;

    use crate::ports::{Call, CallError, CallResult, Gateway};

    pub(super) struct OneCall {
        pub(super) seen: Mutex<Option<Call>>,
        pub(super) result: Result<CallResult, CallError>,
    }

    impl OneCall {
        pub(super) fn new(result: Result<CallResult, CallError>) -> Self {
            Self { seen: Mutex::new(None), result }
        }

        pub(super) fn call_seen(&self) -> Option<Call> {
            self.seen.lock().expect("not poisoned").clone()
        }
    }

    #[async_trait]
    impl Gateway for OneCall {
        async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
            *self.seen.lock().expect("not poisoned") = Some(call);
            self.result.clone()
        }
    }
}
