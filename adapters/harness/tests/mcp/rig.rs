//! A server with one agent: what it is owed, what it posted, and its journal.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use compass_agent::{
    guard::Randomness,
    ports::{
        Call, CallError, CallResult, Gateway, HandOver, Journal, JournalError, Mailbox, Mark, Owed, Wait,
    },
    seen::{Delivery, SeenAsk, SeenBlock, SeenMessage},
    tools::PostKeys,
};
use compass_harness::mcp::{Core, Deliveries, Source};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

/// The account of the agent.
pub(crate) const READER: &str = "a1";

/// Stands for randomness; no content of these tests holds it.
pub(crate) fn random() -> [u8; 8] {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    (NEXT.fetch_add(1, Ordering::Relaxed) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// The same, as the product wants it.
pub(crate) const RANDOM: &Randomness = &random;

/// Everything around one agent.
pub(crate) struct House {
    owed: Mutex<Vec<Delivery>>,
    acknowledged: Mutex<Vec<String>>,
    pub(crate) fetches: AtomicUsize,
    calls: Mutex<Vec<Call>>,
    /// Lets calls that say `slow` go on.
    pub(crate) gate: Semaphore,
    /// Counts calls that said `slow` and wait.
    pub(crate) waiting: Semaphore,
    pub(crate) unreachable: bool,
    pub(crate) journal: Paper,
    pub(crate) tasks: TaskTracker,
    /// What the test itself runs beside.
    pub(crate) beside: TaskTracker,
}

impl House {
    pub(crate) fn new(owed: impl IntoIterator<Item = Delivery>) -> Arc<Self> {
        Arc::new(Self {
            owed: Mutex::new(owed.into_iter().collect()),
            acknowledged: Mutex::default(),
            fetches: AtomicUsize::new(0),
            calls: Mutex::default(),
            gate: Semaphore::new(0),
            waiting: Semaphore::new(0),
            unreachable: false,
            journal: Paper::default(),
            tasks: TaskTracker::new(),
            beside: TaskTracker::new(),
        })
    }

    pub(crate) fn core(self: &Arc<Self>) -> Core {
        let mailbox = Arc::<Self>::clone(self);
        let journal = Box::new(self.journal.clone());
        let deliveries = Deliveries::new(mailbox, journal, READER.into(), RANDOM, self.tasks.clone());
        let owed: Arc<dyn Source> = Arc::new(deliveries);
        Core {
            gateway: Arc::<Self>::clone(self),
            keys: PostKeys::new("nonce"),
            random: RANDOM,
            owed: Some(owed),
            tasks: self.tasks.clone(),
        }
    }

    pub(crate) fn owe(&self, delivery: Delivery) {
        locked(&self.owed).push(delivery);
    }

    pub(crate) fn acknowledged(&self) -> Vec<String> {
        locked(&self.acknowledged).clone()
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        locked(&self.calls).clone()
    }

    /// Waits until nothing that was begun is under way.
    pub(crate) async fn settled(&self) {
        while !self.tasks.is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("not poisoned")
}

#[async_trait]
impl Gateway for House {
    async fn call(&self, _: &str, call: Call) -> Result<CallResult, CallError> {
        if self.unreachable {
            return Err(CallError::Unreachable("nobody listens".into()));
        }
        if matches!(&call, Call::SetStatus { activity } if activity == "slow") {
            self.waiting.add_permits(1);
            self.gate.acquire().await.expect("open").forget();
        }
        locked(&self.calls).push(call.clone());
        match call {
            Call::Post { key, .. } => {
                Ok(CallResult::Post(Some(SeenMessage { id: key.replace(':', "-"), ..message("m") })))
            }
            Call::List { .. } => Ok(CallResult::List(vec![message("listed")])),
            Call::SetStatus { .. } => Ok(CallResult::SetStatus),
            other => Ok(CallResult::Unexpected(format!("{other:?}"))),
        }
    }
}

#[async_trait]
impl Mailbox for House {
    async fn fetch(&self, limit: u32, _: Option<&str>) -> Result<Owed, CallError> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        // Others get a turn between reading and handing over.
        tokio::task::yield_now().await;
        let owed = locked(&self.owed);
        let deliveries: Vec<_> = owed.iter().take(limit as usize).cloned().collect();
        let waiting = u32::try_from(owed.len() - deliveries.len()).expect("few");
        Ok(Owed { deliveries, waiting })
    }

    async fn acknowledge(&self, message_ids: &[String]) -> Result<(), CallError> {
        tokio::task::yield_now().await;
        locked(&self.owed).retain(|delivery| !message_ids.contains(&delivery.message.id));
        locked(&self.acknowledged).extend_from_slice(message_ids);
        Ok(())
    }
}

#[derive(Default)]
struct Sheet {
    marks: HashMap<String, Mark>,
    waits: Vec<Wait>,
    handing_over: Arc<()>,
}

/// The marks of several lives.
#[derive(Default, Clone)]
pub(crate) struct Paper(Arc<Mutex<Sheet>>);

impl Paper {
    fn put(&self, ids: &[String], mark: Mark) {
        locked(&self.0).marks.extend(ids.iter().map(|id| (id.clone(), mark)));
    }
}

impl Journal for Paper {
    fn mark(&mut self, id: &str) -> Result<Option<Mark>, JournalError> {
        Ok(locked(&self.0).marks.get(id).copied())
    }

    fn begin(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.put(ids, Mark::Begun);
        Ok(())
    }

    fn take(&mut self, ids: &[String]) -> Result<(), JournalError> {
        self.put(ids, Mark::Taken);
        Ok(())
    }

    fn refuse(&mut self, ids: &[String]) -> Result<(), JournalError> {
        locked(&self.0).marks.retain(|id, _| !ids.contains(id));
        Ok(())
    }

    fn wait(&mut self, wait: &Wait) -> Result<(), JournalError> {
        locked(&self.0).waits.push(wait.clone());
        Ok(())
    }

    fn end_wait(&mut self, key: &str) -> Result<(), JournalError> {
        locked(&self.0).waits.retain(|wait| wait.key != key);
        Ok(())
    }

    fn waits(&mut self) -> Result<Vec<Wait>, JournalError> {
        Ok(locked(&self.0).waits.clone())
    }

    fn hand_over(&mut self) -> Result<Option<HandOver>, JournalError> {
        let sheet = locked(&self.0);
        let free = Arc::strong_count(&sheet.handing_over) == 1;
        Ok(free.then(|| HandOver::holding(Arc::clone(&sheet.handing_over))))
    }
}

pub(crate) fn message(id: &str) -> SeenMessage {
    let blocks = vec![SeenBlock::Text { text: format!("text of {id}.") }];
    SeenMessage {
        id: id.into(),
        topic_id: "t".into(),
        author_account_id: "p".into(),
        blocks,
        ..SeenMessage::default()
    }
}

/// A message that the agent is owed.
pub(crate) fn owed(id: &str) -> Delivery {
    Delivery {
        message: message(id),
        topic_name: "Plans".into(),
        channel_name: "ops".into(),
        from_handle: "ana".into(),
        steer: false,
    }
}

/// An owed message of so many bytes.
pub(crate) fn long(id: &str, bytes: usize) -> Delivery {
    let mut delivery = owed(id);
    delivery.message.blocks = vec![SeenBlock::Text { text: format!("{id}{}", "x".repeat(bytes)) }];
    delivery
}

/// The answer to an ask, owed.
pub(crate) fn answer(id: &str, ask_id: &str) -> Delivery {
    let ask = SeenAsk { ask_id: ask_id.into(), answered: true, ..SeenAsk::default() };
    let mut delivery = owed(id);
    delivery.message.blocks = vec![SeenBlock::AskAnswer { ask, asker_account_id: READER.into() }];
    delivery
}

/// The ids of the messages that stand in a text as records of ours, in order.
pub(crate) fn handed(text: &str) -> Vec<String> {
    let records = text.lines().filter(|line| line.starts_with("<msg "));
    let id = |line: &str| line.split("id=\"").nth(1)?.split('"').next().map(str::to_owned);
    records.filter_map(id).collect()
}

/// A request of the protocol.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A call of a tool.
pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

/// A call that does little, or waits at the gate.
pub(crate) fn status(id: u64, activity: &str) -> Value {
    call(id, "compass_set_status", &json!({ "activity": activity }))
}

/// The first request of a client.
pub(crate) fn initialize(id: u64) -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    request(id, "initialize", &params)
}

/// The cancellation of a request.
pub(crate) fn cancel(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

/// The one text block of a result.
pub(crate) fn text(response: &Value) -> &str {
    let content = response["result"]["content"].as_array().expect("a result with content");
    assert_eq!(content.len(), 1, "exactly one block: {response}");
    assert_eq!(content[0]["type"], "text");
    content[0]["text"].as_str().expect("text")
}
