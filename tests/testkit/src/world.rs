//! A small world to test in: people, agents, channels, and what they say, made through the ports alone.

mod deeds;

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use compass_comms::{
    Caller, Comms,
    channels::Homes,
    ports::{MessagePage, ReadUnit, Storage, UnitOfWork},
};
use compass_domain::{
    Account, AccountId, AccountKind, Channel, ChannelId, GroupId, Handle, Presence, TenantId, TopicName,
    UnixMillis, UserRole,
    channel::{ChannelKind, ChannelName, Member, MembershipMode, PostPolicy},
    message::IdempotencyKey,
    topic::TopicSelector,
};
use compass_hub::ports::{Audience, Ledger, Overview, PendingQuery, Placements};
use compass_ports::{Clock, EventBus, Ids as _, PresenceSource, StorageError, Turns, Writer};
use tokio_util::task::TaskTracker;

use crate::{Fixture, SeqIds};

/// A fixture with a tenant, ids and short ways to say things.
pub struct Scene {
    /// The tenant everything happens in.
    pub tenant: TenantId,
    /// Ids of what is created.
    pub ids: Arc<SeqIds>,
    /// The store.
    pub storage: Arc<dyn Storage>,
    /// The first writer.
    pub writer: Arc<dyn Writer>,
    /// The second writer over the same rows.
    pub second: Arc<dyn Writer>,
    /// Sessions.
    pub ledger: Arc<dyn Ledger>,
    /// Recipients.
    pub audience: Arc<dyn Audience>,
    /// Where agents are placed.
    pub placements: Arc<dyn Placements>,
    /// What an operator looks at.
    pub overview: Arc<dyn Overview>,
    /// Events.
    pub bus: Arc<dyn EventBus>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// A channel to create.
#[derive(Debug, Clone)]
pub struct ChannelSpec {
    /// Its name.
    pub name: String,
    /// How participation comes about.
    pub mode: MembershipMode,
    /// Who may post.
    pub policy: PostPolicy,
    /// Whether every agent that takes part is delivered to.
    pub mandatory: bool,
    /// Its group.
    pub group: Option<GroupId>,
    /// Its member rows.
    pub members: Vec<Member>,
}

impl ChannelSpec {
    /// An open, flat channel with unsubscribed members.
    pub fn new(name: &str, members: &[&Account]) -> Self {
        let member = |account: &&Account| Member { account: account.id, subscribed: false };
        Self {
            name: name.to_owned(),
            mode: MembershipMode::Flat,
            policy: PostPolicy::Open,
            mandatory: false,
            group: None,
            members: members.iter().map(member).collect(),
        }
    }

    /// The same as a TREE below an agent.
    #[must_use]
    pub fn tree(self, anchor: &Account) -> Self {
        Self { mode: MembershipMode::Tree { anchor: anchor.id }, ..self }
    }
}

impl Scene {
    /// A scene over a fixture.
    pub fn new(fixture: &Fixture) -> Self {
        Self {
            tenant: TenantId::default_tenant(),
            ids: Arc::default(),
            storage: Arc::clone(&fixture.storage),
            writer: Arc::clone(&fixture.writer),
            second: Arc::clone(&fixture.second),
            ledger: Arc::clone(&fixture.ledger),
            audience: Arc::clone(&fixture.audience),
            placements: Arc::clone(&fixture.placements),
            overview: Arc::clone(&fixture.overview),
            bus: Arc::clone(&fixture.bus),
            clock: Arc::clone(&fixture.clock),
        }
    }

    /// The same scene in another tenant of the store.
    #[must_use]
    pub fn in_tenant(&self, tenant: TenantId) -> Self {
        Self {
            tenant,
            ids: Arc::clone(&self.ids),
            storage: Arc::clone(&self.storage),
            writer: Arc::clone(&self.writer),
            second: Arc::clone(&self.second),
            ledger: Arc::clone(&self.ledger),
            audience: Arc::clone(&self.audience),
            placements: Arc::clone(&self.placements),
            overview: Arc::clone(&self.overview),
            bus: Arc::clone(&self.bus),
            clock: Arc::clone(&self.clock),
        }
    }

