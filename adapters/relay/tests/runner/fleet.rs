//! A runner with a token of its own that does as it is told, over the real door.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use compass_proto::v1::{
    self, AgentSessionState, RunnerErrorCode, agent_control::Control, agent_frame::Frame,
    sessions_request::Result as Outcome, sessions_response::Command,
};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};
use tokio_util::task::TaskTracker;

use crate::{
    process::{Process, client, enrolment, published},
    support::{Server, with},
};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What a runner keeps over its connections.
#[derive(Clone, Default)]
pub(crate) struct Keep {
    /// Sessions and their containers.
    pub(crate) running: Arc<Mutex<BTreeMap<String, String>>>,
    /// The commands that came, deliveries left out.
    pub(crate) commands: Arc<Mutex<Vec<Command>>>,
    /// What starts and provisions are refused with.
    pub(crate) refusal: Arc<Mutex<Option<RunnerErrorCode>>>,
}

impl Keep {
    pub(crate) fn count(&self, is: impl Fn(&Command) -> bool) -> usize {
        self.commands.lock().unwrap().iter().filter(|command| is(command)).count()
    }

    pub(crate) fn runs(&self) -> Vec<String> {
        self.running.lock().unwrap().keys().cloned().collect()
    }
}

/// One connection of a runner.
pub(crate) struct Fleet {
    pub(crate) keep: Keep,
    pub(crate) deliveries: mpsc::UnboundedReceiver<(String, v1::Message)>,
    /// Every provision takes one before it is answered.
    pub(crate) provisions: Arc<Semaphore>,
    token: String,
    obeying: JoinHandle<()>,
    server_url_client: v1::runner_service_client::RunnerServiceClient<tonic::transport::Channel>,
}

impl Fleet {
    pub(crate) async fn attach(server: &Server, instance: &str) -> Self {
        Self::attach_with(server, &server.runner, instance, Keep::default()).await
    }

    pub(crate) async fn attach_with(server: &Server, token: &str, instance: &str, keep: Keep) -> Self {
        client(server).enroll(with(token, enrolment(instance))).await.unwrap();
        let process = Process::stream(server, token, instance).await.unwrap();
        let (deliver, deliveries) = mpsc::unbounded_channel();
        let provisions = Arc::new(Semaphore::new(1024));
        let obeying = {
            let (tasks, provisions) = (server.comms.tasks.clone(), Arc::clone(&provisions));
            server.comms.tasks.spawn(obey(process, keep.clone(), deliver, provisions, tasks))
        };
        Self {
            keep,
            deliveries,
            provisions,
            token: token.to_owned(),
            obeying,
            server_url_client: client(server),
        }
    }

    /// Cuts the connection.
    pub(crate) fn cut(self) -> Keep {
        self.keep.clone()
    }

    pub(crate) async fn publish(&mut self, session: &str, frames: Vec<Frame>) {
        let frames: Vec<_> = (1..).zip(frames).map(|(seq, frame)| published(seq, session, frame)).collect();
        self.server_url_client.publish_events(with(&self.token, tokio_stream::iter(frames))).await.unwrap();
    }

    pub(crate) async fn report(&mut self, session: &str, states: &[AgentSessionState]) {
        self.publish(session, states.iter().map(|state| crate::process::state(*state)).collect()).await;
    }

    pub(crate) async fn delivered(&mut self) -> (String, v1::Message) {
        let next = tokio::time::timeout(PATIENCE, self.deliveries.recv()).await;
        next.expect("a message comes").expect("the runner is attached")
    }

    pub(crate) async fn relay(
        &mut self,
        session: &str,
        call: v1::CommsCallRequest,
    ) -> Result<v1::CommsCallResult, tonic::Status> {
        let request = v1::RelayCommsCallRequest { session_id: session.into(), call: Some(call) };
        let relayed = self.server_url_client.relay_comms_call(with(&self.token, request)).await?;
        Ok(relayed.into_inner().result.unwrap())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.obeying.abort();
    }
}

async fn obey(
    mut process: Process,
    keep: Keep,
    deliver: mpsc::UnboundedSender<(String, v1::Message)>,
    provisions: Arc<Semaphore>,
    tasks: TaskTracker,
) {
    while let Ok(Some(command)) = process.commands.message().await {
        let (id, results) = (command.request_id, process.results.clone());
        let command = command.command.unwrap();
        if let Command::DeliverControl(control) = command {
            let message = match control.op.unwrap().control.unwrap() {
                Control::Deliver(op) => op.message,
                Control::Steer(op) => op.message,
                other => panic!("not a message: {other:?}"),
            };
            drop(deliver.send((control.session_id, message.unwrap())));
            continue;
        }
        keep.commands.lock().unwrap().push(command.clone());
        let (keep, provisions) = (keep.clone(), Arc::clone(&provisions));
        // Each on its own task, as a runner does.
        tasks.spawn(async move {
            if matches!(command, Command::Provision(_)) {
                provisions.acquire().await.unwrap().forget();
            }
            let result = Some(outcome(&keep, command));
            let answer = v1::SessionsRequest { request_id: id, result, ..Default::default() };
            drop(results.send(answer).await);
        });
    }
}

fn outcome(keep: &Keep, command: Command) -> Outcome {
    if let Some(code) = *keep.refusal.lock().unwrap()
        && matches!(command, Command::Start(_) | Command::Provision(_))
    {
        return Outcome::Error(v1::RunnerError { code: code.into(), message: "no".into() });
    }
    let mut running = keep.running.lock().unwrap();
    match command {
        Command::Provision(request) => {
            assert_eq!((request.persona.as_str(), request.role.as_str()), ("", ""), "cleared by the server");
            let container_name = request.agent_account_id;
            Outcome::Provision(v1::ProvisionAgentWorkspaceResponse { container_name })
        }
        Command::Start(start) => {
            running.insert(start.session_id.clone(), start.container_name);
            Outcome::Start(v1::StartAgentSessionResponse { session_id: start.session_id })
        }
        Command::Stop(stop) => {
            running.remove(&stop.session_id);
            Outcome::Stop(v1::StopAgentSessionResponse {})
        }
        Command::Reload(reload) => {
            Outcome::Reload(v1::ReloadAgentSessionResponse { session_id: reload.session_id })
        }
        Command::Status(_) => Outcome::Status(v1::GetAgentStatusResponse {
            statuses: running
                .keys()
                .map(|session| v1::AgentSessionStatus {
                    session_id: session.clone(),
                    state: AgentSessionState::Ready.into(),
                    // A runner's word about the account does not count.
                    agent_account_id: "somebody".into(),
                })
                .collect(),
        }),
        Command::Remove(remove) => {
            running.retain(|_, container| *container != remove.container_name);
            Outcome::Remove(v1::RemoveAgentWorkspaceResponse {})
        }
        Command::DeliverControl(_) => panic!("a delivery has no result"),
    }
}
