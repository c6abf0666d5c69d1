//! What the server asks of a runner: places, sessions, control. Each container does its own; nothing waits for another.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use compass_domain::AccountId;
use compass_proto::v1::{
    self, RunnerErrorCode, SessionsRequest, sessions_request::Result as Reply, sessions_response::Command,
};
use compass_runner::{Begin, Profiles, Requests};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    Refusal,
    container::{Answer, Container, Order, Shared},
    life::locked,
    seat::Seat,
};

/// Places that are prepared at the same time.
const PROVISIONS: usize = 8;
/// Orders that wait for one container.
const ORDERS: usize = 64;
/// Characters of a session's id.
const SESSION_ID: usize = 64;

/// The agents of this runner.
pub(super) struct Host {
    shared: Arc<Shared>,
    containers: HashMap<AccountId, Handle>,
    requests: Mutex<Requests<Reply>>,
    provisions: Semaphore,
    /// Sessions whose start came, each with a mark that is cancelled when it is carried out.
    starting: Mutex<Vec<(String, CancellationToken)>>,
    /// The stream that is open now.
    results: Mutex<Option<mpsc::Sender<SessionsRequest>>>,
    closing: CancellationToken,
}

struct Handle {
    seat: Arc<Seat>,
    orders: mpsc::Sender<Order>,
}

impl Host {
    /// Starts the containers of all profiles; none has a session yet.
    pub(super) fn open(profiles: &Profiles, shared: Arc<Shared>) -> Arc<Self> {
        let mut containers = HashMap::new();
        for profile in profiles.iter() {
            let seat = Seat::new(profile.account());
            let (orders, taken) = mpsc::channel(ORDERS);
            let container = Container::new(profile.clone(), Arc::clone(&seat), Arc::clone(&shared));
            shared.tasks.spawn(container.run(taken));
            containers.insert(profile.account(), Handle { seat, orders });
        }
        Arc::new(Self {
            shared,
            containers,
            requests: Mutex::default(),
            provisions: Semaphore::new(PROVISIONS),
            starting: Mutex::default(),
            results: Mutex::default(),
            closing: CancellationToken::new(),
        })
    }

    /// Launches again what ran when the runner was killed.
    pub(super) async fn resume(&self) {
        for (account, session_id) in self.shared.sessions.all() {
            let resumed = self.begin(account, &session_id).await;
            if let Err(refusal) = resumed {
                let reason = refusal.message;
                tracing::error!(%account, session = session_id, reason, "a session cannot be continued");
                if let Err(error) = self.shared.sessions.note(account, None) {
                    tracing::error!(%account, %error, "it stays in the file");
                }
            }
        }
    }

    /// From now on results go this way, those of commands that came another way too.
    pub(super) fn attach(&self, results: mpsc::Sender<SessionsRequest>) {
        *locked(&self.results) = Some(results);
    }

    /// The stream broke. The server gave up on all that were waiting; who asks again gets the result.
    pub(super) fn detach(&self) {
        *locked(&self.results) = None;
    }

    /// Takes a command of the server. Control is handed over at once, in the order it comes; all else runs on a task.
    pub(super) fn obey(self: &Arc<Self>, message: v1::SessionsResponse) {
        let request_id = message.request_id;
        match message.command {
            // Control names the message it carries and is never the repeat of a command.
            Some(Command::DeliverControl(control)) => {
                if let Err(refusal) = self.deliver(control) {
                    self.answer(request_id, refusal.reply(), 1);
                }
            }
            None => {
                let refusal = Refusal::new(RunnerErrorCode::Internal, "a command this runner does not know");
                self.answer(request_id, refusal.reply(), 1);
            }
            Some(command) => match self.known(&request_id) {
                Begin::Join => {}
                Begin::Answer(reply) => self.answer(request_id, reply, 1),
                Begin::Run => self.run(request_id, command),
            },
        }
    }

    fn known(&self, request_id: &str) -> Begin<Reply> {
        locked(&self.requests).begin(request_id)
    }

