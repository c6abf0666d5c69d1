//! Reads of a large channel beside the same reads of a small one.

use std::time::Duration;

use compass_proto::v1::{self, list_messages_request, post_message_request, search_messages_request};
use tokio::{task::JoinSet, time::Instant};

use crate::{
    BenchError,
    stats::Samples,
    world::{People, World, text},
};

/// Messages of the small channel.
const SMALL: usize = 100;
/// Messages of either channel that a search finds.
const FOUND: usize = 10;
/// Posts under way at once while a channel is filled.
const FILLERS: usize = 64;
/// Posts that fill what the server retains of its events.
const RETAINED: usize = 1_100;
/// Subscriptions of each phase; a connection that gives up very many is closed.
const SUBSCRIPTIONS: usize = 100;
const TEXT: &str = "The second region follows when the first has been quiet for an hour.";
const RARE: &str = "The zephyr alarm of the second region is silent again.";

/// The reads that are compared, in the order of [`Depth::large`] and [`Depth::small`].
pub(crate) const READS: [&str; 4] =
    ["newest page", "page in the middle", "search", "start of a subscription"];

/// What the same reads took.
#[derive(Default)]
pub(crate) struct Depth {
    /// Messages of the large channel.
    pub(crate) messages: usize,
    pub(crate) large: [Samples; 4],
    pub(crate) small: [Samples; 4],
}

/// A channel that is read.
struct Filled {
    channel: String,
    middle: String,
}

/// Fills both channels and reads them by turns for about `time`.
pub(crate) async fn run(world: &World, messages: usize, time: Duration) -> Result<Depth, BenchError> {
    let mut person = world.person(0)?;
    let small = fill(world, "small", SMALL).await?;
    let mut depth = Depth { messages, ..Depth::default() };
    // What is retained of events is replayed to every subscription, so that it must be as much for both.
    fill(world, "retained", RETAINED).await?;
    // A subscription is of all channels, so that of the small store comes before the large one is filled.
    for _ in 0..SUBSCRIPTIONS {
        depth.small[3].push(subscribed(&mut person).await?);
    }
    let large = fill(world, "large", messages).await?;
    for _ in 0..SUBSCRIPTIONS {
        depth.large[3].push(subscribed(&mut person).await?);
    }
    let until = Instant::now() + time;
    while Instant::now() < until {
        for (of, samples) in [(&small, &mut depth.small), (&large, &mut depth.large)] {
            samples[0].push(page(&mut person, of, "").await?);
            samples[1].push(page(&mut person, of, &of.middle).await?);
            samples[2].push(found(&mut person, of).await?);
        }
    }
    Ok(depth)
}

async fn fill(world: &World, name: &str, messages: usize) -> Result<Filled, BenchError> {
    let channel = world.admin.create_channel(name, Vec::new()).await?.id;
    let mut posts = JoinSet::new();
    let mut posted = Vec::with_capacity(messages);
    for number in 0..messages {
        if posts.len() >= FILLERS {
            posted.push(place_of(posts.join_next().await)?);
        }
        let mut person = world.person(number)?;
        let is_rare = number.is_multiple_of((messages / FOUND).max(1));
        let request = v1::PostMessageRequest {
            container: Some(post_message_request::Container::ChannelId(channel.clone())),
            topic: Some(post_message_request::Topic::TopicName("rollout".to_owned())),
            blocks: vec![text(if is_rare { RARE } else { TEXT })],
            ..v1::PostMessageRequest::default()
        };
        posts.spawn(async move { Ok(person.post_message(request).await?.into_inner()) });
    }
    while !posts.is_empty() {
        posted.push(place_of(posts.join_next().await)?);
    }
    // They were stored in another order than they were done.
    posted.sort_unstable();
    let (_, middle) = posted.swap_remove(messages / 2);
    Ok(Filled { channel, middle })
}

type Posted = Result<Result<v1::PostMessageResponse, BenchError>, tokio::task::JoinError>;

fn place_of(posted: Option<Posted>) -> Result<(u64, String), BenchError> {
    let posted = posted.ok_or(BenchError::Broken("a post is missing"))?;
    let posted = posted.map_err(|_| BenchError::Broken("a task that posts failed"))??;
    let message = posted.message.unwrap_or_default();
    Ok((message.channel_seq, message.id))
}

async fn page(person: &mut People, of: &Filled, before: &str) -> Result<Duration, BenchError> {
    let request = v1::ListMessagesRequest {
        container: Some(list_messages_request::Container::ChannelId(of.channel.clone())),
        before_message_id: before.to_owned(),
        limit: 20,
        ..v1::ListMessagesRequest::default()
    };
    let start = Instant::now();
    let listed = person.list_messages(request).await?.into_inner();
    let took = start.elapsed();
    if listed.messages.len() == 20 { Ok(took) } else { Err(BenchError::Broken("a page is not full")) }
}

async fn found(person: &mut People, of: &Filled) -> Result<Duration, BenchError> {
    let request = v1::SearchMessagesRequest {
        query: "zephyr".to_owned(),
        scope: Some(search_messages_request::Scope::ChannelId(of.channel.clone())),
        limit: 20,
        ..v1::SearchMessagesRequest::default()
    };
    let start = Instant::now();
    let found = person.search_messages(request).await?.into_inner();
    let took = start.elapsed();
    if found.messages.len() == FOUND {
        Ok(took)
    } else {
        Err(BenchError::Broken("a search finds too little"))
    }
}

/// Up to the frame that says where the snapshot ends.
async fn subscribed(person: &mut People) -> Result<Duration, BenchError> {
    let start = Instant::now();
    let mut frames = person.subscribe_comms(v1::SubscribeCommsRequest::default()).await?.into_inner();
    let first = frames.message().await?;
    let took = start.elapsed();
    if first.is_some() { Ok(took) } else { Err(BenchError::Broken("a subscription ended")) }
}
