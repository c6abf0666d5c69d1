//! Starting and ending: lock, storage, port, first sign-in; then serve; then finish what is in flight.

use std::{io::Write as _, net::SocketAddr, sync::Arc, time::Duration};

use compass_comms::accounts::bootstrap::{Bootstrap, bootstrap};
use compass_domain::TenantId;
use compass_relay::{Doors, auth::Auth};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    lock::{DataDirLock, make_private},
    mcp,
    page::{self, People},
    settings::{ServeArgs, Store},
    shutdown, sign_in, telemetry,
    wiring::{self, App},
};
use crate::{defaults, failure::Failure};

/// How long calls in flight have to finish.
const DRAIN: Duration = Duration::from_secs(10);
/// How long the tasks behind them have after that.
const CLOSE: Duration = Duration::from_secs(10);

/// Runs a server until a signal ends it.
///
/// # Errors
///
/// [`Failure`] that says what to change; nothing listens then.
pub(crate) async fn serve(args: ServeArgs) -> Result<(), Failure> {
    telemetry::start(&args.log, args.log_format)?;
    let data_dir = args.data_dir()?;
    let _lock = DataDirLock::take(&data_dir)?;
    let app = match args.store {
        Store::Memory => wiring::in_memory(),
        Store::Database => {
            if args.database.is_none() {
                make_private(&data_dir.join(defaults::DATABASE_FILE))?;
            }
            wiring::production(args.database_url()?, args.allow_unsafe_durability).await?
        }
    };
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|error| Failure::Usage(format!("cannot listen on {}: {error}", args.listen)))?;
    let address = listener.local_addr()?;
    let input = Bootstrap { admin_handle: args.admin.clone() };
    let ready = bootstrap(&app.comms, &TenantId::default_tenant(), input).await;
    let ready = ready.map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(secret) = &ready.sign_in {
        sign_in::hand_out(&data_dir, &page::url(address), secret)?;
    }
    app.hub.run().await.map_err(|error| Failure::Local(error.to_string()))?;

    let (stop, now) = (CancellationToken::new(), CancellationToken::new());
    shutdown::watch(&app.tasks, stop.clone(), now.clone(), args.until_input_closes)?;
    announce(address)?;
    let served = tokio::select! {
        served = run(&app, listener, stop) => served,
        () = now.cancelled() => Ok(()),
    };
    // The watcher of signals is a task too, and ends here.
    now.cancel();
    if tokio::time::timeout(CLOSE, app.close()).await.is_err() {
        tracing::warn!("tasks were still running when the time for them ran out");
    }
    served
}

async fn run(app: &App, listener: TcpListener, stop: CancellationToken) -> Result<(), Failure> {
    let auth = Auth::new(app.comms.clone());
    let people = People::new(app.comms.clone(), auth.clone());
    let doors = Doors {
        comms: app.comms.clone(),
        auth,
        hub: app.hub.clone(),
        lanes: app.lanes.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        stop: stop.clone(),
        agents: Some(compass_harness::mcp::router(mcp::parts(app, &stop))),
        fallback: Some(compass_web::router(page::files()?, Arc::<People>::clone(&people))),
    };
    let mut services = compass_relay::services(doors).map_err(|error| Failure::Local(error.to_string()))?;
    services.router = compass_web::admit_sessions(services.router, people);
    let served = compass_relay::serve(listener, services, stop, DRAIN).await;
    served.map(drop).map_err(|error| Failure::Local(error.to_string()))
}

/// Says on standard output where the server is, in its first line, and where its page is. Both lines are written at
/// once: a program that starts a server reads the address, and may read no further.
fn announce(address: SocketAddr) -> Result<(), Failure> {
    let page = page::url(address);
    let lines = format!("Compass listens on http://{address}\nIts page is {page}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    Ok(())
}
