//! Running a runner: read everything, then dial, then run until a signal.

use compass_gateway::{
    Endpoint,
    runner::{self, Runner, RunnerError, Settings},
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{RunArgs, file, parts};
use crate::{
    config::{self, Config},
    failure::Failure,
    server, system,
};

/// Runs until a signal or the server ends it. A second signal does not wait for agents.
pub(super) async fn run(args: RunArgs) -> Result<(), Failure> {
    server::start_log(&args.log, args.log_format)?;
    let path = args.config.ok_or_else(|| Failure::Usage("--config is missing".to_owned()))?;
    let configuration = file::read(&path)?;
    let connection = Config::load(&args.connection)?;
    let token = match (&args.token_file, connection.given_token()) {
        (Some(file), _) => {
            let token = config::read_secret(file)?;
            // A warning and no refusal: a shell that redirects into a file lets others read it.
            if let Some(remark) = config::sharing(file)? {
                tracing::warn!("{remark}");
            }
            token
        }
        (None, Some(token)) => token.to_owned(),
        (None, None) => {
            return Err(Failure::Usage(
                "a runner needs a token of its own: --token-file, or COMPASS_TOKEN; an administrator makes one with \
                 `compass token create --runner NAME`"
                    .to_owned(),
            ));
        }
    };
    let endpoint =
        Endpoint::new(&connection.url, &token).map_err(|error| Failure::Usage(error.to_string()))?;
    for profile in configuration.profiles.iter() {
        if let Err(error) = runner::check(profile) {
            // The others can run; the server hears of this one when it wants to start it.
            tracing::warn!(agent = profile.launch().name, %error, "cannot be run as it is");
        }
    }
    let settings = Settings {
        endpoint,
        instance_id: system::fresh_key(),
        state_dir: args.state_dir.map_or_else(config::state_dir, Ok)?,
        socket_dir: configuration.socket_dir,
        profiles: configuration.profiles,
        parts: parts::parts()?,
    };
    let stop = CancellationToken::new();
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let signals = async {
        for _ in 0..2 {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            stop.cancel();
        }
    };
    let runner = Runner::open(settings).map_err(failure)?;
    tokio::select! {
        ended = runner.run(stop.clone()) => ended.map_err(failure),
        () = signals => Ok(()),
    }
}

fn failure(error: RunnerError) -> Failure {
    match error {
        RunnerError::Refused { code, message } => Failure::Refused { code, reason: message },
        RunnerError::InUse(_) | RunnerError::Sockets(_) => Failure::Usage(error.to_string()),
        RunnerError::Io { .. } | RunnerError::Sessions(_) => Failure::Local(error.to_string()),
    }
}
