//! A gateway that records calls and plays results back, and a call of a tool over it.

use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::Value;

use super::{CallFailed, PostKeys, ToolOutput, Toolbox};
use crate::{
    ports::{Call, CallError, CallResult, Gateway},
    seen::SeenChannel,
};

type Played = Result<CallResult, CallError>;

/// Plays results in order; the last one comes again for ever.
pub(super) struct OneCall {
    seen: Mutex<Vec<Call>>,
    results: Vec<Played>,
}

impl OneCall {
    pub(super) fn new(result: Played) -> Self {
        Self::each([result])
    }

    pub(super) fn each(results: impl IntoIterator<Item = Played>) -> Self {
        Self { seen: Mutex::default(), results: results.into_iter().collect() }
    }

    /// The last call.
    pub(super) fn call_seen(&self) -> Option<Call> {
        self.calls().pop()
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

#[async_trait]
impl Gateway for OneCall {
    async fn call(&self, _: &str, call: Call) -> Played {
        let mut seen = self.seen.lock().expect("not poisoned");
        seen.push(call);
        self.results[seen.len().min(self.results.len()) - 1].clone()
    }
}

/// Calls a tool by name, with JSON, as call 7 of the nonce `nonce`.
pub(super) async fn run(gateway: &OneCall, tool: &str, arguments: &str) -> Result<ToolOutput, CallFailed> {
    let arguments: Value = serde_json::from_str(arguments).expect("JSON");
    let keys = PostKeys::new("nonce");
    Toolbox { gateway, keys: &keys, random: &|| [7; 8] }.call("7", tool, arguments).await
}

/// A direct conversation.
pub(super) fn dm(id: &str, name: &str, created: bool) -> CallResult {
    let channel = SeenChannel { id: id.into(), name: name.into(), direct: true, ..SeenChannel::default() };
    CallResult::OpenDm { channel: Some(channel), created }
}
