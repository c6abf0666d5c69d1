//! Publishes presence when it changed, on a loop of its own: a slow store delays no report of a session.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use compass_domain::{AccountId, Event, Presence, TenantId};
use compass_ports::{Next, PresenceSource as _, StorageError, Subscription};

use crate::{Hub, delivery::routing, sessions::Who};

/// After a failed read.
const RETRY: Duration = Duration::from_secs(1);
/// Accounts of one read at the most.
const READ_MAX: usize = 1024;

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
            marked = hub.dirty.next() => publisher.refresh(&marked).await,
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

    async fn refresh(&mut self, marked: &BTreeSet<Who>) {
        let marked: Vec<&Who> = marked.iter().collect();
        for of_tenant in marked.chunk_by(|one, other| one.0 == other.0) {
            for part in of_tenant.chunks(READ_MAX) {
                self.refresh_part(part).await;
            }
        }
    }

    /// Looks at accounts of one tenant.
    async fn refresh_part(&mut self, part: &[&Who]) {
        let Some((tenant, _)) = part.first() else { return };
        let accounts: Vec<AccountId> = part.iter().map(|(_, account)| *account).collect();
        match self.hub.presence_of(tenant, &accounts).await {
            Ok(found) => {
                for account in accounts {
                    let presence = found.get(&account).copied().unwrap_or(Presence::Offline);
                    if self.last.insert((tenant.clone(), account), presence) != Some(presence) {
                        self.tell(tenant, account, presence, String::new());
                    }
                }
            }
            Err(error) => {
                tracing::warn!(accounts = accounts.len(), %error, "presence could not be read");
                self.retry(part.iter().copied().cloned().collect());
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

    fn retry(&self, marked: Vec<Who>) {
        let hub = Arc::clone(&self.hub);
        self.hub.ports.tasks.spawn(async move {
            let stop = hub.ports.stop.clone();
            if stop.run_until_cancelled(tokio::time::sleep(RETRY)).await.is_some() {
                for (tenant, account) in marked {
                    hub.dirty.mark(tenant, account);
                }
            }
        });
    }
}
