//! One life of an agent's program: its control, and who waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use compass_proto::v1::{AgentControl, ReplayComplete, agent_control::Control};
use compass_runner::{Next, Operation, Retention, SendError, Subscription};
use tokio::sync::{Notify, mpsc};
use tonic::Status;

/// Locks a mutex that no panic can leave half changed.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The control of one life.
#[derive(Debug)]
pub(super) struct Life {
    retention: Mutex<Retention<Arc<AgentControl>>>,
    changed: Notify,
}

impl Life {
    /// Opens a life; the first thing its agent gets is the end of the replay.
    pub(super) fn open() -> Arc<Self> {
        let mut retention = Retention::new();
        let first = AgentControl {
            control: Some(Control::ReplayComplete(ReplayComplete {})),
            ..AgentControl::default()
        };
        // A life that just began is neither over nor full.
        let _ = retention.send(Arc::new(first), Operation::ReplayComplete);
        Arc::new(Self { retention: Mutex::new(retention), changed: Notify::new() })
    }

    /// Takes an operation for the agent.
    pub(super) fn send(&self, op: AgentControl) -> Result<(), SendError> {
        let replay = matches!(op.control, Some(Control::ReplayComplete(_)));
        let prompt = matches!(op.control, Some(Control::Prompt(_)));
        let sent = {
            let mut retention = locked(&self.retention);
            match (replay, prompt) {
                (true, _) => retention.send(Arc::new(op), Operation::ReplayComplete),
                // A prompt is for the turn that could begin now, not for a later program.
                (false, true) => retention.send_if_live(Arc::new(op)),
                (false, false) => retention.send(Arc::new(op), Operation::Live),
            }
        };
        self.changed.notify_waiters();
        sent.map(drop)
    }

    /// Takes an acknowledgement of the agent.
    pub(super) fn acknowledge(&self, acked: u64, above: &[u64]) {
        locked(&self.retention).acknowledge(acked, above);
    }

    /// Lifts the barrier.
    pub(super) fn release(&self) {
        locked(&self.retention).release();
        self.changed.notify_waiters();
    }

    /// Ends the life.
    pub(super) fn retire(&self) {
        locked(&self.retention).retire();
        self.changed.notify_waiters();
    }

    /// Takes the control over from whoever had it. `None` after the end.
    pub(super) fn subscribe(&self) -> Option<Subscription> {
        let subscription = locked(&self.retention).subscribe();
        self.changed.notify_waiters();
        subscription
    }

    /// Sends control to `out` until it is displaced, the life ends, or nobody listens.
    pub(super) async fn drain(
        &self,
        subscription: Subscription,
        out: mpsc::Sender<Result<AgentControl, Status>>,
    ) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            let next = locked(&self.retention).next(subscription);
            let heard = match next {
                Next::Send(control_seq, op) => {
                    let op = AgentControl { control_seq, ..AgentControl::clone(&op) };
                    out.send(Ok(op)).await.is_ok()
                }
                Next::Wait => tokio::select! {
                    () = changed => true,
                    () = out.closed() => false,
                },
                Next::Displaced => {
                    let status = Status::aborted("another stream took the control over");
                    let _ = out.send(Err(status)).await;
                    return;
                }
                Next::Retired => return,
            };
            if !heard {
                locked(&self.retention).unsubscribe(subscription);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use compass_proto::v1::{DeliverControl, PromptControl};

    use super::*;

    fn deliver(name: &str) -> AgentControl {
        let op = DeliverControl { topic_name: name.into(), ..DeliverControl::default() };
        AgentControl { control: Some(Control::Deliver(op)), control_seq: 99 }
    }

    fn topic(op: &AgentControl) -> &str {
        match &op.control {
            Some(Control::Deliver(op)) => &op.topic_name,
            _ => "",
        }
    }

    #[tokio::test]
    async fn b31_the_end_of_the_replay_comes_first_and_holds_the_rest_back() {
        let life = Life::open();
        life.send(deliver("a")).unwrap();
        let (out, mut ops) = mpsc::channel::<Result<AgentControl, Status>>(8);
        let subscription = life.subscribe().unwrap();
        let drain = life.drain(subscription, out);
        let check = async {
            let first = ops.recv().await.unwrap().unwrap();
            assert!(matches!(first.control, Some(Control::ReplayComplete(_))));
            assert_eq!(first.control_seq, 1);
            tokio::task::yield_now().await;
            assert!(ops.try_recv().is_err(), "held");
            life.release();
            let second = ops.recv().await.unwrap().unwrap();
            assert_eq!(
                (topic(&second), second.control_seq),
                ("a", 2),
                "the runner's number, not the sender's"
            );
            life.retire();
            assert!(ops.recv().await.is_none(), "a clean end");
        };
        tokio::join!(drain, check);
    }

    #[tokio::test]
    async fn b17_a_takeover_while_operations_flow_loses_and_reorders_nothing() {
        const OPS: u64 = 500;
        let life = Life::open();
        life.release();
        let sending = async {
            for op in 0..OPS {
                life.send(deliver(&op.to_string())).unwrap();
                tokio::task::yield_now().await;
            }
        };
        let taking = async {
            let mut last_seq = 0;
            while last_seq < OPS + 1 {
                let (out, mut ops) = mpsc::channel::<Result<AgentControl, Status>>(1);
                let Some(subscription) = life.subscribe() else { panic!("it lives") };
                let reading = async {
                    let mut expected = last_seq + 1;
                    // Each stream is read for a while and then left without a word.
                    for _ in 0..37 {
                        let Some(op) = ops.recv().await else { break };
                        let op: AgentControl = op.unwrap();
                        assert_eq!(op.control_seq, expected);
                        expected += 1;
                        if expected > OPS + 1 {
                            break;
                        }
                    }
                    drop(ops);
                    last_seq = expected - 1;
                    life.acknowledge(last_seq, &[]);
                };
                tokio::join!(life.drain(subscription, out), reading);
            }
        };
        tokio::join!(sending, taking);
        assert!(locked(&life.retention).is_empty());
    }

    #[tokio::test]
    async fn b17_a_displaced_stream_is_told_and_ends() {
        let life = Life::open();
        let (out, mut ops) = mpsc::channel::<Result<AgentControl, Status>>(8);
        let first = life.subscribe().unwrap();
        let check = async {
            ops.recv().await.unwrap().unwrap();
            life.subscribe().unwrap();
            let status = ops.recv().await.unwrap().unwrap_err();
            assert_eq!(status.code(), tonic::Code::Aborted);
            assert!(ops.recv().await.is_none());
        };
        tokio::join!(life.drain(first, out), check);
    }

    #[test]
    fn b20_a_prompt_needs_an_agent_that_listens() {
        let life = Life::open();
        let prompt = || AgentControl {
            control: Some(Control::Prompt(PromptControl { input: "go".into() })),
            control_seq: 0,
        };
        assert_eq!(life.send(prompt()), Err(SendError::NoAgent));
        life.subscribe().unwrap();
        assert_eq!(life.send(prompt()), Ok(()));
        life.retire();
        assert_eq!(life.send(prompt()), Err(SendError::Retired));
    }
}
