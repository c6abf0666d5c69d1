//! Renames, archives or revives a topic; a name that another topic of the channel has joins the two.

use std::{collections::BTreeMap, sync::Arc};

use compass_domain::{
    AccountId, ChannelId, Classified, ErrorKind, Event, Seq, Topic, TopicId, TopicName, read_position,
    topic::{TopicChange, TopicNameError, TopicUpdate},
};
use compass_ports::StorageError;

use crate::{
    Caller, Comms,
    ports::{TopicSummary, UnitOfWork},
};

/// What to change; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpdateTopic {
    /// Which topic; none is a topic that does not exist.
    pub topic: Option<TopicId>,
    /// Its name.
    pub name: Option<String>,
    /// Whether lists hide it.
    pub archived: Option<bool>,
}

/// Why the change is refused; nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] TopicNameError),
    /// The topic does not exist, or the caller does not take part in its channel.
    #[error("topic not found")]
    NotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Name(_) => ErrorKind::InvalidArgument,
            Self::NotFound => ErrorKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Changes a topic and returns it as it is afterwards; after a merge that is the topic that has the name.
///
/// Whoever takes part in the channel may do it, whatever the channel's post policy says.
///
/// # Errors
///
/// [`Error`] for the first rule that refuses it.
pub async fn update_topic(
    comms: &Comms,
    caller: &Caller,
    update: UpdateTopic,
) -> Result<TopicSummary, Error> {
    let name = update.name.as_deref().map(TopicName::parse).transpose()?;
    let asked = TopicUpdate { name, archived: update.archived };
    let id = update.topic.ok_or(Error::NotFound)?;
    let mut unit = comms.storage.begin(&caller.tenant).await?;
    let channel = unit.topics().find(id).await?.ok_or(Error::NotFound)?.topic.channel;
    unit.channels().lock(channel).await?.ok_or(Error::NotFound)?;
    if !unit.channels().participates(caller.actor.id, channel).await? {
        return Err(Error::NotFound);
    }
    // Read again: until the channel was locked the topic could still be merged away.
    let before = unit.topics().find(id).await?.ok_or(Error::NotFound)?;
    let holder = holder(&mut *unit, channel, asked.name.as_ref()).await?;
    let (id, events) = match before.topic.update(&asked, holder) {
        TopicChange::Nothing => return Ok(before),
        TopicChange::InPlace(topic) => {
            unit.topics().lock(&[id]).await?;
            unit.topics().put(&topic).await?;
            (id, vec![Event::TopicUpserted(Arc::new(topic))])
        }
        TopicChange::Merge { into } => (into, merge(&mut *unit, id, into, asked.archived).await?),
    };
    let after = unit.topics().find(id).await?.ok_or(Error::NotFound)?;
    comms.finish(&caller.tenant, unit, events).await?;
    Ok(after)
}

async fn holder(
    unit: &mut dyn UnitOfWork,
    channel: ChannelId,
    name: Option<&TopicName>,
) -> Result<Option<TopicId>, StorageError> {
    match name {
        Some(name) => unit.topics().find_named(channel, name.key()).await,
        None => Ok(None),
    }
}

/// Moves the messages of `from` to `into`; what is told about it, the end of `from` first.
async fn merge(
    unit: &mut dyn UnitOfWork,
    from: TopicId,
    into: TopicId,
    archived: Option<bool>,
) -> Result<Vec<Event>, Error> {
    unit.topics().lock_messages(from).await?;
    let locked = unit.topics().lock(&[from, into]).await?;
    let found = |id| locked.iter().find(|topic: &&Topic| topic.id == id).ok_or(Error::NotFound);
    let (source, target) = (found(from)?, found(into)?);
    let mut authors = [&*source.participants, &*target.participants].concat();
    authors.sort_unstable();
    authors.dedup();
    let first_posts = unit.topics().first_posts(&[from, into], &authors).await?;
    let moved = join_places(unit, source, target).await?;
    let survivor = target.clone().joined_by(source, first_posts, archived);
    unit.topics().merge(from, &survivor).await?;
    let (channel, survivor) = (survivor.channel, Arc::new(survivor));
    let mut events =
        vec![Event::TopicMerged { from, into: Arc::clone(&survivor) }, Event::TopicUpserted(survivor)];
    events.extend(moved.into_iter().map(|account| Event::ReadPositionChanged {
        account,
        channel,
        topic: into,
    }));
    Ok(events)
}

/// Gives everyone who has read in one of the topics a place in what they become together; who they are.
async fn join_places(
    unit: &mut dyn UnitOfWork,
    from: &Topic,
    into: &Topic,
) -> Result<Vec<AccountId>, StorageError> {
    let mut places: BTreeMap<AccountId, (Seq, Seq)> = BTreeMap::new();
    for (topic, account, seq) in unit.read_positions().list(&[from.id, into.id]).await? {
        let place = places.entry(account).or_default();
        if topic == from.id {
            place.0 = seq;
        } else {
            place.1 = seq;
        }
    }
    let joined =
        |(in_from, in_into)| read_position::joined((in_from, from.last_seq), (in_into, into.last_seq));
    let joined: Vec<(AccountId, Seq)> =
        places.into_iter().map(|(account, place)| (account, joined(place))).collect();
    unit.read_positions().replace(into.id, &joined, from.id).await?;
    Ok(joined.into_iter().map(|(account, _)| account).collect())
}
