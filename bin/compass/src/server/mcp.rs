//! The Model Context Protocol on the server's own port, for agents with a token.

use std::sync::Arc;

use compass_gateway::{InProcess, MemoryJournal};
use compass_harness::mcp::{HttpAgent, HttpParts};
use compass_relay::{
    Connection,
    auth::{Identity, Principal},
    status::refusal,
};
use tokio_util::sync::CancellationToken;

use super::wiring::App;
use crate::system;

/// What is needed to serve agents over HTTP, behind the guard of the doors.
pub(crate) fn parts(app: &App, stop: &CancellationToken) -> HttpParts {
    let (comms, hub) = (app.comms.clone(), Arc::clone(&app.hub));
    HttpParts {
        recognise: Box::new(move |extensions| {
            let Principal::Account(caller) = extensions.get::<Identity>()?.principal() else { return None };
            let connection = extensions.get::<Connection>().cloned().unwrap_or_default();
            let account_id = caller.actor.id.to_string();
            let agent = Arc::new(InProcess {
                comms: comms.clone(),
                hub: Arc::clone(&hub),
                caller: caller.clone(),
                refusals: refusal,
            });
            Some(HttpAgent {
                key: format!("{}/{account_id}", caller.tenant),
                account_id,
                gateway: Arc::<InProcess>::clone(&agent),
                mailbox: agent,
                is_broken: Box::new(move || connection.is_broken()),
            })
        }),
        journal: || Box::new(MemoryJournal::default()),
        random: &system::fence_bytes,
        tasks: app.tasks.clone(),
        stop: stop.clone(),
    }
}
