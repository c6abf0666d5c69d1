//! One agent on this runner: its socket, its session, its program. Orders are carried out one after the other.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::DirBuilderExt as _,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use compass_domain::AccountId;
use compass_proto::v1::{AgentSessionState, RunnerErrorCode};
use compass_runner::{Exit, LaunchProfile, Supervision, Verdict};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::task::TaskTracker;

use super::{
    Refusal,
    life::locked,
    process::{CoreAt, Guard, Launch, LaunchError, Parts, Process},
    raw::Relay,
    seat::Seat,
    service::{Gateway, SocketService},
    sessions::{SessionsError, SessionsFile},
    socket::{self, AgentSocket},
    uplink::Uplink,
};

/// What all containers of a runner share.
pub(super) struct Shared {
    pub(super) state_dir: PathBuf,
    pub(super) sockets: PathBuf,
    pub(super) sessions: Arc<SessionsFile>,
    /// Which account runs which session.
    pub(super) running: Mutex<HashMap<String, AccountId>>,
    pub(super) uplink: Uplink,
    pub(super) relay: Relay,
    pub(super) parts: Parts,
    pub(super) guard: Arc<Guard>,
    pub(super) tasks: TaskTracker,
}

/// How an order ended.
pub(super) type Answer = Result<(), Refusal>;

/// What a container is asked to do.
pub(super) enum Order {
    /// Make ready: directory and socket.
    Prepare(oneshot::Sender<Answer>),
    /// Run this session.
    Start { session_id: String, done: oneshot::Sender<Answer> },
    /// End this session, if it is the one that runs.
    Stop { session_id: String, done: oneshot::Sender<Answer> },
    /// Restart the program of this session.
    Reload { session_id: String, done: oneshot::Sender<Answer> },
    /// End what runs and close the socket.
    Close(oneshot::Sender<Answer>),
}

/// The agent, and what runs for it.
pub(super) struct Container {
    profile: LaunchProfile,
    seat: Arc<Seat>,
    shared: Arc<Shared>,
    socket: Option<AgentSocket>,
    supervision: Supervision,
    run: Run,
}

enum Run {
    /// No session.
    Nothing,
    /// A session whose program lives.
    Live { process: Box<Process>, since: Instant },
    /// A session whose program is launched again then.
    Waiting { until: Instant },
}

enum Event {
    Order(Order),
    Ended(Exit),
    Due,
    Over,
}

impl Container {
    pub(super) fn new(profile: LaunchProfile, seat: Arc<Seat>, shared: Arc<Shared>) -> Self {
        let supervision = fresh(&profile);
        Self { profile, seat, shared, socket: None, supervision, run: Run::Nothing }
    }

