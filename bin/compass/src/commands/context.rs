//! What every command for people starts from, and small things several share.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use compass_client::{
    ChannelName, Client, Page,
    model::{Message, OpenAsk},
};

use crate::{
    config::{Config, Connection},
    failure::Failure,
    output::Output,
};

/// The most a page may be asked to hold.
const PAGE: u32 = 200;
/// The most that is read from a file or from standard input, in bytes: more than any post may hold.
const INPUT_BYTES: u64 = 4 * 1024 * 1024;

/// A connected command.
pub(crate) struct Context {
    /// Where things come from.
    pub(crate) config: Config,
    /// The connection.
    pub(crate) client: Client,
    /// Where results go.
    pub(crate) out: Output,
}

impl Context {
    /// Loads the configuration and connects.
    pub(crate) async fn open(connection: &Connection) -> Result<Self, Failure> {
        let config = Config::load(connection)?;
        let client = config.client().await?;
        Ok(Self { config, client, out: Output::new(connection.json) })
    }
}

/// A channel given on the command line: an id if it looks like one, otherwise a name.
pub(crate) fn channel_name(text: &str) -> ChannelName {
    let name = text.strip_prefix('#').unwrap_or(text);
    if is_id(name) { ChannelName::Id(name.to_owned()) } else { ChannelName::Name(name.to_owned()) }
}

/// True for 32 lower-case hexadecimal digits.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read_input(path: &Path) -> Result<String, Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().take(INPUT_BYTES + 1).read_to_end(&mut bytes)?;
        bytes
    } else {
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|error| fail(&error))?;
        file.take(INPUT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fail(&error))?;
        bytes
    };
    if bytes.len() as u64 > INPUT_BYTES {
        return Err(fail(&format!("more than {INPUT_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| fail(&format!("not UTF-8: {error}")))
}

/// Reads messages page by page, newest first, until there are `limit` of them or no more.
pub(crate) async fn all_messages(
    client: &Client,
    channel: &ChannelName,
    topic: Option<&compass_client::TopicName>,
    limit: Option<usize>,
) -> Result<Vec<Message>, Failure> {
    let mut found: Vec<Message> = Vec::new();
    let mut page = Page { limit: PAGE, ..Page::default() };
    loop {
        let left = limit.map_or(usize::MAX, |limit| limit - found.len());
        if left == 0 {
            return Ok(found);
        }
        page.limit = u32::try_from(left).unwrap_or(PAGE).min(PAGE);
        let messages = client.messages(channel, topic, &page).await?;
        let Some(oldest) = messages.last() else { return Ok(found) };
        page.before = Some(oldest.id.clone());
        found.extend(messages.into_iter().take(left));
    }
}

/// Reads every open ask, newest first.
pub(crate) async fn all_open_asks(
    client: &Client,
    channel_id: Option<&str>,
) -> Result<Vec<OpenAsk>, Failure> {
    let mut found: Vec<OpenAsk> = Vec::new();
    let mut page = Page { limit: PAGE, ..Page::default() };
    loop {
        let asks = client.open_asks(channel_id, &page).await?;
        let Some(oldest) = asks.last() else { return Ok(found) };
        page.before = Some(oldest.message.id.clone());
        found.extend(asks);
    }
}