    /// The use cases of the conversation over the first writer.
    pub fn comms(&self) -> Comms {
        self.comms_over(&self.writer)
    }

    /// The use cases over a given writer.
    pub fn comms_over(&self, writer: &Arc<dyn Writer>) -> Comms {
        Comms {
            storage: Arc::clone(&self.storage),
            writer: Arc::clone(writer),
            bus: Arc::clone(&self.bus),
            presence: Arc::new(NobodyPresent),
            clock: Arc::clone(&self.clock),
            ids: Arc::<SeqIds>::clone(&self.ids),
            tasks: TaskTracker::new(),
            homes: Homes::default(),
            turns: Turns::default(),
        }
    }

    /// An account as a door hands it to a use case.
    pub fn caller(&self, account: &Account) -> Caller {
        Caller { tenant: self.tenant.clone(), actor: account.actor() }
    }

    /// A snapshot.
    pub async fn read(&self) -> Box<dyn ReadUnit> {
        self.storage.read(&self.tenant).await.expect("storage can be read")
    }

    /// A unit of work.
    pub async fn begin(&self) -> Box<dyn UnitOfWork> {
        self.storage.begin(&self.tenant).await.expect("a unit of work begins")
    }

    /// The time.
    pub fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// A person.
    pub async fn user(&self, handle: &str) -> Account {
        self.account(handle, AccountKind::User { role: UserRole::Member }).await
    }

    /// A person with the admin role.
    pub async fn admin(&self, handle: &str) -> Account {
        self.account(handle, AccountKind::User { role: UserRole::Admin }).await
    }

    /// The built-in sender.
    pub async fn system(&self) -> Account {
        self.account("compass", AccountKind::System).await
    }

    /// An agent without a parent; it has a home channel with its owner, and a cursor there.
    pub async fn agent(&self, handle: &str, owner: &Account) -> Account {
        self.agent_under(handle, owner, None).await
    }

    /// An agent below another.
    pub async fn child(&self, handle: &str, parent: &Account) -> Account {
        let AccountKind::Agent { owner, .. } = parent.kind else { panic!("only an agent has children") };
        let mut unit = self.begin().await;
        let owner = unit.accounts().find(owner).await.expect("the owner can be read");
        drop(unit);
        self.agent_under(handle, &owner.expect("the owner exists"), Some(parent.id)).await
    }

    async fn agent_under(&self, handle: &str, owner: &Account, parent: Option<AccountId>) -> Account {
        let home_channel = self.ids.channel();
        let kind = AccountKind::Agent { owner: owner.id, home_channel, parent };
        let agent = self.new_account(handle, kind);
        let member = |account, subscribed| Member { account, subscribed };
        let home = ChannelSpec {
            members: vec![member(owner.id, false), member(agent.id, true)],
            ..ChannelSpec::new(handle, &[])
        };
        let mut unit = self.begin().await;
        unit.accounts().insert(&agent).await.expect("the agent is stored");
        unit.channels().insert(&new_channel(home_channel, home)).await.expect("its home is stored");
        unit.cursors().seed(agent.id, home_channel).await.expect("its cursor is stored");
        unit.commit().await.expect("the agent is kept");
        agent
    }

    async fn account(&self, handle: &str, kind: AccountKind) -> Account {
        let account = self.new_account(handle, kind);
        let mut unit = self.begin().await;
        unit.accounts().insert(&account).await.expect("the account is stored");
        unit.commit().await.expect("the account is kept");
        account
    }

    /// An account that is not stored.
    pub fn new_account(&self, handle: &str, kind: AccountKind) -> Account {
        let handle = Handle::parse(handle).expect("a valid handle");
        Account { id: self.ids.account(), display_name: format!("The {handle}"), handle, kind }
    }

