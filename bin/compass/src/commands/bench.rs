//! `compass bench`: measures this program on this machine against the floors of the same run.

use std::{env, time::Duration};

use compass_bench::{BenchError, Options};

use crate::{failure::Failure, output::Output};

/// Options of `compass bench`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Postgres server to measure on, beside SQLite; the run makes a database of its own there and drops it
    /// [default: SQLite only, in a temporary directory]
    #[arg(long, env = "COMPASS_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Print everything as JSON [default: text]
    #[arg(long)]
    json: bool,
    /// Seconds of measuring on each database, without set-up
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// How many asks or posts are under way at once
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1,8,32,256")]
    in_flight: Vec<usize>,
    /// Also fill a channel with so many messages and compare its reads with those of one of 100 [default: not]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    depth: Option<u64>,
    /// Also attach so many agents to a server of their own: what each costs idle, and a post to 1,000 of them
    /// [default: not]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=20_000))]
    attached: Option<u64>,
}

/// Measures, and prints the report.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let out = Output::new(args.json);
    let options = Options {
        program: env::current_exe()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        database: args.database,
        time: Duration::from_secs(args.seconds),
        in_flight: args.in_flight,
        depth: count(args.depth),
        attached: count(args.attached),
    };
    let report = compass_bench::run(options).await.map_err(failure)?;
    if out.is_json() { out.json(&report) } else { out.body(&report.to_string(), "") }
}

/// Serves the echo that idle sessions are compared with, until its input closes.
pub(crate) async fn run_echo() -> Result<(), Failure> {
    let tell = |url: &str| println!("echo listens on {url}");
    let closed = async {
        let mut nothing = tokio::io::sink();
        // Whatever ends the input ends the echo.
        drop(tokio::io::copy(&mut tokio::io::stdin(), &mut nothing).await);
    };
    compass_bench::serve_echo(tell, closed).await.map_err(failure)
}

fn count(option: Option<u64>) -> usize {
    option.and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
}

fn failure(error: BenchError) -> Failure {
    match error {
        BenchError::Option(reason) => Failure::Usage(reason),
        BenchError::Client(error) => Failure::Call(error),
        other => Failure::Local(other.to_string()),
    }
}
