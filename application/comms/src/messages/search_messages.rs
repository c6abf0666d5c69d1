//! Searches the messages of every channel the caller takes part in.

use std::sync::Arc;

use compass_domain::{
    ChannelId, Classified, ErrorKind, Message, Position, SearchQuery, limits::page_limit,
    search::SearchQueryError,
};
use compass_ports::StorageError;

use crate::{Caller, Comms, ports::SearchPage};

/// What to search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchMessages {
    /// For what.
    pub query: String,
    /// In one channel only; one that is absent or not the caller's to read holds nothing.
    pub channel: Option<ChannelId>,
    /// At the most; 0 is the default.
    pub limit: u32,
    /// Not newer than this position.
    pub snapshot: Option<Position>,
}

/// Why the search is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The query breaks a rule.
    #[error(transparent)]
    Query(#[from] SearchQueryError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Query(_) => ErrorKind::InvalidArgument,
            Self::Storage(error) => error.kind(),
        }
    }
}

/// Finds messages, the best first, the newer of two equally good ones first.
///
/// # Errors
///
/// [`Error`] if the query is blank or too long, or storage fails.
pub async fn search_messages(
    comms: &Comms,
    caller: &Caller,
    search: SearchMessages,
) -> Result<Vec<Arc<Message>>, Error> {
    let query = SearchQuery::parse(&search.query)?;
    if query.alternatives().is_empty() {
        return Ok(Vec::new());
    }
    let page = SearchPage {
        viewer: caller.actor.id,
        query,
        channel: search.channel,
        snapshot: search.snapshot,
        limit: page_limit(search.limit),
    };
    let mut unit = comms.storage.read(&caller.tenant).await?;
    Ok(unit.search_messages(&page).await?)
}
