//! Reads the bus and hints the sender tasks of this node's sessions. It waits for none of them.

use std::sync::Arc;

use compass_domain::{
    AccountId, ChannelId, Event, Message, MessageId, TenantId, Topic, brake, delivery::Target,
};
use compass_ports::{Next, Published, StorageError, Subscription};
use tokio::time::Instant;

use super::{mailbox::Hint, recipients::Recipients, router::Urgency, routing, stash::Stash};
use crate::{
    Hub,
    ports::{Labelled, Labels},
    sessions::Gate,
};

/// Which of a message's targets are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ready {
    /// Those whose cursor owes it to them.
    SweepSet,
    /// All.
    All,
}

/// True if a topic is told as it is right after a person's message ended a long run of agent messages.
fn is_release(topic: &Topic) -> bool {
    topic.run.length == 0
        && topic.run.person == topic.last_seq
        && topic.message_count > u64::from(brake::AGENT_MESSAGES)
}

struct Consumer {
    hub: Arc<Hub>,
    recipients: Recipients,
    stash: Stash,
}

pub(crate) async fn run(hub: Arc<Hub>, mut tap: Box<dyn Subscription>) {
    let stop = hub.ports.stop.clone();
    let mut consumer =
        Consumer { hub: Arc::clone(&hub), recipients: Recipients::default(), stash: Stash::default() };
    loop {
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = overdue(&hub) => {
                consumer.release_overdue();
                continue;
            }
            next = tap.next() => next,
        };
        match next {
            Next::Event(published) => consumer.take(&published).await,
            Next::Lagged => {
                tap = hub.ports.bus.tap();
                consumer.lagged();
            }
            Next::Closed => return,
        }
    }
}

fn urgency(somebody_waits: bool) -> Urgency {
    if somebody_waits { Urgency::Now } else { Urgency::Later }
}

/// Ends when a held message has waited as long as it may. New ones run out later, so waiting on the first is enough.
async fn overdue(hub: &Hub) {
    match hub.registry.next_deadline() {
        Some(at) if at > Instant::now() => tokio::time::sleep_until(at).await,
        Some(_) => {}
        None => std::future::pending().await,
    }
}

impl Consumer {
    async fn take(&mut self, published: &Published) {
        self.recipients.apply(&published.event);
        let done = match &published.event {
            Event::MessagePosted(message) => self.posted(&published.tenant, message).await,
            Event::MessageSettled { channel, message } => {
                self.settled(&published.tenant, *channel, *message).await
            }
            Event::MessageUpdated(message) => {
                self.stash.update(message);
                Ok(())
            }
            Event::ChannelChanged { channel, removed } => {
                self.removed(&published.tenant, channel.id, removed);
                Ok(())
            }
            Event::TopicUpserted(topic) if is_release(topic) => {
                self.released(&published.tenant, topic.channel).await
            }
            Event::TopicUpserted(_)
            | Event::ChannelGroupChanged(_)
            | Event::TopicMerged { .. }
            | Event::ReadPositionChanged { .. }
            | Event::AccountChanged(_)
            | Event::ActivityChanged { .. }
            | Event::AgentSessionChanged { .. }
            | Event::AgentPresenceChanged { .. } => Ok(()),
        };
        if let Err(error) = done {
            // The catch-up of each session reads what this event would have brought.
            tracing::warn!(%error, seq = published.seq, "an event was not delivered from");
        }
    }

    async fn posted(&mut self, tenant: &TenantId, message: &Arc<Message>) -> Result<(), StorageError> {
        let author = (tenant.clone(), message.author());
        let hub = Arc::clone(&self.hub);
        let members = self.recipients.members(&*hub.ports.audience, tenant, message.channel()).await?;
        let is_agent = members.iter().any(|member| member.account == message.author());
        if !is_agent && !hub.registry.is_here(&author) {
            if routing::needs_routing(message) {
                self.stash.put(message);
                let waits = routing::targets(message, &members).iter().any(|target| target.owed);
                hub.router.request(tenant, message.id(), urgency(waits));
            }
            return self.hint(tenant, message, Ready::SweepSet).await;
        }
        self.stash.put(message);
        match hub.registry.gate(&author, message.id()) {
            Gate::Held => {}
            Gate::Elsewhere if self.is_live_elsewhere(tenant, message.author()).await? => {}
            Gate::Ready | Gate::Elsewhere => {
                let waits = !routing::targets(message, &members).is_empty();
                hub.router.request(tenant, message.id(), urgency(waits));
            }
        }
        Ok(())
    }

