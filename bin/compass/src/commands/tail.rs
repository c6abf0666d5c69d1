//! `compass tail`: prints messages as they come, over reconnects and lost events.

use std::{collections::VecDeque, time::Duration};

use compass_client::{
    ChannelName, Client, ClientError, Page, Since,
    model::{Event, Message},
};

use super::context::Context;
use crate::{config::Connection, directory::Directory, failure::Failure, output, output::Output, show};

/// How long to wait before a stream that ended is opened again.
pub(crate) const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Ids of printed messages kept to recognise a repeat after lost events.
const REMEMBERED: usize = 4096;
const PAGE: u32 = 200;

/// Options of `compass tail`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Name or id of the channel [default: all channels]
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// Prints until it is interrupted.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let context = Context::open(&args.connection).await?;
    let mut tail = Tail::start(&context, args.channel.as_deref()).await?;
    let mut wait = FIRST_WAIT;
    loop {
        let failure = tail.follow(&mut wait).await;
        match failure {
            Ok(()) => {}
            Err(Failure::Call(error)) if error.is_transient() => {
                output::remark(&format!("{}; trying again", crate::render::line(&error.to_string())));
            }
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(wait).await;
        wait = next_wait(wait);
    }
}

/// How long to wait after the next failure in a row.
pub(crate) fn next_wait(wait: Duration) -> Duration {
    (wait * 2).min(LONGEST_WAIT)
}

struct Tail {
    client: Client,
    out: Output,
    names: Directory,
    channel: Option<String>,
    since: Since,
    /// Server time of the newest event; what is older was printed or came before the start.
    seen_until: i64,
    /// Set while messages may have been missed.
    lost: bool,
    printed: VecDeque<String>,
}

impl Tail {
    async fn start(context: &Context, channel: Option<&str>) -> Result<Self, Failure> {
        let client = context.client.clone();
        let mut names = Directory::load(&client).await?;
        let channel = channel.map(|wanted| names.channel_id(wanted)).transpose()?;
        for id in names.channel_ids() {
            names.load_topics(&client, &id).await?;
        }
        let seen_until = client.server_time_unix_ms().unwrap_or(i64::MAX);
        let (since, printed) = (Since::default(), VecDeque::new());
        Ok(Self { client, out: context.out, names, channel, since, seen_until, lost: false, printed })
    }

    /// Follows one stream until it ends; a stream that works resets the wait.
    async fn follow(&mut self, wait: &mut Duration) -> Result<(), Failure> {
        let mut events = self.client.events(self.since).await?;
        while let Some(event) = events.next().await? {
            *wait = FIRST_WAIT;
            // The place is noted after the event was handled, so that a failure in between repeats it.
            self.handle(event).await?;
            self.since = events.since();
        }
        self.since = events.since();
        Ok(())
    }

    async fn handle(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Started { snapshot_seq } => self.catch_up(snapshot_seq).await,
            Event::MessagePosted { message } => self.print(message, false).await,
            Event::MessageUpdated { message } => self.print(message, true).await,
            Event::TopicUpserted { topic } => {
                self.names.put_topic(topic);
                Ok(())
            }
            Event::AccountChanged { account } => {
                self.names.put_account(account);
                Ok(())
            }
            Event::ChannelChanged { channel, .. } => {
                let id = channel.id.clone();
                self.names.put_channel(channel);
                Ok(self.names.load_topics(&self.client, &id).await?)
            }
            Event::ResyncRequired => {
                self.lost = true;
                Ok(())
            }
            Event::AgentPresenceChanged { .. } | Event::Other => Ok(()),
        }
    }

    /// After lost events: prints what was posted since the last event that came.
    async fn catch_up(&mut self, snapshot_seq: u64) -> Result<(), Failure> {
        if !self.lost {
            return Ok(());
        }
        output::remark("events were lost; reading the messages that came meanwhile");
        self.names = Directory::load(&self.client).await?;
        for channel in self.names.channel_ids() {
            self.names.load_topics(&self.client, &channel).await?;
            for message in self.missed(channel, snapshot_seq).await?.into_iter().rev() {
                self.print(message, false).await?;
            }
        }
        self.lost = false;
        Ok(())
    }

    async fn missed(&self, channel: String, snapshot_seq: u64) -> Result<Vec<Message>, ClientError> {
        let channel = ChannelName::Id(channel);
        let mut page = Page { limit: PAGE, before: None, snapshot_seq };
        let mut missed = Vec::new();
        loop {
            let messages = self.client.messages(&channel, None, &page).await?;
            let Some(oldest) = messages.last() else { return Ok(missed) };
            let (before, reached) = (oldest.id.clone(), oldest.at_unix_ms < self.seen_until);
            missed.extend(messages.into_iter().filter(|message| message.at_unix_ms >= self.seen_until));
            if reached {
                return Ok(missed);
            }
            page.before = Some(before);
        }
    }

    async fn print(&mut self, message: Message, updated: bool) -> Result<(), Failure> {
        if !updated && self.printed.contains(&message.id) {
            return Ok(());
        }
        if self.names.channel_of(&message.topic_id).is_none() {
            for channel in self.names.channel_ids() {
                self.names.load_topics(&self.client, &channel).await?;
            }
        }
        if self.is_wanted(&message) {
            self.write(&message, updated)?;
        }
        self.remember(message);
        Ok(())
    }

    fn is_wanted(&self, message: &Message) -> bool {
        match &self.channel {
            Some(wanted) => self.names.channel_of(&message.topic_id) == Some(wanted.as_str()),
            None => true,
        }
    }

    fn write(&self, message: &Message, updated: bool) -> Result<(), Failure> {
        if self.out.is_json() {
            let message = message.clone();
            return self.out.json(&if updated {
                Event::MessageUpdated { message }
            } else {
                Event::MessagePosted { message }
            });
        }
        let now = self.client.server_time_unix_ms();
        if updated {
            for ask in message.asks() {
                let end = show::end(ask, &self.names, now);
                self.out.line(&format!("ask {} is {end}", crate::render::line(&ask.ask_id)))?;
            }
            return Ok(());
        }
        self.out.safe(&show::message(message, &self.names, now, self.out.width()))
    }

    fn remember(&mut self, message: Message) {
        if !self.lost {
            self.seen_until = if self.seen_until == i64::MAX {
                message.at_unix_ms
            } else {
                self.seen_until.max(message.at_unix_ms)
            };
        }
        if self.printed.len() == REMEMBERED {
            self.printed.pop_front();
        }
        self.printed.push_back(message.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound() {
        let waits = std::iter::successors(Some(FIRST_WAIT), |wait| Some(next_wait(*wait)));
        assert_eq!(waits.take(10).last(), Some(LONGEST_WAIT));
    }
}
