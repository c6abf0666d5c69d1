//! Which results carry messages, and which never leave.

use std::sync::Arc;

use async_trait::async_trait;
use compass_agent::{
    ports::{CallError, Journal, JournalError, Mailbox, Mark, Owed, Wait},
    seen::{Delivery, SeenMessage},
};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::*;
use crate::mcp::Deliveries;

struct One;

#[async_trait]
impl Mailbox for One {
    async fn fetch(&self, _: u32, _: Option<&str>) -> Result<Owed, CallError> {
        let message = SeenMessage { id: "m".into(), ..SeenMessage::default() };
        Ok(Owed { deliveries: vec![Delivery { message, ..Delivery::default() }], waiting: 0 })
    }

    async fn acknowledge(&self, _: &[String]) -> Result<(), CallError> {
        Ok(())
    }
}

struct Blank;

impl Journal for Blank {
    fn mark(&mut self, _: &str) -> Result<Option<Mark>, JournalError> {
        Ok(None)
    }

    fn begin(&mut self, _: &[String]) -> Result<(), JournalError> {
        Ok(())
    }

    fn take(&mut self, _: &[String]) -> Result<(), JournalError> {
        Ok(())
    }

    fn refuse(&mut self, _: &[String]) -> Result<(), JournalError> {
        Ok(())
    }

    fn wait(&mut self, _: &Wait) -> Result<(), JournalError> {
        Ok(())
    }

    fn end_wait(&mut self, _: &str) -> Result<(), JournalError> {
        Ok(())
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        Ok(Vec::new())
    }
}

async fn carried() -> Carried {
    let (mailbox, tasks) = (Arc::new(One), TaskTracker::new());
    let deliveries = Deliveries::new(mailbox, Box::new(Blank), "a".into(), &|| [7; 8], tasks);
    deliveries.take_up(std::time::Duration::ZERO).await.expect("owed")
}

fn message<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a message")
}

fn call(id: i64) -> ClientJsonRpcMessage {
    let params = json!({ "name": "x" });
    message(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

fn cancel(id: i64) -> ClientJsonRpcMessage {
    let params = json!({ "requestId": id });
    message(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
}

fn result(id: i64) -> ServerJsonRpcMessage {
    message(json!({ "jsonrpc": "2.0", "id": id, "result": {} }))
}

const ID: RequestId = RequestId::Number(1);

#[tokio::test]
async fn what_was_attached_leaves_with_its_own_result_and_once() {
    let outbox = Outbox::default();
    outbox.arrived(&call(1));
    outbox.arrived(&call(2));
    assert!(outbox.attach(&ID, carried().await));
    assert!(outbox.leaves(&result(2)).is_none());
    assert!(outbox.leaves(&result(1)).is_some());
    assert!(outbox.leaves(&result(1)).is_none());
}

#[tokio::test]
async fn a_cancelled_call_carries_nothing_whenever_it_was_cancelled() {
    let outbox = Outbox::default();
    outbox.arrived(&call(1));
    assert!(outbox.attach(&ID, carried().await));
    outbox.arrived(&cancel(1));
    assert!(outbox.leaves(&result(1)).is_none());
    outbox.arrived(&call(1));
    outbox.arrived(&cancel(1));
    assert!(!outbox.attach(&ID, carried().await));
}

#[tokio::test]
async fn a_call_that_shares_its_id_carries_nothing() {
    let outbox = Outbox::default();
    outbox.arrived(&call(1));
    outbox.arrived(&call(1));
    assert!(!outbox.attach(&ID, carried().await));
    assert!(outbox.leaves(&result(1)).is_none());
    // Once both are over the id is a new one.
    outbox.arrived(&call(1));
    assert!(outbox.attach(&ID, carried().await));
}

#[tokio::test]
async fn only_calls_of_tools_carry_messages() {
    let outbox = Outbox::default();
    outbox.arrived(&message(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })));
    assert!(!outbox.attach(&ID, carried().await));
}
