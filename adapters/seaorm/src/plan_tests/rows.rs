//! Rows enough that the planner has a choice, and ids of some of them.

use compass_domain::{AccountId, ChannelId, GroupId, MessageId, NodeId, SessionId, TopicId};
use sqlx::{PgConnection, Row as _};

use crate::open_tests::run;

/// People, agents, channels and what was said in them.
const ROWS: &str = "
INSERT INTO accounts (id, tenant, handle, display_name, kind)
SELECT md5('u' || n)::uuid, 'default', 'u' || n, '', 0 FROM generate_series(1, 200) n;
INSERT INTO channel_groups (id, tenant, name, name_key, owner, visibility, parent)
SELECT md5('g' || n)::uuid, 'default', 'g' || n, 'g' || n, md5('u1')::uuid, 1,
       CASE WHEN n > 40 THEN md5('g' || (n - 40))::uuid END FROM generate_series(1, 80) n;
INSERT INTO channels (id, tenant, name, name_key, channel_group, kind, membership_mode, post_policy, mandatory)
SELECT md5('c' || n)::uuid, 'default', 'c' || n, 'c' || n, md5('g' || (n % 80 + 1))::uuid, 0, 0, 0, false
FROM generate_series(1, 400) n;
INSERT INTO accounts (id, tenant, handle, display_name, kind, owner, home_channel, parent)
SELECT md5('a' || n)::uuid, 'default', 'a' || n, '', 1, md5('u' || (n % 200 + 1))::uuid, md5('c1')::uuid,
       CASE WHEN n > 50 THEN md5('a' || (n - 50))::uuid END FROM generate_series(1, 800) n;
INSERT INTO channels (id, tenant, name, name_key, kind, membership_mode, anchor, post_policy, mandatory)
SELECT md5('t' || n)::uuid, 'default', 't' || n, 't' || n, 0, 1, md5('a' || n)::uuid, 0, false
FROM generate_series(1, 100) n;
INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
SELECT md5('c' || (n % 400 + 1))::uuid, md5('u' || (n / 400 * 7 % 200 + 1))::uuid, 'default', true, n
FROM generate_series(1, 4000) n ON CONFLICT DO NOTHING;
INSERT INTO topics (id, tenant, channel, name, name_key, created_at_ms, created_by, last_activity_ms)
SELECT md5('p' || n)::uuid, 'default', md5('c' || (n % 400 + 1))::uuid, 'p' || n, 'p' || n, 0, md5('u1')::uuid, 0
FROM generate_series(1, 800) n;
INSERT INTO messages (id, tenant, channel, topic, author, at_ms, seq, blocks, search_text)
SELECT md5('m' || n)::uuid, 'default', md5('c' || (n % 400 + 1))::uuid, md5('p' || (n % 400 + 400))::uuid,
       md5('u' || (n % 200 + 1))::uuid, 0, n, '[{\"kind\": \"text\", \"text\": \"x\"}]', ''
FROM generate_series(1, 6000) n;
INSERT INTO asks (ask_id, tenant, channel, message, author, digest)
SELECT md5('k' || n)::uuid, 'default', m.channel, m.id, m.author, decode(repeat('00', 32), 'hex')
FROM generate_series(1, 2000) n JOIN messages m ON m.seq = n AND n % 400 + 1 <> 5;
INSERT INTO agent_activity (agent, tenant, activity, at_ms)
SELECT md5('a' || n)::uuid, 'default', 'x', 0 FROM generate_series(1, 800) n;
INSERT INTO tokens (id, tenant, hash, kind, account, created_at_ms)
SELECT md5('k' || n)::uuid, 'default', decode(md5('k' || n) || md5('l' || n), 'hex'), 0, md5('u' || (n % 200 + 1))::uuid, 0
FROM generate_series(1, 2000) n;
ANALYZE;";

/// What the rows of the plans of reads leave empty.
const MORE_ROWS: &str = "
INSERT INTO channel_groups (id, tenant, name, name_key, owner, visibility, parent)
SELECT md5('h' || n)::uuid, 'default', 'h' || n, 'h' || n, md5('u1')::uuid, 0,
       CASE WHEN n > 2000 THEN md5('h' || (n - 2000))::uuid END
FROM generate_series(1, 4000) n;
INSERT INTO channels (id, tenant, name, name_key, channel_group, kind, membership_mode, post_policy, mandatory)
SELECT md5('d' || n)::uuid, 'default', 'd' || n, 'd' || n, md5('h' || (n % 4000 + 1))::uuid, 0, 0, 0, false
FROM generate_series(1, 12000) n;
INSERT INTO accounts (id, tenant, handle, display_name, kind, owner, home_channel, parent)
SELECT md5('b' || n)::uuid, 'default', 'b' || n, '', 1, md5('u' || (n % 200 + 1))::uuid, md5('c1')::uuid,
       md5('a' || (n % 800 + 1))::uuid FROM generate_series(1, 8000) n;
