//! Posts: a person posts to an agent, the agent is delivered the message and acknowledges it.

use std::time::Duration;

use compass_proto::v1::{self, post_message_request};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::together;
use crate::{
    BenchError,
    agent::Agent,
    stats::Samples,
    world::{People, World, text},
};

/// 256 bytes, the size of a short message.
pub(crate) const TEXT: &str = "Staging has been green for an hour: the new build answers within its limits, the error rate is \
    where it was before, and nobody has seen the old symptom again. If nothing else comes up by noon, the next \
    step is the first of the three regions, then the rest.";

/// Posts of one slot.
pub(crate) struct Posts {
    /// From the call to the delivery.
    pub(crate) delivered: Samples,
    /// Messages posted, delivered and durably acknowledged, by second.
    pub(crate) by_second: f64,
}

/// Lets `in_flight` posts be under way at any moment for about `time`.
pub(crate) async fn run(world: &mut World, in_flight: usize, time: Duration) -> Result<Posts, BenchError> {
    let tasks = world.tasks.clone();
    let worker = move |agent, person, until| work(agent, person, until, tasks.clone());
    let (results, elapsed) = together(world, in_flight, time, worker).await?;
    let mut delivered = Samples::default();
    for samples in results {
        delivered.extend(samples);
    }
    let by_second = delivered.len() as f64 / elapsed.as_secs_f64();
    Ok(Posts { delivered, by_second })
}

async fn work(
    mut agent: Agent,
    mut person: People,
    until: Instant,
    tasks: TaskTracker,
) -> Result<(Agent, Samples), BenchError> {
    let mut receipts = agent.receipts(&tasks);
    let mut samples = Samples::default();
    while Instant::now() < until {
        let start = Instant::now();
        let id = post(&agent, &mut person).await?;
        let id = agent.delivered(|message| message.id == id).await?;
        samples.push(start.elapsed());
        receipts.acknowledge(id).await?;
    }
    // Only what is durable counts, so this belongs to the measured time.
    receipts.finish().await?;
    Ok((agent, samples))
}

/// One post, delivered and acknowledged; tells how long the delivery took.
pub(crate) async fn one(agent: &mut Agent, person: &mut People) -> Result<Duration, BenchError> {
    let start = Instant::now();
    let id = post(agent, person).await?;
    let id = agent.delivered(|message| message.id == id).await?;
    let took = start.elapsed();
    agent.acknowledge(id).await?;
    Ok(took)
}

async fn post(agent: &Agent, person: &mut People) -> Result<String, BenchError> {
    let request = v1::PostMessageRequest {
        container: Some(post_message_request::Container::ChannelId(agent.channel.clone())),
        topic: Some(post_message_request::Topic::TopicName("rollout".to_owned())),
        blocks: vec![text(TEXT)],
        ..v1::PostMessageRequest::default()
    };
    let reply = person.post_message(request).await?.into_inner();
    Ok(reply.message.unwrap_or_default().id)
}

#[cfg(test)]
mod tests {
    use super::TEXT;

    #[test]
    fn a_post_is_as_long_as_the_echo_it_is_compared_with() {
        assert_eq!(TEXT.len(), 256);
    }
}
