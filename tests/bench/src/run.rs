//! A run from start to end.

use std::{
    path::{Path, PathBuf},
    thread::available_parallelism,
    time::Duration,
};

use crate::{
    BenchError, Report,
    database::Database,
    floors::Floors,
    report::DatabaseReport,
    rounds::{ROUNDS, round},
    scenarios::{attached, depth},
    server::Server,
    world::World,
};

/// The most that may be in flight.
const IN_FLIGHT_MAX: usize = 1024;
/// Connections of the floor of posts at the most: more only take turns, and Postgres has 100 by default.
const FLOOR_CLIENTS_MAX: usize = 64;
/// What part of the time the reads of a large channel take.
const ROUNDS_OF_DEPTH: u32 = 2;
/// How long an idle server is left alone before its memory is read.
const IDLE: Duration = Duration::from_secs(1);

/// What to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program whose `serve` is measured.
    pub program: PathBuf,
    /// Its version, for the report.
    pub version: String,
    /// A Postgres server to measure on, beside SQLite; a database of its own is made there and dropped.
    pub database: Option<String>,
    /// Time of measuring on each database, without set-up.
    pub time: Duration,
    /// How many asks or posts are under way at once.
    pub in_flight: Vec<usize>,
    /// Messages of a large channel whose reads are compared with those of a small one; none if 0.
    pub depth: usize,
    /// Agents that are attached to a server of their own and cost it memory; none if 0.
    pub attached: usize,
}

/// Measures and reports.
///
/// # Errors
///
/// [`BenchError`] if an option cannot be used, or the server or a floor failed; there are no figures then.
pub async fn run(mut options: Options) -> Result<Report, BenchError> {
    options.in_flight.sort_unstable();
    options.in_flight.dedup();
    check(&options.in_flight)?;
    let scratch = tempfile::Builder::new().prefix("compass-bench-").tempdir();
    let scratch = scratch.map_err(BenchError::io("create a temporary directory"))?;
    let idle_resident_bytes = idle(&options.program, &scratch.path().join("idle")).await?;
    let mut databases = Vec::new();
    let kinds = options.database.as_deref().map(Some).into_iter().chain([None]);
    for url in kinds {
        databases.push(on(&options, url, scratch.path()).await?);
    }
    let processors = available_parallelism().map_err(BenchError::io("count processors"))?.get();
    Ok(Report { version: options.version, processors, idle_resident_bytes, databases })
}

fn check(in_flight: &[usize]) -> Result<(), BenchError> {
    if in_flight.is_empty() {
        return Err(BenchError::Option("in-flight names no number".to_owned()));
    }
    match in_flight.iter().find(|level| !(1..=IN_FLIGHT_MAX).contains(*level)) {
        Some(level) => {
            Err(BenchError::Option(format!("in-flight must be 1 to {IN_FLIGHT_MAX} each, not {level}")))
        }
        None => Ok(()),
    }
}

async fn idle(program: &Path, dir: &Path) -> Result<u64, BenchError> {
    let server = Server::start(program, dir, None).await?;
    tokio::time::sleep(IDLE).await;
    let bytes = server.resident_bytes()?;
    server.end().await?;
    Ok(bytes)
}

/// Everything on one kind of database: on the Postgres server of an address, or on SQLite.
async fn on(options: &Options, url: Option<&str>, scratch: &Path) -> Result<DatabaseReport, BenchError> {
    let database = Database::create(url, scratch).await?;
    let measured = measure(options, &database, &scratch.join(database.kind())).await;
    database.drop().await?;
    let mut report = measured?;
    if options.attached > 0 {
        // In an empty database of their own: what the run before left costs memory too.
        let database = Database::create(url, scratch).await?;
        let dir = scratch.join(format!("{}-attached", database.kind()));
        let attached =
            attached::run(&options.program, &dir, database.url().as_deref(), options.attached).await;
        database.drop().await?;
        report.add_attached(&attached?);
    }
    Ok(report)
}

async fn measure(options: &Options, database: &Database, dir: &Path) -> Result<DatabaseReport, BenchError> {
    let most = options.in_flight.iter().copied().max().unwrap_or(1);
    let url = database.url();
    let server = Server::start(&options.program, dir, url.as_deref()).await?;
    let mut world = World::open(&server, most).await?;
    let mut floors = Floors::open(url.as_deref(), dir, most.min(FLOOR_CLIENTS_MAX)).await?;
    let settings = floors.settings().await?;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let time = options.time / u32::try_from(ROUNDS).unwrap_or(u32::MAX);
        rounds.push(round(&mut world, &mut floors, &options.in_flight, time).await?);
    }
    let depth = match options.depth {
        0 => None,
        messages => Some(depth::run(&world, messages, options.time / ROUNDS_OF_DEPTH).await?),
    };
    let tasks = world.tasks.clone();
    drop(world);
    server.end().await?;
    tasks.close();
    tasks.wait().await;
    Ok(DatabaseReport::new(database.kind(), settings, &rounds, depth.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_is_in_flight_is_bounded_and_an_error_names_limit_and_value() {
        assert!(check(&[1, 256, 1024]).is_ok());
        for (bad, named) in
            [(vec![], "no number"), (vec![0], "not 0"), (vec![1, 1025], "1 to 1024 each, not 1025")]
        {
            let error = check(&bad).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
