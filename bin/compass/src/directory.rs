//! Names for ids: accounts, channels and topics the caller can see.

use std::collections::HashMap;

use compass_client::{
    ChannelName, Client, ClientError,
    model::{Account, AccountKind, Channel, Topic},
};

use crate::{failure::Failure, render};

/// What ids are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    accounts: HashMap<String, Account>,
    channels: HashMap<String, Channel>,
    topics: HashMap<String, Topic>,
}

impl Directory {
    /// Reads accounts and channels.
    pub(crate) async fn load(client: &Client) -> Result<Self, ClientError> {
        let mut names = Self::default();
        client.accounts().await?.into_iter().for_each(|account| names.put_account(account));
        client.channels().await?.into_iter().for_each(|channel| names.put_channel(channel));
        Ok(names)
    }

    /// Reads a channel's topics too, archived ones included; one the caller cannot read has none.
    pub(crate) async fn load_topics(&mut self, client: &Client, channel_id: &str) -> Result<(), ClientError> {
        let channel = ChannelName::Id(channel_id.to_owned());
        match client.topics(&channel, true).await {
            Ok(topics) => topics.into_iter().for_each(|topic| self.put_topic(topic)),
            Err(ClientError::Refused { code: "not_found", .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Notes an account.
    pub(crate) fn put_account(&mut self, account: Account) {
        self.accounts.insert(account.id.clone(), account);
    }

    /// Notes a channel.
    pub(crate) fn put_channel(&mut self, channel: Channel) {
        self.channels.insert(channel.id.clone(), channel);
    }

    /// Notes a topic.
    pub(crate) fn put_topic(&mut self, topic: Topic) {
        self.topics.insert(topic.id.clone(), topic);
    }

    /// The channels, in no order.
    pub(crate) fn channel_ids(&self) -> Vec<String> {
        self.channels.keys().cloned().collect()
    }

    /// The channel a topic is in, if the topic is known.
    pub(crate) fn channel_of(&self, topic_id: &str) -> Option<&str> {
        self.topics.get(topic_id).map(|topic| topic.channel_id.as_str())
    }

    /// `@handle`, safe to print; an account out of sight shows its id.
    pub(crate) fn account(&self, id: &str) -> String {
        match self.accounts.get(id) {
            Some(account) => format!("@{}", render::line(&account.handle)),
            None => format!("(account {})", render::line(id)),
        }
    }

    /// `#channel`, safe to print.
    pub(crate) fn channel(&self, id: &str) -> String {
        match self.channels.get(id) {
            Some(channel) => format!("#{}", render::line(&channel.name)),
            None => format!("(channel {})", render::line(id)),
        }
    }

    /// `#channel / topic`, safe to print.
    pub(crate) fn topic(&self, id: &str) -> String {
        match self.topics.get(id) {
            Some(topic) => format!("{} / {}", self.channel(&topic.channel_id), render::line(&topic.name)),
            None => format!("(topic {})", render::line(id)),
        }
    }

    /// The account with this handle, with or without `@`.
    pub(crate) fn by_handle(&self, handle: &str) -> Result<&Account, Failure> {
        let wanted = handle.strip_prefix('@').unwrap_or(handle);
        let found = self.accounts.values().find(|account| account.handle == wanted);
        found.ok_or_else(|| Failure::Usage(format!("no account with the handle {wanted:?} that you can see")))
    }

    /// The agent with this handle.
    pub(crate) fn agent(&self, handle: &str) -> Result<&Account, Failure> {
        let account = self.by_handle(handle)?;
        match account.kind {
            AccountKind::Agent { .. } => Ok(account),
            _ => Err(Failure::Usage(format!("{handle:?} is not an agent"))),
        }
    }

    /// The person with this handle.
    pub(crate) fn person(&self, handle: &str) -> Result<&Account, Failure> {
        let account = self.by_handle(handle)?;
        match account.kind {
            AccountKind::Person { .. } => Ok(account),
            _ => Err(Failure::Usage(format!("{handle:?} is not a person"))),
        }
    }

    /// The id of a channel given by name or id.
    pub(crate) fn channel_id(&self, wanted: &str) -> Result<String, Failure> {
        let name = wanted.strip_prefix('#').unwrap_or(wanted);
        let mut named = self.channels.values().filter(|channel| channel.name == name);
        match (named.next(), named.next()) {
            (Some(channel), None) => Ok(channel.id.clone()),
            (Some(_), Some(_)) => Err(Failure::Usage(format!(
                "several channels are named {name:?}; use the id from `compass channels`"
            ))),
            (None, _) if self.channels.contains_key(wanted) => Ok(wanted.to_owned()),
            (None, _) => Err(Failure::Usage(format!("no channel {name:?} that you can see"))),
        }
    }
}