    /// An open, flat channel with unsubscribed members.
    pub async fn channel(&self, name: &str, members: &[&Account]) -> ChannelId {
        self.channel_with(ChannelSpec::new(name, members)).await
    }

    /// A channel below an agent, without member rows.
    pub async fn tree(&self, name: &str, anchor: &Account) -> ChannelId {
        self.channel_with(ChannelSpec::new(name, &[]).tree(anchor)).await
    }

    /// A direct conversation with unsubscribed members.
    pub async fn direct(&self, name: &str, members: &[&Account]) -> ChannelId {
        let channel = new_channel(self.ids.channel(), ChannelSpec::new(name, members));
        let channel = Channel { kind: ChannelKind::Dm, ..channel };
        let mut unit = self.begin().await;
        unit.channels().insert(&channel).await.expect("the conversation is stored");
        unit.commit().await.expect("the conversation is kept");
        channel.id
    }

    /// A channel as specified.
    pub async fn channel_with(&self, spec: ChannelSpec) -> ChannelId {
        let channel = new_channel(self.ids.channel(), spec);
        let mut unit = self.begin().await;
        unit.channels().insert(&channel).await.expect("the channel is stored");
        unit.commit().await.expect("the channel is kept");
        channel.id
    }

    /// Adds or changes a member row.
    pub async fn put_member(&self, channel: ChannelId, account: &Account, subscribed: bool) {
        let mut unit = self.begin().await;
        unit.channels().lock(channel).await.expect("the channel is locked").expect("the channel exists");
        let member = Member { account: account.id, subscribed };
        unit.channels().put_member(channel, member).await.expect("the member is stored");
        if subscribed && account.is_agent() {
            unit.cursors().seed(account.id, channel).await.expect("the cursor is stored");
        }
        unit.commit().await.expect("the member is kept");
    }

    /// Subscribes an account; an agent gets a cursor.
    pub async fn subscribe(&self, channel: ChannelId, account: &Account) {
        self.put_member(channel, account, true).await;
    }

    /// Deletes a member row.
    pub async fn remove(&self, channel: ChannelId, account: &Account) -> bool {
        let mut unit = self.begin().await;
        unit.channels().lock(channel).await.expect("the channel is locked").expect("the channel exists");
        let removed =
            unit.channels().remove_member(channel, account.id).await.expect("the member is removed");
        unit.commit().await.expect("the removal is kept");
        removed
    }
}

/// The whole channel, as far as one page holds it.
pub fn page_of(channel: ChannelId) -> MessagePage {
    MessagePage { channel, topic: None, before: None, snapshot: None, limit: 200 }
}

/// Everything an agent is owed, routed or not.
pub fn pending_of(agent: &Account) -> PendingQuery {
    PendingQuery {
        agent: agent.id,
        include_unrouted: true,
        include_braked: true,
        answers_ask: None,
        skip: Vec::new(),
        limit: 200,
    }
}

/// A selector that creates or revives.
pub fn topic_named(name: &str) -> TopicSelector {
    TopicSelector::Name { name: TopicName::parse(name).expect("a valid topic name"), existing_only: false }
}

/// A key that is not empty.
pub fn idempotency_key(key: &str) -> IdempotencyKey {
    IdempotencyKey::parse(key).expect("a valid key").expect("a key")
}

fn new_channel(id: ChannelId, spec: ChannelSpec) -> Channel {
    Channel {
        id,
        name: ChannelName::parse(&spec.name).expect("a valid channel name"),
        group: spec.group,
        kind: ChannelKind::Channel,
        mode: spec.mode,
        policy: spec.policy,
        mandatory: spec.mandatory,
        members: spec.members,
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    }
}

/// Everyone is offline.
#[derive(Debug, Default)]
pub struct NobodyPresent;

#[async_trait]
impl PresenceSource for NobodyPresent {
    async fn presence_of(
        &self,
        _tenant: &TenantId,
        _accounts: &[AccountId],
    ) -> Result<HashMap<AccountId, Presence>, StorageError> {
        Ok(HashMap::new())
    }
}