    fn run(self: &Arc<Self>, request_id: String, command: Command) {
        let host = Arc::clone(self);
        // Noted as the command comes, so that a stop behind it finds it however the tasks are run.
        let starting = match &command {
            Command::Start(request) => Some(self.starts(named(request)).drop_guard()),
            _ => None,
        };
        self.shared.tasks.spawn(async move {
            let ended = host.carry_out(command).await;
            drop(starting);
            let waiting = locked(&host.requests).finish(&request_id, ended.as_ref().ok().cloned());
            let reply = ended.unwrap_or_else(|refusal| {
                tracing::warn!(request_id, code = ?refusal.code, reason = refusal.message, "a command was refused");
                refusal.reply()
            });
            host.answer(request_id, reply, waiting);
        });
    }

    fn starts(&self, session_id: &str) -> CancellationToken {
        let done = CancellationToken::new();
        let mut starting = locked(&self.starting);
        starting.retain(|(_, done)| !done.is_cancelled());
        starting.push((session_id.to_owned(), done.clone()));
        done
    }

    /// Waits until the starts of a session that came before are carried out.
    async fn started(&self, session_id: &str) {
        let starting = locked(&self.starting).clone();
        for (_, done) in starting.iter().filter(|(id, _)| id == session_id) {
            done.cancelled().await;
        }
    }

    /// Sends a result, as often as it was asked for.
    fn answer(&self, request_id: String, reply: Reply, times: usize) {
        let Some(results) = locked(&self.results).clone() else {
            tracing::warn!(request_id, "a command ended while no stream was open");
            return;
        };
        self.shared.tasks.spawn(async move {
            for _ in 0..times {
                let result = SessionsRequest {
                    request_id: request_id.clone(),
                    result: Some(reply.clone()),
                    ..SessionsRequest::default()
                };
                if results.send(result).await.is_err() {
                    tracing::warn!(request_id, "the stream broke before a result was sent");
                    return;
                }
            }
        });
    }

    async fn carry_out(&self, command: Command) -> Result<Reply, Refusal> {
        if self.closing.is_cancelled() && !matches!(command, Command::Status(_)) {
            return Err(Refusal::new(RunnerErrorCode::FailedPrecondition, "the runner is stopping"));
        }
        match command {
            Command::Provision(request) => self.provision(&request).await.map(Reply::Provision),
            Command::Start(request) => self.start(request).await.map(Reply::Start),
            Command::Stop(request) => {
                self.started(&request.session_id).await;
                // A session that is not here is over already.
                if let Some(account) = self.account_of(&request.session_id) {
                    let session_id = request.session_id;
                    self.order(account, |done| Order::Stop { session_id, done }).await?;
                }
                Ok(Reply::Stop(v1::StopAgentSessionResponse {}))
            }
            Command::Reload(request) => {
                let session_id = request.session_id.clone();
                self.started(&session_id).await;
                let account = self.account_of(&session_id).ok_or_else(Refusal::unknown_session)?;
                self.order(account, |done| Order::Reload { session_id, done }).await?;
                Ok(Reply::Reload(v1::ReloadAgentSessionResponse { session_id: request.session_id }))
            }
            Command::Status(request) => Ok(Reply::Status(self.status(&request.session_id))),
            Command::Remove(request) => {
                let account = self.place(&request.container_name);
                // A place that is not here is given up already.
                if let Ok(account) = account {
                    self.order(account, Order::Close).await?;
                }
                Ok(Reply::Remove(v1::RemoveAgentWorkspaceResponse {}))
            }
            Command::DeliverControl(_) => Err(Refusal::new(
                RunnerErrorCode::Internal,
                "control is handed over in order, not as a command",
            )),
        }
    }

