//! The dial-out link of a runner with a name.

use std::sync::Arc;

use compass_proto::v1::{self, AttachMode};
use compass_runner::{Profiles, WakePolicy};
use tokio_stream::StreamExt as _;
use tonic::Status;

use super::{
    host::Host,
    uplink::{Pumped, Upstream},
};
use crate::dial::{self, Client, Lost, Opened, Redial, lost};

/// The link and what it carries upwards.
pub(super) struct HostLink {
    pub(super) client: Client,
    pub(super) enroll: v1::EnrollRequest,
    pub(super) host: Arc<Host>,
    pub(super) upstream: Upstream,
}

/// What a process of a named runner says when it enrolls.
pub(super) fn enrolment(instance_id: String, profiles: &Profiles) -> v1::EnrollRequest {
    let wake = profiles.iter().map(|profile| v1::AgentWake {
        agent_account_id: profile.account().to_string(),
        policy: match profile.launch().wake {
            WakePolicy::Mention => v1::WakePolicy::Mention,
            WakePolicy::Any => v1::WakePolicy::Any,
            WakePolicy::Never => v1::WakePolicy::Never,
        }
        .into(),
    });
    v1::EnrollRequest {
        runner_id: String::new(),
        mode: AttachMode::Deliveries.into(),
        take_over: false,
        instance_id,
        wake: wake.collect(),
    }
}

impl HostLink {
    /// Keeps a connection for as long as that makes sense.
    ///
    /// # Errors
    ///
    /// The server's refusal that a repeat cannot change. `Ok` once all frames are up and no more will come.
    pub(super) async fn run(mut self) -> Result<(), Status> {
        let mut redial = Redial::default();
        loop {
            redial.begin();
            match self.connection().await {
                Lost::Unheard => return Ok(()),
                Lost::Ended(status) => return Err(status),
                Lost::Retry(reason) => tracing::warn!(reason, "the server is out of reach"),
            }
            redial.pause().await;
        }
    }

    async fn connection(&mut self) -> Lost {
        let opened = match dial::open(&self.client, self.enroll.clone()).await {
            Ok(opened) => opened,
            Err(lost) => return lost,
        };
        tracing::info!("attached to the server");
        let host = Arc::clone(&self.host);
        host.attach(opened.results.clone());
        let lost = self.carry(opened).await;
        host.detach();
        lost
    }

    async fn carry(&mut self, opened: Opened) -> Lost {
        let Opened { mut commands, results: _results, upstream, mut publishing } = opened;
        let host = &self.host;
        let obeying = async {
            loop {
                match commands.next().await {
                    None => return Lost::Retry("the server closed the stream".into()),
                    Some(Err(status)) => return lost(status),
                    Some(Ok(command)) => host.obey(command),
                }
            }
        };
        // Commands go on while frames wait for the network, and the other way round.
        let pumped = tokio::select! {
            lost = obeying => return lost,
            pumped = self.upstream.pump(&upstream) => pumped,
            ended = &mut publishing => return over(ended),
        };
        match pumped {
            Pumped::Broken => Lost::Retry("the upstream closed".into()),
            Pumped::Idle => Lost::Unheard,
            Pumped::Finished(done) => {
                drop(upstream);
                match publishing.await {
                    Ok(()) => {
                        let _ = done.send(());
                        Lost::Unheard
                    }
                    Err(status) => lost(status),
                }
            }
        }
    }
}

fn over(ended: Result<(), Status>) -> Lost {
    match ended {
        Ok(()) => Lost::Retry("the server closed the upstream".into()),
        Err(status) => lost(status),
    }
}
