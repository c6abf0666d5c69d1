//! Frames upwards: one queue and one sequence for the whole runner, over all its connections.

use std::sync::Arc;

use compass_proto::v1::{self, AgentFrame, AgentSessionState, agent_frame::Frame, session_event::Event};
use compass_runner::PublishSequence;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::dial::QUEUE;

/// Where frames are put.
#[derive(Clone)]
pub(super) struct Uplink {
    queue: mpsc::UnboundedSender<Queued>,
    /// Bounds what agents may have waiting; what the runner says itself is bounded by what happens.
    room: Arc<Semaphore>,
}

enum Queued {
    Frame { session_id: String, frame: AgentFrame, _room: Option<OwnedSemaphorePermit> },
    Finish(oneshot::Sender<()>),
}

/// Where frames are taken from.
pub(super) struct Upstream {
    queue: mpsc::UnboundedReceiver<Queued>,
    /// Taken from the queue, not yet on a stream.
    pending: Option<Queued>,
    sequence: PublishSequence,
}

/// Why a pump stopped.
#[derive(Debug)]
pub(super) enum Pumped {
    /// The stream is broken; what was not sent waits for the next one.
    Broken,
    /// Everything was sent; who asked waits for this.
    Finished(oneshot::Sender<()>),
    /// Nobody sends any more.
    Idle,
}

impl Uplink {
    /// Both ends of the queue.
    pub(super) fn new() -> (Self, Upstream) {
        let (queue, taken) = mpsc::unbounded_channel();
        let upstream = Upstream { queue: taken, pending: None, sequence: PublishSequence::default() };
        (Self { queue, room: Arc::new(Semaphore::new(QUEUE)) }, upstream)
    }

    /// Puts a frame of an agent behind all before it; waits while too many do. False when the runner ends.
    pub(super) async fn publish(&self, session_id: &str, frame: AgentFrame) -> bool {
        let Ok(room) = Arc::clone(&self.room).acquire_owned().await else { return false };
        self.put(session_id, frame, Some(room))
    }

    /// Puts the runner's own word on a session behind all before it; never waits.
    pub(super) fn report(&self, session_id: &str, state: AgentSessionState) {
        self.tell(session_id, state, None);
    }

    /// The same of a session whose program failed, with the reason as a remark for those who watch.
    pub(super) fn report_failure(&self, session_id: &str, state: AgentSessionState, reason: &str) {
        let notice = v1::SessionNotice { text: reason.to_owned(), link: None };
        // It is the runner's word and no act of the agent, so it has neither an id nor a time of the agent's.
        let event = v1::SessionEvent { event: Some(Event::Notice(notice)), ..v1::SessionEvent::default() };
        self.tell(session_id, state, Some(event));
    }

    fn tell(&self, session_id: &str, state: AgentSessionState, typed_event: Option<v1::SessionEvent>) {
        let frame = Frame::Session(v1::SessionFrame { state: state.into(), typed_event });
        // Without a link there is nobody to tell; the next one asks for the status.
        self.put(session_id, AgentFrame { frame: Some(frame) }, None);
    }

    fn put(&self, session_id: &str, frame: AgentFrame, room: Option<OwnedSemaphorePermit>) -> bool {
        let session_id = session_id.to_owned();
        self.queue.send(Queued::Frame { session_id, frame, _room: room }).is_ok()
    }

    /// Resolves when the server has taken everything that was put before; never, if no connection comes.
    pub(super) async fn finish(&self) {
        let (done, finished) = oneshot::channel();
        if self.queue.send(Queued::Finish(done)).is_ok() {
            let _ = finished.await;
        }
    }
}