    /// A person posted in a topic whose agents had to wait: the database says to whom what goes, in order.
    async fn released(&mut self, tenant: &TenantId, channel: ChannelId) -> Result<(), StorageError> {
        let audience = Arc::clone(&self.hub.ports.audience);
        for member in self.recipients.members(&*audience, tenant, channel).await?.iter() {
            if let Some(mailbox) = self.hub.registry.mailbox_of(&(tenant.clone(), member.account)) {
                mailbox.catch_up();
            }
        }
        self.hub.wakes.suggest(tenant);
        Ok(())
    }

    /// The node that holds the author's session decides when the message is ready.
    async fn is_live_elsewhere(&self, tenant: &TenantId, author: AccountId) -> Result<bool, StorageError> {
        let ports = &self.hub.ports;
        let sessions = ports.ledger.live_sessions(tenant, Some(&[author])).await?;
        Ok(sessions.iter().any(|session| session.node != ports.node))
    }

    async fn settled(
        &mut self,
        tenant: &TenantId,
        channel: ChannelId,
        id: MessageId,
    ) -> Result<(), StorageError> {
        if let Some(message) = self.stash.take(id) {
            return self.hint(tenant, &message, Ready::All).await;
        }
        let audience = Arc::clone(&self.hub.ports.audience);
        let Some(stored) = audience.labelled(tenant, id).await? else { return Ok(()) };
        let targets = self.targets(tenant, channel, &stored.message, Ready::All).await?;
        self.leave(tenant, &targets, &stored);
        Ok(())
    }

    async fn hint(
        &mut self,
        tenant: &TenantId,
        message: &Arc<Message>,
        ready: Ready,
    ) -> Result<(), StorageError> {
        let targets = self.targets(tenant, message.channel(), message, ready).await?;
        if targets.is_empty() {
            return Ok(());
        }
        let audience = Arc::clone(&self.hub.ports.audience);
        let labels: Labels = self.recipients.labels(&*audience, tenant, message).await?;
        self.leave(tenant, &targets, &Arc::new(Labelled { message: Arc::clone(message), labels }));
        Ok(())
    }

    /// The ready targets whose session is here.
    async fn targets(
        &mut self,
        tenant: &TenantId,
        channel: ChannelId,
        message: &Message,
        ready: Ready,
    ) -> Result<Vec<Target>, StorageError> {
        let audience = Arc::clone(&self.hub.ports.audience);
        let members = self.recipients.members(&*audience, tenant, channel).await?;
        let mut targets = routing::targets(message, &members);
        targets.retain(|target| ready == Ready::All || !target.owed);
        let all = targets.len();
        targets.retain(|target| self.hub.registry.delivering(&(tenant.clone(), target.account)).is_some());
        if targets.len() < all {
            self.hub.wakes.suggest(tenant);
        }
        Ok(targets)
    }

    fn leave(&self, tenant: &TenantId, targets: &[Target], message: &Arc<Labelled>) {
        for target in targets {
            let Some(mailbox) = self.hub.registry.mailbox_of(&(tenant.clone(), target.account)) else {
                continue;
            };
            if brake::may_wait(message.message.agent_run()) {
                // Whether a person posted since then stands in the database.
                mailbox.catch_up();
            } else {
                mailbox.hint(Hint { lane: target.lane, message: Arc::clone(message) });
            }
        }
    }

    fn removed(&self, tenant: &TenantId, channel: ChannelId, removed: &[AccountId]) {
        for account in removed {
            if let Some(mailbox) = self.hub.registry.mailbox_of(&(tenant.clone(), *account)) {
                mailbox.forget_channel(channel);
            }
        }
    }

    fn release_overdue(&self) {
        for (tenant, message) in self.hub.registry.take_overdue() {
            self.hub.router.request(&tenant, message, Urgency::Now);
        }
    }

    fn lagged(&mut self) {
        tracing::warn!("the delivery consumer missed events; every session is caught up from the database");
        self.recipients = Recipients::default();
        self.stash.clear();
        self.hub.router.scan_now();
    }
}