    /// Carries out orders until nobody gives any.
    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            let event = tokio::select! {
                order = orders.recv() => order.map_or(Event::Over, Event::Order),
                event = next(&mut self.run) => event,
            };
            match event {
                Event::Order(order) => self.obey(order).await,
                Event::Ended(exit) => self.ended(exit).await,
                Event::Due => self.launch().await,
                Event::Over => {
                    self.close().await;
                    return;
                }
            }
        }
    }

    async fn obey(&mut self, order: Order) {
        // Whoever gave an order may have gone; it is carried out all the same.
        match order {
            Order::Prepare(done) => drop(done.send(self.prepare())),
            Order::Start { session_id, done } => {
                let started = self.start(&session_id).await;
                let runs = started.is_ok();
                // The server hears that the session is here before its program can speak.
                drop(done.send(started));
                if runs {
                    self.launch().await;
                }
            }
            Order::Stop { session_id, done } => {
                if self.seat.session_id().as_deref() == Some(session_id.as_str()) {
                    self.stop().await;
                }
                drop(done.send(Ok(())));
            }
            Order::Reload { session_id, done } => drop(done.send(self.reload(&session_id).await)),
            Order::Close(done) => {
                self.close().await;
                drop(done.send(Ok(())));
            }
        }
    }

    fn prepare(&mut self) -> Answer {
        if self.socket.is_some() {
            return Ok(());
        }
        let launch = self.launchable().map_err(|error| self.refuse(&error))?;
        let account = self.profile.account().to_string();
        let folder = self.shared.state_dir.join("agents").join(&account);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .and_then(|()| socket::give(&folder, launch.owner))
            .map_err(|error| fault(&format!("{}: {error}", folder.display())))?;
        let door = SocketService::new(Gateway {
            seat: Arc::clone(&self.seat),
            relay: self.shared.relay.clone(),
            uplink: self.shared.uplink.clone(),
            tasks: self.shared.tasks.clone(),
        });
        let path = socket::path(&self.shared.sockets, &account);
        let socket = AgentSocket::open(path, door, launch.owner, &self.shared.tasks);
        self.socket = Some(socket.map_err(|error| fault(&error))?);
        Ok(())
    }

    /// Takes the session in; its program is not launched yet.
    async fn start(&mut self, session_id: &str) -> Answer {
        if let Some(running) = self.seat.session_id() {
            let message = format!("session {running} runs there already");
            return Err(Refusal::new(RunnerErrorCode::AlreadyRunning, message));
        }
        self.launchable().map_err(|error| self.refuse(&error))?;
        self.prepare()?;
        self.note(Some(session_id)).await.map_err(|error| fault(&error))?;
        locked(&self.shared.running).insert(session_id.to_owned(), self.profile.account());
        self.seat.take(session_id);
        self.supervision = fresh(&self.profile);
        Ok(())
    }

    async fn reload(&mut self, session_id: &str) -> Answer {
        if self.seat.session_id().as_deref() != Some(session_id) {
            return Err(Refusal::unknown_session());
        }
        self.end_program(AgentSessionState::Disconnected).await;
        self.supervision = fresh(&self.profile);
        self.launch().await;
        Ok(())
    }

    /// Ends the session on request.
    async fn stop(&mut self) {
        self.end_program(AgentSessionState::Stopped).await;
        self.finish(Ok(())).await;
    }

    async fn close(&mut self) {
        if self.seat.session_id().is_some() {
            self.stop().await;
        }
        if let Some(mut socket) = self.socket.take() {
            socket.close().await;
        }
    }

    /// Begins a life of the program, the first one or a later one.
    async fn launch(&mut self) {
        self.run = Run::Nothing;
        let Some(session_id) = self.seat.session_id() else { return };
        self.seat.enter();
        self.shared.uplink.report(&session_id, AgentSessionState::Starting);
        match self.spawn() {
            Ok(process) => {
                tracing::info!(agent = self.name(), session = session_id, "launched");
                self.run = Run::Live { process: Box::new(process), since: Instant::now() };
            }
            Err(reason) => {
                self.seat.leave(AgentSessionState::Disconnected);
                self.decide(&Exit::Failure(reason), Instant::now()).await;
            }
        }
    }

    fn spawn(&mut self) -> Result<Process, String> {
        let launch = self.launchable().map_err(|error| error.to_string())?;
        self.prepare().map_err(|refusal| refusal.message)?;
        let account = self.profile.account().to_string();
        let socket = socket::path(&self.shared.sockets, &account);
        let core = CoreAt { socket: &socket, state_dir: &self.shared.state_dir };
        let shared = &self.shared;
        Process::start(&self.profile, &launch, &core, &shared.parts, &shared.guard, &shared.tasks)
            .map_err(|error| format!("it cannot be launched: {error}"))
    }

    /// The program ended by itself.
    async fn ended(&mut self, exit: Exit) {
        let Run::Live { process, since } = std::mem::replace(&mut self.run, Run::Nothing) else { return };
        self.seat.leave(AgentSessionState::Disconnected);
        process.clean_up().await;
        self.decide(&exit, since).await;
    }

    async fn decide(&mut self, exit: &Exit, since: Instant) {
        let random = getrandom::u64().unwrap_or_default();
        match self.supervision.ended(exit, since.elapsed(), random) {
            Verdict::Relaunch(wait) => {
                tracing::warn!(agent = self.name(), ?exit, wait_ms = wait.as_millis(), "is launched again");
                if let Some(session_id) = self.seat.session_id() {
                    let state = AgentSessionState::Disconnected;
                    match exit {
                        Exit::Success => self.shared.uplink.report(&session_id, state),
                        Exit::Failure(reason) => {
                            self.shared.uplink.report_failure(&session_id, state, reason);
                        }
                    }
                }
                self.run = Run::Waiting { until: Instant::now() + wait };
            }
            Verdict::Stopped => {
                tracing::info!(agent = self.name(), "ended");
                self.finish(Ok(())).await;
            }
            Verdict::Errored(reason) => {
                tracing::error!(agent = self.name(), reason, "failed");
                self.finish(Err(reason)).await;
            }
        }
    }

    /// Ends the program, if one lives; nothing it still says counts.
    async fn end_program(&mut self, state: AgentSessionState) {
        let run = std::mem::replace(&mut self.run, Run::Nothing);
        if let Run::Live { process, .. } = run {
            // It is asked to end while it can still acknowledge what it took.
            process.stop().await;
        }
        self.seat.leave(state);
    }

    /// The session is over: stopped, or failed for a reason.
    async fn finish(&mut self, how: Result<(), String>) {
        let session_id = self.seat.session_id();
        self.seat.clear();
        if let Some(session_id) = session_id {
            locked(&self.shared.running).remove(&session_id);
            let uplink = &self.shared.uplink;
            match how {
                Ok(()) => uplink.report(&session_id, AgentSessionState::Stopped),
                Err(reason) => uplink.report_failure(&session_id, AgentSessionState::Errored, &reason),
            }
        }
        if let Err(error) = self.note(None).await {
            tracing::error!(agent = self.name(), %error, "a session that is over stays in the file");
        }
    }

    async fn note(&self, session_id: Option<&str>) -> Result<(), SessionsError> {
        let (sessions, account) = (Arc::clone(&self.shared.sessions), self.profile.account());
        let session_id = session_id.map(str::to_owned);
        // The write waits for the disk.
        let noted =
            self.shared.tasks.spawn_blocking(move || sessions.note(account, session_id.as_deref())).await;
        noted.unwrap_or_else(|error| Err(SessionsError::Interrupted(error.to_string())))
    }

    fn launchable(&self) -> Result<Launch, LaunchError> {
        Launch::of(&self.profile)
    }

    fn refuse(&self, error: &LaunchError) -> Refusal {
        let message = format!("the profile of {:?}: {error}", self.name());
        Refusal::new(RunnerErrorCode::FailedPrecondition, message)
    }

    fn name(&self) -> &str {
        &self.profile.launch().name
    }
}

fn fresh(profile: &LaunchProfile) -> Supervision {
    Supervision::new(profile.launch().restart, profile.launch().restart_limit)
}

async fn next(run: &mut Run) -> Event {
    match run {
        Run::Nothing => std::future::pending().await,
        Run::Live { process, .. } => Event::Ended(process.ended().await),
        Run::Waiting { until } => {
            tokio::time::sleep_until(*until).await;
            Event::Due
        }
    }
}

/// What is wrong on this machine; whoever starts the agent is told, because only they can have it mended.
fn fault(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(RunnerErrorCode::FailedPrecondition, error.to_string())
}
