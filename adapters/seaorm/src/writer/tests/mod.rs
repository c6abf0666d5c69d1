//! What the writer's contract cannot see from outside: one batch, broken connections, corrupt rows.

mod batches;
mod breaks;
mod corrupt;
mod known;
mod plans;

use std::sync::Arc;

use compass_domain::{
    Account, AccountKind, AskId, ChannelId, Handle, Message, TenantId, UnixMillis, UserRole,
    message::{DraftBlock, IdempotencyKey, RequestDigest},
    topic::TopicSelector,
};
use compass_ports::{Ids as _, WriteJob, submit};
use compass_testkit::{
    RandomIds, drafts,
    jobs::{Answer, Cancel, Post},
};

use super::SeaWriter;
use crate::{
    ids::id,
    testing::{Db, Recorder},
};

/// A person and its agent in one channel; the agent has a cursor there and is not subscribed.
struct World {
    db: Db,
    writer: SeaWriter,
    bus: Arc<Recorder>,
    ids: RandomIds,
    person: Account,
    agent: Account,
    channel: ChannelId,
}

impl World {
    async fn new(db: Db) -> Self {
        let ids = RandomIds::default();
        let (person, agent, channel) = (ids.account(), ids.account(), ids.channel());
        let values = vec![id(person), id(agent), id(channel)];
        // Deferred keys let the two rows of an agent and its home name each other.
        let accounts = "INSERT INTO accounts (id, tenant, handle, display_name, kind, owner, home_channel)
            VALUES ($1, 'default', 'ana', '', 0, NULL, NULL), ($2, 'default', 'bot', '', 1, $1, $3)";
        let channels =
            "INSERT INTO channels (id, tenant, name, name_key, kind, membership_mode, post_policy, mandatory)
            VALUES ($1, 'default', 'room', 'room', 0, 0, 0, false)";
        let members = "INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
            VALUES ($3, $1, 'default', false, 1), ($3, $2, 'default', false, 2)";
        let cursors = "INSERT INTO cursors (agent, channel, tenant, acked_seq) VALUES ($1, $2, 'default', 0)";
        let seeds = [
            (accounts, values.clone()),
            (channels, vec![id(channel)]),
            (members, values),
            (cursors, vec![id(agent), id(channel)]),
        ];
        db.execute_all(seeds).await;
        let bus = Arc::new(Recorder::default());
        let writer = db.writer(&bus);
        let account = |id, handle, kind| Account {
            id,
            handle: Handle::parse(handle).unwrap(),
            display_name: String::new(),
            kind,
        };
        Self {
            person: account(person, "ana", AccountKind::User { role: UserRole::Member }),
            agent: account(
                agent,
                "bot",
                AccountKind::Agent { owner: person, home_channel: channel, parent: None },
            ),
            db,
            writer,
            bus,
            ids,
            channel,
        }
    }

    /// On each database.
    async fn all() -> Vec<Self> {
        let mut worlds = Vec::new();
        for db in Db::both().await {
            worlds.push(Self::new(db).await);
        }
        worlds
    }

    async fn postgres() -> Option<Self> {
        Some(Self::new(Db::postgres().await?).await)
    }

    fn post(&self, author: &Account, blocks: Vec<DraftBlock>) -> (Post, Vec<AskId>) {
        let (content, asks) = drafts::content(blocks, &self.ids);
        let post = Post {
            author: author.actor(),
            channel: self.channel,
            topic: topic("talk"),
            new_topic: self.ids.topic(),
            id: self.ids.message(),
            content,
            key: None,
            now: UnixMillis(1_000),
        };
        (post, asks)
    }

    fn text(&self, author: &Account, text: &str) -> Post {
        self.post(author, vec![drafts::text(text)]).0
    }

    fn keyed(&self, text: &str, key: &str) -> Post {
        let key = IdempotencyKey::parse(key).unwrap().unwrap();
        Post { key: Some((key, RequestDigest([7; 32]))), ..self.text(&self.person, text) }
    }

    async fn ask(&self, count: usize) -> (Arc<Message>, Vec<AskId>) {
        let blocks = (0..count).map(|_| DraftBlock::Ask(drafts::yes_or_no())).collect();
        let (post, asks) = self.post(&self.agent, blocks);
        (self.submit(post).await.unwrap().message, asks)
    }

    fn answer(&self, ask: AskId) -> Answer {
        let by = self.person.actor().human().unwrap();
        Answer {
            ask,
            by,
            answers: drafts::answers(drafts::yes()),
            id: self.ids.message(),
            now: UnixMillis(2_000),
        }
    }

    fn cancel(&self, ask: AskId) -> Cancel {
        Cancel { ask, actor: self.agent.id, now: UnixMillis(2_000) }
    }

    async fn submit<J: WriteJob>(&self, job: J) -> Result<J::Outcome, J::Error> {
        submit(&self.writer, &tenant(), job).await
    }

    async fn count(&self, sql: &str) -> i64 {
        self.db.number(sql).await
    }
}

fn tenant() -> TenantId {
    TenantId::default_tenant()
}

fn topic(name: &str) -> TopicSelector {
    TopicSelector::Name { name: compass_domain::TopicName::parse(name).unwrap(), existing_only: false }
}