INSERT INTO channels (id, tenant, name, name_key, kind, membership_mode, anchor, post_policy, mandatory)
SELECT md5('w' || n)::uuid, 'default', 'w' || n, 'w' || n, 0, 1, md5('b' || n)::uuid, 0, false
FROM generate_series(1, 8000) n;
INSERT INTO channel_members (channel, account, tenant, subscribed, joined_no)
SELECT md5('d' || n)::uuid, md5('u' || (n % 200 + 1))::uuid, 'default', true, 1 FROM generate_series(1, 12000) n;
INSERT INTO channel_pins (channel, message, tenant, place, pinned_at_ms, pinned_by)
SELECT m.channel, m.id, 'default', m.seq, 0, m.author FROM messages m WHERE m.seq <= 2000;
INSERT INTO channel_subscriptions (channel, account, tenant, subscribed)
SELECT md5('t' || (n % 100 + 1))::uuid, md5('a' || n)::uuid, 'default', true FROM generate_series(1, 800) n;
INSERT INTO cursors (agent, channel, tenant, acked_seq)
SELECT md5('a' || (n % 800 + 1))::uuid, md5('c' || (n / 800 * 7 % 400 + 1))::uuid, 'default', 10
FROM generate_series(1, 4000) n ON CONFLICT DO NOTHING;
INSERT INTO owed (agent, message, tenant, channel)
SELECT md5('a' || (m.seq % 800 + 1))::uuid, m.id, 'default', m.channel FROM messages m WHERE m.seq <= 4000;
INSERT INTO unrouted (message, tenant, author)
SELECT m.id, 'default', m.author FROM messages m WHERE m.seq <= 2000;
INSERT INTO sessions (id, tenant, account, runner, node, attach_mode)
SELECT md5('s' || n)::uuid, 'default', md5('a' || (n % 800 + 1))::uuid, 'r', md5('n' || (n % 10))::uuid, 0
FROM generate_series(1, 2000) n;
INSERT INTO nodes (id, lease_until_ms) SELECT md5('n' || n)::uuid, 0 FROM generate_series(0, 9) n;
INSERT INTO placements (account, tenant, runner, container)
SELECT md5('a' || n)::uuid, 'default', 'r' || n % 20, 'c' || n FROM generate_series(1, 800) n;
INSERT INTO moved_topics (channel, topic, tenant, into_topic)
SELECT p.channel, md5('q' || n)::uuid, 'default', p.id
FROM generate_series(1, 4000) n JOIN topics p ON p.id = md5('p' || (n % 800 + 1))::uuid;
INSERT INTO read_positions (topic, account, tenant, seq)
SELECT md5('p' || (n % 800 + 1))::uuid, md5('u' || (n / 800 * 7 % 200 + 1))::uuid, 'default', 1
FROM generate_series(1, 4000) n;
UPDATE messages SET search_text = 'anchor number ' || seq || ' of rope ' || seq % 50;
ANALYZE;";

/// Added in a long run: with these there are more than 300,000 rows.
const LONG_ROWS: &str = "
INSERT INTO messages (id, tenant, channel, topic, author, at_ms, seq, blocks, search_text)
SELECT md5('m' || n)::uuid, 'default', md5('c' || (n % 400 + 1))::uuid, md5('p' || (n % 400 + 400))::uuid,
       md5('u' || (n % 200 + 1))::uuid, 0, n, '[{\"kind\": \"text\", \"text\": \"x\"}]', 'number ' || n
FROM generate_series(10001, 300000) n;
ANALYZE;";

pub(super) async fn fill(c: &mut PgConnection) {
    run(c, ROWS).await;
    run(c, MORE_ROWS).await;
    if compass_testkit::is_long() {
        run(c, LONG_ROWS).await;
    }
}

fn made(name: &str) -> [u8; 16] {
    let id = uuid::Uuid::try_parse(name).expect("an id");
    id.into_bytes()
}

async fn made_by(c: &mut PgConnection, name: &str) -> [u8; 16] {
    let row = sqlx::query("SELECT md5($1)").bind(name).fetch_one(c).await.expect("an id");
    made(&row.get::<String, _>(0))
}

/// Ids of filled rows.
#[derive(Clone, Copy)]
pub(super) struct Ids {
    pub(super) user: AccountId,
    pub(super) agent: AccountId,
    pub(super) other_agent: AccountId,
    pub(super) channel: ChannelId,
    pub(super) tree: ChannelId,
    pub(super) group: GroupId,
    pub(super) topic: TopicId,
    pub(super) other_topic: TopicId,
    pub(super) message: MessageId,
    pub(super) session: SessionId,
    pub(super) node: NodeId,
}

impl Ids {
    pub(super) async fn of(c: &mut PgConnection) -> Self {
        Self {
            user: AccountId::from_bytes(made_by(c, "u1").await),
            agent: AccountId::from_bytes(made_by(c, "a1").await),
            other_agent: AccountId::from_bytes(made_by(c, "a51").await),
            channel: ChannelId::from_bytes(made_by(c, "c5").await),
            tree: ChannelId::from_bytes(made_by(c, "t1").await),
            group: GroupId::from_bytes(made_by(c, "g41").await),
            topic: TopicId::from_bytes(made_by(c, "p404").await),
            other_topic: TopicId::from_bytes(made_by(c, "p4").await),
            message: MessageId::from_bytes(made_by(c, "m4004").await),
            session: SessionId::from_bytes(made_by(c, "s1").await),
            node: NodeId::from_bytes(made_by(c, "n1").await),
        }
    }

    /// Ids of nothing.
    pub(super) fn none() -> Self {
        let id = [7; 16];
        Self {
            user: AccountId::from_bytes(id),
            agent: AccountId::from_bytes(id),
            other_agent: AccountId::from_bytes([8; 16]),
            channel: ChannelId::from_bytes(id),
            tree: ChannelId::from_bytes([8; 16]),
            group: GroupId::from_bytes(id),
            topic: TopicId::from_bytes(id),
            other_topic: TopicId::from_bytes([8; 16]),
            message: MessageId::from_bytes(id),
            session: SessionId::from_bytes(id),
            node: NodeId::from_bytes(id),
        }
    }
}