impl Upstream {
    /// Moves frames onto a stream. It can be dropped at any time: a frame is numbered when it is on the stream.
    pub(super) async fn pump(&mut self, stream: &mpsc::Sender<v1::PublishEventsRequest>) -> Pumped {
        loop {
            if self.pending.is_none() {
                self.pending = self.queue.recv().await;
            }
            if self.pending.is_none() {
                return Pumped::Idle;
            }
            let Ok(place) = stream.reserve().await else { return Pumped::Broken };
            match self.pending.take() {
                None => {}
                Some(Queued::Finish(done)) => return Pumped::Finished(done),
                Some(Queued::Frame { session_id, frame, _room }) => {
                    place.send(v1::PublishEventsRequest {
                        runner_seq: self.sequence.next(),
                        session_id,
                        frame: Some(frame),
                        idempotency_key: String::new(),
                    });
                    self.sequence.sent();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ack(message_id: &str) -> AgentFrame {
        let frame = Frame::DeliveryAck(v1::DeliveryAck { message_id: message_id.into() });
        AgentFrame { frame: Some(frame) }
    }

    fn id(request: &v1::PublishEventsRequest) -> String {
        match request.frame.as_ref().and_then(|frame| frame.frame.as_ref()) {
            Some(Frame::DeliveryAck(ack)) => ack.message_id.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn b24_b25_a_broken_stream_burns_no_number_and_the_next_one_goes_on() {
        let (uplink, mut upstream) = Uplink::new();
        for message in ["a", "b", "c"] {
            assert!(uplink.publish("s", ack(message)).await);
        }
        let (first, mut taken) = mpsc::channel(1);
        // Room for one: the second frame is taken from the queue and waits when the stream is given up.
        let pumped = tokio::time::timeout(Duration::from_millis(20), upstream.pump(&first)).await;
        assert!(pumped.is_err());
        let got = taken.recv().await.unwrap();
        assert_eq!((got.runner_seq, id(&got).as_str()), (1, "a"));
        drop(taken);
        assert!(matches!(upstream.pump(&first).await, Pumped::Broken));
        let (second, mut taken) = mpsc::channel(8);
        let finishing = async {
            uplink.finish().await;
        };
        let pumping = async {
            let Pumped::Finished(done) = upstream.pump(&second).await else { panic!("not finished") };
            done.send(()).unwrap();
        };
        tokio::join!(finishing, pumping);
        drop(second);
        for (seq, message) in [(2, "b"), (3, "c")] {
            let got = taken.recv().await.unwrap();
            assert_eq!((got.runner_seq, id(&got).as_str()), (seq, message));
        }
        assert!(taken.recv().await.is_none());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn b26_many_agents_at_once_leave_no_gap() {
        let (uplink, mut upstream) = Uplink::new();
        let tasks = tokio_util::task::TaskTracker::new();
        for agent in 0..8 {
            let uplink = uplink.clone();
            tasks.spawn(async move {
                for frame in 0..200 {
                    assert!(uplink.publish(&agent.to_string(), ack(&frame.to_string())).await);
                }
            });
        }
        let (stream, mut taken) = mpsc::channel(4);
        drop(uplink);
        let pump = async move {
            assert!(matches!(upstream.pump(&stream).await, Pumped::Idle));
        };
        let check = async {
            let mut last = [0; 8];
            for seq in 1..=1600 {
                let got = taken.recv().await.unwrap();
                assert_eq!(got.runner_seq, seq);
                let agent: usize = got.session_id.parse().unwrap();
                assert_eq!(id(&got), last[agent].to_string(), "in the order of each agent");
                last[agent] += 1;
            }
            assert!(taken.recv().await.is_none());
        };
        tokio::join!(pump, check);
    }

    #[tokio::test]
    async fn a_flood_without_a_connection_waits_and_the_runner_can_still_speak() {
        let (uplink, _upstream) = Uplink::new();
        for frame in 0..QUEUE {
            assert!(uplink.publish("s", ack(&frame.to_string())).await);
        }
        let more = tokio::time::timeout(Duration::from_millis(20), uplink.publish("s", ack("more"))).await;
        assert!(more.is_err(), "bounded");
        uplink.report("s", AgentSessionState::Stopped);
    }
}
