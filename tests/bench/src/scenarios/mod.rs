//! What is measured of the product: each with a number of agents that work at the same time.

pub(crate) mod asks;
pub(crate) mod attached;
pub(crate) mod depth;
pub(crate) mod posts;

use std::{future::Future, time::Duration};

use tokio::{task::JoinSet, time::Instant};

use crate::{
    BenchError,
    agent::Agent,
    world::{People, World},
};

/// What everything of a scenario has after its time is up.
const DRAIN: Duration = Duration::from_mins(1);

/// Runs `worker` for each of the first `in_flight` agents at the same time; returns what each of them gave, and the
/// time until the last one was done.
async fn together<T, W, F>(
    world: &mut World,
    in_flight: usize,
    time: Duration,
    worker: W,
) -> Result<(Vec<T>, Duration), BenchError>
where
    T: Send + 'static,
    W: Fn(Agent, People, Instant) -> F,
    F: Future<Output = Result<(Agent, T), BenchError>> + Send + 'static,
{
    let mut workers = JoinSet::new();
    let start = Instant::now();
    let taken: Vec<Agent> = world.agents.drain(..in_flight.min(world.agents.len())).collect();
    for (number, agent) in taken.into_iter().enumerate() {
        workers.spawn(worker(agent, world.person(number)?, start + time));
    }
    let mut results = Vec::with_capacity(in_flight);
    let finished = async {
        while let Some(done) = workers.join_next().await {
            let (agent, result) = done.map_err(|_| BenchError::Broken("a task of a scenario failed"))??;
            world.agents.push(agent);
            results.push(result);
        }
        Ok::<_, BenchError>(start.elapsed())
    };
    let elapsed = tokio::time::timeout(time + DRAIN, finished).await;
    let elapsed =
        elapsed.map_err(|_| BenchError::Stuck(format!("a scenario with {in_flight} in flight")))??;
    Ok((results, elapsed))
}
