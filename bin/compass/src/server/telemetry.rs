//! What the server writes about itself: to standard error, text for people or JSON for machines.

use std::io;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

/// How the log reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Starts the log; `filter` is a level, or levels per module such as `info,compass_hub=debug`.
///
/// # Errors
///
/// [`Failure::Usage`] if the filter cannot be read.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), Failure> {
    let parsed = EnvFilter::try_new(filter)
        .map_err(|error| Failure::Usage(format!("--log {filter:?} is not a filter: {error}")))?;
    let log = tracing_subscriber::fmt().with_env_filter(parsed).with_writer(io::stderr);
    // Told of a line that was not written, whoever logs would panic: that goes to the same full disk.
    let log = log.log_internal_errors(false);
    let started = match format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    started.map_err(|error| Failure::Local(error.to_string()))
}
