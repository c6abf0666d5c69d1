//! Publishes presence when it changed, on a loop of its own: a slow store delays no report of a session.

use std::{collections::HashMap, sync::Arc, time::Duration};

use compass_domain::{AccountId, Event, Presence, TenantId};
use compass_ports::{Next, PresenceSource as _, StorageError, Subscription};

use crate::{Hub, delivery::routing, sessions::Who};

/// After a failed read.
const RETRY: Duration = Duration::from_secs(1);

struct Publisher {
    hub: Arc<Hub>,
    last: HashMap<Who, Presence>,
}

pub(crate) async fn run(hub: Arc<Hub>, mut tap: Box<dyn Subscription>) {
    let stop = hub.ports.stop.clone();
    let mut publisher = Publisher { hub: Arc::clone(&hub), last: HashMap::new() };
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            who = hub.dirty.next() => publisher.refresh(who).await,
            next = tap.next() => match next {
                Next::Event(published) => publisher.take(&published.tenant, &published.event).await,
                Next::Lagged => {
                    tap = hub.ports.bus.tap();
                    publisher.mark_all();
                }
                Next::Closed => return,
            },
        }
    }
}

impl Publisher {
    async fn take(&mut self, tenant: &TenantId, event: &Event) {
        match event {
            Event::MessagePosted(message) if routing::has_ask(message) => {
                self.mark_known(tenant, message.author());
            }
            Event::MessageUpdated(message) => self.mark_known(tenant, message.author()),
            Event::ActivityChanged { agent, activity } => {
                self.tell_activity(tenant, *agent, activity.clone()).await;
            }
            _ => {}
        }
    }

    /// Marks an account that has, or had, a session here; people and strangers have no presence.
    fn mark_known(&self, tenant: &TenantId, account: AccountId) {
        let who = (tenant.clone(), account);
        if self.last.contains_key(&who) || self.hub.registry.is_here(&who) {
            self.hub.dirty.mark(who.0, account);
        }
    }

    fn mark_all(&self) {
        for (tenant, account) in self.last.keys() {
            self.hub.dirty.mark(tenant.clone(), *account);
        }
        for session in self.hub.registry.all() {
            self.hub.dirty.mark(session.tenant, session.account);
        }
    }

    async fn refresh(&mut self, who: Who) {
        match self.read(&who).await {
            Ok(presence) => {
                if self.last.insert(who.clone(), presence) != Some(presence) {
                    self.tell(&who.0, who.1, presence, String::new());
                }
            }
            Err(error) => {
                tracing::warn!(account.id = %who.1, %error, "presence could not be read");
                self.retry(who);
            }
        }
    }

    async fn tell_activity(&mut self, tenant: &TenantId, agent: AccountId, activity: String) {
        let who = (tenant.clone(), agent);
        let known = self.last.get(&who).copied().unwrap_or(Presence::Offline);
        let presence = match self.read(&who).await {
            Ok(presence) => presence,
            Err(error) => {
                tracing::warn!(account.id = %agent, %error, "an activity is told with the last known presence");
                known
            }
        };
        if presence != known || self.hub.registry.is_here(&who) {
            self.last.insert(who, presence);
        }
        self.tell(tenant, agent, presence, activity);
    }

    async fn read(&self, who: &Who) -> Result<Presence, StorageError> {
        let found = self.hub.presence_of(&who.0, &[who.1]).await?;
        Ok(found.get(&who.1).copied().unwrap_or(Presence::Offline))
    }

    fn tell(&self, tenant: &TenantId, agent: AccountId, presence: Presence, activity: String) {
        let event = Event::AgentPresenceChanged { agent, presence, activity };
        self.hub.ports.bus.publish(tenant, vec![event]);
    }

    fn retry(&self, (tenant, account): Who) {
        let hub = Arc::clone(&self.hub);
        self.hub.ports.tasks.spawn(async move {
            let stop = hub.ports.stop.clone();
            if stop.run_until_cancelled(tokio::time::sleep(RETRY)).await.is_some() {
                hub.dirty.mark(tenant, account);
            }
        });
    }
}