    async fn provision(
        &self,
        request: &v1::ProvisionAgentWorkspaceRequest,
    ) -> Result<v1::ProvisionAgentWorkspaceResponse, Refusal> {
        let id = &request.agent_account_id;
        let account: AccountId = id.parse().map_err(|error| {
            let message = format!("agent_account_id {id:?}: {error}");
            Refusal::new(RunnerErrorCode::FailedPrecondition, message)
        })?;
        if !self.containers.contains_key(&account) {
            let message = format!("this runner has no profile of account {account}");
            return Err(Refusal::new(RunnerErrorCode::FailedPrecondition, message));
        }
        let _turn = self.provisions.acquire().await;
        self.order(account, Order::Prepare).await?;
        Ok(v1::ProvisionAgentWorkspaceResponse { container_name: account.to_string() })
    }

    async fn start(
        &self,
        request: v1::StartAgentSessionRequest,
    ) -> Result<v1::StartAgentSessionResponse, Refusal> {
        let account = self.place(&request.container_name)?;
        let session_id = named(&request).to_owned();
        self.begin(account, &session_id).await?;
        Ok(v1::StartAgentSessionResponse { session_id })
    }

    async fn begin(&self, account: AccountId, session_id: &str) -> Answer {
        let simple = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if session_id.is_empty() || session_id.len() > SESSION_ID || !session_id.bytes().all(simple) {
            let message = format!("session_id {session_id:?} is not an id");
            return Err(Refusal::new(RunnerErrorCode::FailedPrecondition, message));
        }
        let session_id = session_id.to_owned();
        self.order(account, |done| Order::Start { session_id, done }).await
    }

    /// Hands control to a session; never waits.
    fn deliver(&self, control: v1::DispatchControl) -> Answer {
        let account = self.account_of(&control.session_id).ok_or_else(Refusal::unknown_session)?;
        let handle = self.containers.get(&account).ok_or_else(Refusal::unknown_session)?;
        let op = control.op.unwrap_or_default();
        handle.seat.deliver(&control.session_id, op).unwrap_or_else(|| Err(Refusal::unknown_session()))
    }

    /// The sessions that run, or the one that is asked for.
    fn status(&self, session_id: &str) -> v1::GetAgentStatusResponse {
        let all = self.containers.values().filter_map(|handle| handle.seat.status());
        let wanted = all.filter(|status| session_id.is_empty() || status.session_id == session_id);
        v1::GetAgentStatusResponse { statuses: wanted.collect() }
    }

