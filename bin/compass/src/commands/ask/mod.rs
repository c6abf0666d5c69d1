//! `compass ask`: an agent asks people, from a script or a pipeline, and may wait for the end.

mod identity;
mod outcome;
mod place;
mod questions;
mod resume;
mod wait;

use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use compass_client::{Client, ClientError, NewPost, TopicName, model::Message};
use compass_domain::message::DraftBlock;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::Instant,
};

use super::context::channel_name;
use crate::{config::Connection, failure::Failure, output::Output, system};

pub(crate) use identity::{AgentArgs, Credentials, Identity};

use self::{
    outcome::{Outcome, of_message},
    place::Place,
    questions::QuestionArgs,
    wait::Waiter,
};

/// Tries to send a post whose outcome is unknown again, under the same key, this often.
const TRIES: u32 = 5;
/// Seconds of the longest wait.
const YEAR: u64 = 365 * 24 * 60 * 60;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(500);

/// Options of `compass ask`.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Args {
    #[command(flatten)]
    questions: QuestionArgs,
    /// Name or id of the channel [default: the agent's home channel]
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Name of the topic; made if need be
    #[arg(long, value_name = "TOPIC", default_value = "Questions")]
    topic: String,
    /// Asking again with the same key resumes the same ask [default: a new key]
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    key: Option<String>,
    /// Wait until a person answers or the ask is withdrawn, then print the end and acknowledge it [default: no]
    #[arg(long)]
    wait: bool,
    /// Stop waiting after so many seconds, at most a year; the ask stays open [default: never]
    #[arg(long, value_name = "SECONDS", requires = "wait", value_parser = clap::value_parser!(u64).range(..=YEAR))]
    timeout: Option<u64>,
    /// Withdraw the ask when the time is up [default: no]
    #[arg(long, requires = "timeout")]
    withdraw: bool,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    connection: Connection,
}

/// Asks, and waits if told to.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let ask = args.questions.draft()?;
    let identity = Identity::open(&args.connection, &args.agent).await?;
    let key = args.key.clone().unwrap_or_else(system::fresh_key);
    let post = NewPost {
        channel: args.channel.as_deref().map(channel_name),
        topic: TopicName::Name(args.topic.clone()),
        existing_topic_only: false,
        blocks: vec![DraftBlock::Ask(ask)],
        key: key.clone(),
    };
    let timeout = args.timeout.map(Duration::from_secs);
    // Before anything is asked: an answer that could not be marked as taken could not be acknowledged.
    let place = if args.wait { Some(Place::open(&identity).await?) } else { None };
    let posted = post_once(&identity.client, &post, &key, timeout).await?;
    let out = Output::new(args.connection.json);
    let Some(mut place) = place else {
        return Outcome::of(&posted, &key)?.print_posted(out);
    };
    place.hold(&of_message(&posted)?.ask_id)?;
    let waiter = Waiter { identity: &identity, post: &post, timeout, withdraw: args.withdraw };
    let end = tokio::select! {
        end = waiter.run(posted) => end?,
        asked = told_to_end() => {
            asked?;
            return Err(Failure::StillOpen(format!("the ask stays open; resume it with: {}", resume::command(&key))));
        }
    };
    end.finish(&identity, &mut place, &key, out).await
}

/// Waits for a signal by which a terminal or a pipeline asks for the end. A lost terminal is none: `nohup` ignores it.
async fn told_to_end() -> Result<(), Failure> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Posts, and repeats a post whose outcome is unknown, until `timeout`: the key makes that one ask.
async fn post_once(
    client: &Client,
    post: &NewPost,
    key: &str,
    timeout: Option<Duration>,
) -> Result<Message, Failure> {
    let until = timeout.map(|timeout| Instant::now() + timeout);
    let in_time = || until.is_none_or(|until| Instant::now() < until);
    let mut tries = 0;
    loop {
        tries += 1;
        match client.agent_post(post.clone()).await {
            Ok(message) => return Ok(message),
            Err(ClientError::OutcomeUnknown(_)) if tries < TRIES && in_time() => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) if error.is_transient() => {
                return Err(Failure::Post { error, key: key.to_owned() });
            }
            Err(error) => return Err(error.into()),
        }
    }
}
