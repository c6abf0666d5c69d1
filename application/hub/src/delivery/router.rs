//! Submits routing jobs, in the order messages became ready, without holding up who asks for it.

use std::{
    collections::{HashSet, VecDeque},
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use compass_domain::{MessageId, TenantId};
use compass_ports::submit;
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};

use super::routing::Route;
use crate::{Hub, timing::lock};

/// Messages that wait to be routed at the most; the catch-up finds the others.
const QUEUE_MAX: usize = 8192;
/// How long a message that nobody waits for is kept back, so that several are routed in one commit.
const TOGETHER: Duration = Duration::from_millis(25);
/// Jobs that are submitted at once.
const JOBS_MAX: usize = 256;

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(TenantId, MessageId)>,
    later: VecDeque<(TenantId, MessageId)>,
    later_at: Option<Instant>,
    known: HashSet<MessageId>,
}

/// Whether somebody waits for a message to be routed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Somebody does.
    Now,
    /// Its routing only takes back a mark.
    Later,
}

impl Queue {
    /// The next message whose time has come, or when to look again.
    fn next(&mut self) -> Result<(TenantId, MessageId), Option<Instant>> {
        if self.later_at.is_some_and(|at| at <= Instant::now()) {
            self.later_at = None;
            self.waiting.append(&mut self.later);
        }
        self.waiting.pop_front().ok_or(self.later_at)
    }
}

/// The queue of messages that are ready to be routed.
#[derive(Debug, Default)]
pub(crate) struct Router {
    queue: Mutex<Queue>,
    wake: Notify,
    scan: Notify,
}

impl Router {
    /// Asks for a message to be routed. Never waits; one that finds no room stays unrouted and is found later.
    pub(crate) fn request(&self, tenant: &TenantId, message: MessageId, urgency: Urgency) {
        let mut queue = lock(&self.queue);
        if queue.waiting.len() + queue.later.len() < QUEUE_MAX && queue.known.insert(message) {
            let entry = (tenant.clone(), message);
            match urgency {
                Urgency::Now => queue.waiting.push_back(entry),
                Urgency::Later => {
                    queue.later.push_back(entry);
                    queue.later_at.get_or_insert_with(|| Instant::now() + TOGETHER);
                }
            }
        }
        drop(queue);
        self.wake.notify_one();
    }

    /// Asks for a scan of what was left unrouted.
    pub(crate) fn scan_now(&self) {
        self.scan.notify_one();
    }

    /// Waits until a scan is asked for.
    pub(crate) async fn scan_asked(&self) {
        self.scan.notified().await;
    }

    async fn next(&self) -> (TenantId, MessageId) {
        loop {
            let found = lock(&self.queue).next();
            match found {
                Ok(next) => return next,
                Err(None) => self.wake.notified().await,
                Err(Some(at)) => tokio::select! {
                    () = self.wake.notified() => {}
                    () = tokio::time::sleep_until(at) => {}
                },
            }
        }
    }

    fn done(&self, message: MessageId) {
        lock(&self.queue).known.remove(&message);
    }
}

pub(crate) async fn run(hub: Arc<Hub>) {
    let stop = hub.ports.stop.clone();
    stop.run_until_cancelled(work(&hub)).await;
}

async fn work(hub: &Arc<Hub>) {
    let jobs = Arc::new(Semaphore::new(JOBS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&jobs).acquire_owned().await else { return };
        let (tenant, message) = hub.router.next().await;
        let route = Arc::clone(hub);
        let mut job: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let _permit = permit;
            if let Err(error) = submit(&*route.ports.writer, &tenant, Route { message }).await {
                tracing::warn!(message.id = %message, %error, "a message was not routed and stays for the catch-up");
            }
            route.router.done(message);
        });
        // The first poll puts the job into the writer's queue, so jobs are queued in the order they were asked for.
        let pending = poll_fn(|context| Poll::Ready(job.as_mut().poll(context).is_pending())).await;
        if pending {
            hub.ports.tasks.spawn(job);
        }
    }
}