    /// Ends all sessions and closes all places, side by side.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let mut closing = Vec::new();
        for handle in self.containers.values() {
            let (done, closed) = oneshot::channel();
            if handle.orders.send(Order::Close(done)).await.is_ok() {
                closing.push(closed);
            }
        }
        for closed in closing {
            let _ = closed.await;
        }
    }

    fn account_of(&self, session_id: &str) -> Option<AccountId> {
        locked(&self.shared.running).get(session_id).copied()
    }

    fn place(&self, container_name: &str) -> Result<AccountId, Refusal> {
        let account = container_name.parse().ok().filter(|account| self.containers.contains_key(account));
        account.ok_or_else(|| {
            let message = format!("this runner has no place {container_name:?}");
            Refusal::new(RunnerErrorCode::NotFound, message)
        })
    }

    async fn order(
        &self,
        account: AccountId,
        order: impl FnOnce(oneshot::Sender<Answer>) -> Order,
    ) -> Answer {
        let gone = || Refusal::new(RunnerErrorCode::FailedPrecondition, "the runner is ending");
        let handle = self.containers.get(&account).ok_or_else(|| {
            let message = format!("this runner has no profile of account {account}");
            Refusal::new(RunnerErrorCode::FailedPrecondition, message)
        })?;
        let (done, answer) = oneshot::channel();
        handle.orders.send(order(done)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// The session that a start names.
fn named(request: &v1::StartAgentSessionRequest) -> &str {
    let ids = [&request.session_id, &request.resume_session_id];
    ids.into_iter().find(|id| !id.is_empty()).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::{
        endpoint::Endpoint,
        runner::{
            process::{Guard, Parts},
            raw::Relay,
            sessions::SessionsFile,
            uplink::Uplink,
        },
    };

    /// A host whose containers are the test itself: their orders, by account.
    fn host(agents: u8, state: &std::path::Path) -> (Arc<Host>, HashMap<AccountId, mpsc::Receiver<Order>>) {
        let endpoint = Endpoint::new("http://127.0.0.1:1", "token").unwrap();
        let parts = Parts { program: state.into(), exec: Vec::new(), guard: Vec::new(), core: Vec::new() };
        let shared = Arc::new(Shared {
            state_dir: state.into(),
            sockets: state.into(),
            sessions: Arc::new(SessionsFile::open(state).unwrap()),
            running: Mutex::default(),
            uplink: Uplink::new().0,
            relay: Relay::new(&endpoint),
            guard: Guard::new(parts.clone()),
            parts,
            tasks: TaskTracker::new(),
        });
        let (mut containers, mut orders) = (HashMap::new(), HashMap::new());
        for number in 1..=agents {
            let account = AccountId::from_bytes([number; 16]);
            let (give, take) = mpsc::channel(ORDERS);
            containers.insert(account, Handle { seat: Seat::new(account), orders: give });
            orders.insert(account, take);
        }
        let host = Host {
            shared,
            containers,
            requests: Mutex::default(),
            starting: Mutex::default(),
            provisions: Semaphore::new(PROVISIONS),
            results: Mutex::default(),
            closing: CancellationToken::new(),
        };
        (Arc::new(host), orders)
    }

    /// The next order of any container, if there is one within a moment.
    async fn next_order(orders: &mut HashMap<AccountId, mpsc::Receiver<Order>>) -> Option<Order> {
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            if let Some(order) = orders.values_mut().find_map(|taken| taken.try_recv().ok()) {
                return Some(order);
            }
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn b38_at_most_8_places_are_prepared_at_once_and_a_start_does_not_wait_for_them() {
        let state = tempfile::tempdir().unwrap();
        let (host, mut orders) = host(10, state.path());
        let (results, mut answered) = mpsc::channel(16);
        host.attach(results);
        let command = |id: String, command| v1::SessionsResponse { request_id: id, command: Some(command) };
        for number in 1..=10_u8 {
            let account = AccountId::from_bytes([number; 16]).to_string();
            let provision =
                v1::ProvisionAgentWorkspaceRequest { agent_account_id: account, ..Default::default() };
            host.obey(command(number.to_string(), Command::Provision(provision)));
        }
        let mut preparing = Vec::new();
        while let Some(order) = next_order(&mut orders).await {
            let Order::Prepare(done) = order else { panic!("not a preparation") };
            preparing.push(done);
        }
        assert_eq!(preparing.len(), 8);
        let start = v1::StartAgentSessionRequest {
            container_name: AccountId::from_bytes([1; 16]).to_string(),
            session_id: "s".into(),
            ..Default::default()
        };
        host.obey(command("start".into(), Command::Start(start)));
        assert!(matches!(next_order(&mut orders).await, Some(Order::Start { .. })));
        // One that fails makes room as well as one that succeeds.
        let ends = [Ok(()), Err(Refusal::new(RunnerErrorCode::Internal, "no"))];
        for end in ends {
            preparing.pop().unwrap().send(end).unwrap();
            let Some(Order::Prepare(done)) = next_order(&mut orders).await else { panic!("no next one") };
            preparing.insert(0, done);
            assert!(next_order(&mut orders).await.is_none(), "one for one");
        }
        for done in preparing {
            done.send(Ok(())).unwrap();
        }
        let mut succeeded = 0;
        // The start is answered too: nobody carried it out.
        for _ in 0..11 {
            let reply = answered.recv().await.unwrap().result;
            succeeded += usize::from(matches!(reply, Some(Reply::Provision(_))));
        }
        assert_eq!(succeeded, 9);
    }
}
