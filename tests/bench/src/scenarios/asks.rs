//! Asks: an agent asks, a person answers, the agent is delivered the answer and acknowledges it.

use std::time::Duration;

use compass_proto::v1::{self, message_block::Block, post_message_request};
use tokio::time::Instant;

use super::together;
use crate::{
    BenchError,
    agent::Agent,
    stats::Samples,
    world::{People, World},
};

/// Asks of one slot.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    /// From the answer's call to its delivery.
    pub(crate) delivered: Samples,
    /// From the ask's call until the receipt is durable.
    pub(crate) cycle: Samples,
    /// Whole cycles by second.
    pub(crate) by_second: f64,
}

/// Lets `in_flight` asks be under way at any moment for about `time`.
pub(crate) async fn run(world: &mut World, in_flight: usize, time: Duration) -> Result<Asks, BenchError> {
    let (results, elapsed) = together(world, in_flight, time, work).await?;
    let mut asks = Asks::default();
    for (delivered, cycle) in results {
        asks.delivered.extend(delivered);
        asks.cycle.extend(cycle);
    }
    asks.by_second = asks.cycle.len() as f64 / elapsed.as_secs_f64();
    Ok(asks)
}

async fn work(
    mut agent: Agent,
    mut person: People,
    until: Instant,
) -> Result<(Agent, (Samples, Samples)), BenchError> {
    let (mut delivered, mut cycle) = (Samples::default(), Samples::default());
    while Instant::now() < until {
        let start = Instant::now();
        delivered.push(one(&mut agent, &mut person).await?);
        cycle.push(start.elapsed());
    }
    Ok((agent, (delivered, cycle)))
}

/// One ask up to the durable receipt of its answer; returns the time from the answer's call to its delivery.
pub(crate) async fn one(agent: &mut Agent, person: &mut People) -> Result<Duration, BenchError> {
    let ask_id = agent.ask(ask()).await?;
    let answered = Instant::now();
    let respond = async { person.respond_to_ask(answer(&ask_id)).await.map_err(BenchError::from) };
    let receive = async {
        let id = agent.delivered(|message| answers(message, &ask_id)).await?;
        let delivered = answered.elapsed();
        agent.acknowledge(id).await?;
        Ok(delivered)
    };
    let (_, delivered) = tokio::try_join!(respond, receive)?;
    Ok(delivered)
}

fn answers(message: &v1::Message, ask_id: &str) -> bool {
    message.blocks.iter().any(|block| match &block.block {
        Some(Block::AskAnswer(answer)) => answer.ask.as_ref().is_some_and(|ask| ask.ask_id == ask_id),
        _ => false,
    })
}

fn ask() -> v1::PostMessageRequest {
    let option = |id: &str, label: &str| v1::AskOption {
        id: id.to_owned(),
        label: label.to_owned(),
        ..v1::AskOption::default()
    };
    let question = v1::AskQuestion {
        question_id: "when".to_owned(),
        question: "Deploy 4.2 now? Staging has been green for an hour.".to_owned(),
        header: "Deploy".to_owned(),
        options: vec![option("now", "Now"), option("noon", "At noon"), option("no", "Not today")],
        ..v1::AskQuestion::default()
    };
    let ask = v1::Ask { questions: vec![question], ..v1::Ask::default() };
    v1::PostMessageRequest {
        topic: Some(post_message_request::Topic::TopicName("decisions".to_owned())),
        blocks: vec![v1::MessageBlock { block: Some(Block::Ask(ask)) }],
        ..v1::PostMessageRequest::default()
    }
}

fn answer(ask_id: &str) -> v1::RespondToAskRequest {
    let answer = v1::AskQuestionAnswer {
        question_id: "when".to_owned(),
        chosen_option_ids: vec!["noon".to_owned()],
        custom_text: String::new(),
    };
    v1::RespondToAskRequest { ask_id: ask_id.to_owned(), answers: vec![answer] }
}
