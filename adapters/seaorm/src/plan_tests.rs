//! Every statement outside of the writer, run over its port on a filled database, finds its rows through an index.

use std::{cell::RefCell, future::Future};

use compass_comms::ports::{
    MessagePage, OpenAsksPage, SearchPage, Storage as _, Subject, TokenHash, TokenRow,
};
use compass_domain::{
    Account, AccountId, AccountKind, Actor, Channel, ChannelId, Handle, LifecycleState, MessageId, NodeId,
    Position, SearchQuery, Seq, SessionId, TenantId, TokenId, TopicId, TopicName, UnixMillis, WakePolicy,
    account::{ActorKind, UserRole},
    channel::{ChannelKind, ChannelName, Member, MembershipMode, PostPolicy},
};
use compass_hub::ports::{
    AttachMode, Audience as _, Ledger as _, NewPlacement, OpenSession, Overview as _, PendingQuery, PinQuery,
    Placements as _,
};
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use crate::{
    SeaStorage,
    checks::TENANT_TABLES,
    open_tests::{ROWS, made_by, owner, run},
    testing::Db,
    transaction::{PLANS, Plan},
};

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

async fn fill(c: &mut PgConnection) {
    run(c, ROWS).await;
    run(c, MORE_ROWS).await;
    if std::env::var("COMPASS_LONG").is_ok_and(|long| long == "1") {
        run(c, LONG_ROWS).await;
    }
}

/// Ids of filled rows.
#[derive(Clone, Copy)]
struct Ids {
    user: AccountId,
    agent: AccountId,
    channel: ChannelId,
    topic: TopicId,
    other_topic: TopicId,
    message: MessageId,
    session: SessionId,
    node: NodeId,
}

impl Ids {
    async fn of(c: &mut PgConnection) -> Self {
        Self {
            user: AccountId::from_bytes(made_by(c, "u1").await),
            agent: AccountId::from_bytes(made_by(c, "a1").await),
            channel: ChannelId::from_bytes(made_by(c, "c5").await),
            topic: TopicId::from_bytes(made_by(c, "p404").await),
            other_topic: TopicId::from_bytes(made_by(c, "p4").await),
            message: MessageId::from_bytes(made_by(c, "m4004").await),
            session: SessionId::from_bytes(made_by(c, "s1").await),
            node: NodeId::from_bytes(made_by(c, "n1").await),
        }
    }

    /// Ids of nothing.
    fn none() -> Self {
        let id = [7; 16];
        Self {
            user: AccountId::from_bytes(id),
            agent: AccountId::from_bytes(id),
            channel: ChannelId::from_bytes(id),
            topic: TopicId::from_bytes(id),
            other_topic: TopicId::from_bytes([8; 16]),
            message: MessageId::from_bytes(id),
            session: SessionId::from_bytes(id),
            node: NodeId::from_bytes(id),
        }
    }
}

fn tenant() -> TenantId {
    TenantId::default_tenant()
}

/// Runs every read of the storage port; what they find is not the point.
async fn read_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, channel, topic, message, .. } = ids;
    let viewer = Actor { id: user, kind: ActorKind::User { role: UserRole::Member } };
    let mut unit = storage.read(&tenant()).await.expect("a snapshot");
    drop(unit.find_account(user).await.expect("a read"));
    drop(unit.find_account_by_handle(&Handle::parse("u1").expect("a handle")).await.expect("a read"));
    drop(unit.list_accounts(viewer).await.expect("a read"));
    unit.sees_account(viewer, agent).await.expect("a read");
    drop(unit.list_activities(&[agent]).await.expect("a read"));
    drop(unit.find_channel(channel).await.expect("a read"));
    drop(unit.list_channels(viewer).await.expect("a read"));
    drop(unit.find_channels_named(viewer, "c5").await.expect("a read"));
    drop(unit.participating(user, &[channel]).await.expect("a read"));
    unit.sees_channel(viewer, channel).await.expect("a read");
    unit.share_channel(user, agent).await.expect("a read");
    drop(unit.find_topic(topic).await.expect("a read"));
    drop(unit.find_topic_named(channel, "p404").await.expect("a read"));
    drop(unit.list_topics(channel, true).await.expect("a read"));
    for channel in [None, Some(channel)] {
        drop(unit.list_read_positions(user, channel).await.expect("a read"));
    }
    unit.find_read_position(user, topic).await.expect("a read");
    let snapshot = Some(Position(5000));
    let all = MessagePage { channel, topic: None, before: None, snapshot: None, limit: 50 };
    let some = MessagePage { topic: Some(topic), before: Some(message), snapshot, ..all };
    for page in [all, some] {
        drop(unit.list_messages(&page).await.expect("a read"));
    }
    let query = SearchQuery::parse("anchor -\"rope 7\" or chain").expect("a query");
    for (channel, snapshot) in [(None, None), (Some(channel), snapshot)] {
        let page = SearchPage { viewer: user, query: query.clone(), channel, snapshot, limit: 50 };
        drop(unit.search_messages(&page).await.expect("a read"));
    }
    drop(unit.find_message(message).await.expect("a read"));
    unit.last_position().await.expect("a read");
    drop(unit.list_tokens(user, UnixMillis(1)).await.expect("a read"));
    for (channel, before) in [(None, None), (Some(channel), Some(message))] {
        // The asks of the filled rows disagree with their blocks, so some of these pages say corrupt.
        drop(unit.list_open_asks(&OpenAsksPage { viewer: user, channel, before, limit: 50 }).await);
    }
    drop(storage.find_token(&TokenHash([0; 32])).await.expect("a read"));
    drop(storage.tenants().await.expect("a read"));
}

/// Runs a write in a unit that keeps nothing; one that the rows refuse has its plan all the same.
macro_rules! write {
    ($storage:ident: $repository:ident.$method:ident($($argument:expr),*)) => {{
        let mut unit = $storage.begin(&tenant()).await.expect("a unit");
        drop(unit.$repository().$method($($argument),*).await);
    }};
}

async fn write_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, channel, topic, other_topic, .. } = ids;
    let handle = Handle::parse("new").expect("a handle");
    let account = Account {
        id: AccountId::from_bytes([1; 16]),
        handle: handle.clone(),
        display_name: String::new(),
        kind: AccountKind::User { role: UserRole::Member },
    };
    let member = Member { account: user, subscribed: true };
    let row = Channel {
        id: ChannelId::from_bytes([1; 16]),
        name: ChannelName::parse("new").expect("a name"),
        group: None,
        kind: ChannelKind::Channel,
        mode: MembershipMode::Flat,
        policy: PostPolicy::Open,
        mandatory: false,
        members: vec![member],
        tree_subscribers: Vec::new(),
        pins: Vec::new(),
    };
    let name = TopicName::parse("new").expect("a name");
    let changed = compass_domain::Topic::new(topic, channel, name, user, UnixMillis(1));
    let token = TokenRow {
        id: TokenId::from_bytes([1; 16]),
        hash: TokenHash([1; 32]),
        subject: Subject::Account(user),
        created_at: UnixMillis(1),
        expires_at: None,
        revoked_at: None,
    };
    write!(storage: accounts.insert(&account));
    write!(storage: accounts.find(user));
    write!(storage: accounts.find_by_handle(&handle));
    write!(storage: accounts.put_activity(agent, "x", UnixMillis(1)));
    write!(storage: channels.insert(&row));
    write!(storage: channels.lock(channel));
    write!(storage: channels.participates(user, channel));
    write!(storage: channels.put_member(channel, member));
    write!(storage: channels.remove_member(channel, user));
    write!(storage: cursors.seed(agent, channel));
    write!(storage: topics.find(topic));
    write!(storage: topics.find_named(channel, "p404"));
    write!(storage: topics.keep(topic));
    write!(storage: topics.lock(&[topic, other_topic]));
    write!(storage: topics.lock_messages(topic));
    write!(storage: topics.first_posts(&[topic, other_topic], &[user, agent]));
    write!(storage: topics.put(&changed));
    write!(storage: topics.merge(other_topic, &changed));
    write!(storage: read_positions.find(user, topic));
    write!(storage: read_positions.advance(user, topic, Seq(1)));
    write!(storage: read_positions.list(&[topic, other_topic]));
    write!(storage: read_positions.replace(topic, &[(user, Seq(1))], other_topic));
    write!(storage: tokens.insert(&token));
    write!(storage: tokens.find(token.id));
    write!(storage: tokens.find_by_hash(&token.hash));
    write!(storage: tokens.revoke(token.id, UnixMillis(2)));
}

async fn deliver_everything(storage: &SeaStorage, ids: Ids) {
    let Ids { user, agent, channel, message, session, node, .. } = ids;
    let of = tenant();
    drop(storage.members(&of, channel).await.expect("a read"));
    // The blocks of the filled rows may disagree with their asks.
    drop(storage.labelled(&of, message).await);
    drop(storage.with_open_asks(&of, &[agent]).await.expect("a read"));
    let ask = compass_domain::AskId::from_bytes([1; 16]);
    for (include_unrouted, answers_ask) in [(true, None), (false, None), (true, Some(ask))] {
        let include_braked = include_unrouted;
        let skip = vec![message];
        let query = PendingQuery { agent, include_unrouted, include_braked, answers_ask, skip, limit: 50 };
        drop(storage.pending(&of, &query).await.expect("a read"));
    }
    drop(storage.owed(&of, &[agent]).await.expect("a read"));
    drop(storage.backlogs(&of, Some(user)).await.expect("a read"));
    drop(storage.examine(&of, 50).await.expect("a read"));
    for after in [None, Some((channel, 2))] {
        drop(storage.pins(&of, &PinQuery { agent, after, limit: 50 }).await.expect("a read"));
    }
    storage.renew_lease(node).await.expect("a lease");
    let open = OpenSession { session, account: agent, runner: "r".into(), mode: AttachMode::Deliveries };
    drop(storage.open_session(&of, node, &open).await);
    storage.record_state(&of, session, LifecycleState::Ready, 9).await.expect("a write");
    for accounts in [None, Some(&[agent][..])] {
        drop(storage.live_sessions(&of, accounts).await.expect("a read"));
    }
    drop(storage.find_sessions(&of, &[session]).await.expect("a read"));
    drop(storage.unrouted(node, 0, 50).await.expect("a read"));
    storage.close_session(&of, session).await.expect("a write");
    storage.release(node).await.expect("a write");
}

async fn place_everything(storage: &SeaStorage, ids: Ids) {
    let (of, agent) = (tenant(), ids.agent);
    let new = NewPlacement { account: agent, runner: "r1".into(), container: "new".into(), wake: None };
    // Where the filled rows know no such agent the row is refused.
    drop(storage.upsert(&of, &new).await);
    drop(storage.find(&of, agent).await.expect("a read"));
    drop(storage.find_container(&of, "c5").await.expect("a read"));
    drop(storage.of_runner(&of, "r1").await.expect("a read"));
    drop(storage.list(&of).await.expect("a read"));
    storage.set_wake_policies(&of, "r1", &[(agent, WakePolicy::Any)]).await.expect("a write");
    drop(storage.due_wakes(&of, &["r1".to_owned()]).await.expect("a read"));
    storage.claim_wake(&of, agent, 1).await.expect("a write");
    storage.wake_done(&of, agent, Err("x")).await.expect("a write");
    storage.wake_done(&of, agent, Ok(())).await.expect("a write");
    storage.remove(&of, agent).await.expect("a write");
}

/// The plan of every statement that `run` comes to.
async fn plans_of(run: impl Future<Output = ()>) -> Vec<Plan> {
    PLANS
        .scope(RefCell::default(), async {
            run.await;
            PLANS.with(RefCell::take)
        })
        .await
}

async fn everything(storage: &SeaStorage, ids: Ids) -> Vec<Plan> {
    let plans = plans_of(async {
        read_everything(storage, ids).await;
        write_everything(storage, ids).await;
        deliver_everything(storage, ids).await;
        place_everything(storage, ids).await;
    })
    .await;
    assert!(plans.len() >= 70, "{} statements", plans.len());
    plans
}

/// Statements that read a whole table or a whole tenant on purpose, by how they begin.
const ON_PURPOSE: [(&str, &str); 5] = [
    ("SELECT id AS tenant FROM tenants", "lists the tenants"),
    ("SELECT m.position, json_object(", "examines the open asks of all channels"),
    ("SELECT position FROM messages", "takes the first entry of the index alone"),
    (
        "SELECT s.id, s.account, s.runner, s.node, s.attach_mode, s.lifecycle, s.state_number",
        "lists the open sessions",
    ),
    (
        "SELECT p.account, p.runner, p.container, p.wake, p.wake_until_ms, p.wake_failures, \
         p.wake_not_before_ms, p.wake_error, p.placed_at_ms FROM placements p WHERE p.tenant = $1 ORDER BY",
        "lists the placements",
    ),
];
/// The groups without a parent, which are few and have no index of their own.
const TOP_GROUPS: &str = "SEARCH top USING INDEX channel_groups_tenant (tenant=?)";

/// What is wrong with a plan of Postgres: a table of tenants read from end to end, by itself or by its index.
fn wholes(plan: &Plan) -> Vec<String> {
    let mut wholes = Vec::new();
    for (at, line) in plan.lines.iter().enumerate() {
        let Some((_, scan)) = line
            .split_once("Seq Scan on ")
            .or_else(|| line.split_once("Scan using "))
            .or_else(|| line.split_once("Bitmap Index Scan on "))
        else {
            continue;
        };
        let table = scan.split_once(" on ").map_or(scan, |(_, table)| table);
        let table = table.split_whitespace().next().unwrap_or_default();
        let is_whole = if !TENANT_TABLES.contains(&table) && !line.contains("Bitmap Index Scan") {
            false
        } else if line.contains("Seq Scan") {
            true
        } else {
            // The condition stands below its node, before the next one.
            let below = plan.lines.iter().skip(at + 1).take_while(|line| !line.contains("->"));
            !below.into_iter().any(|line| line.trim_start().starts_with("Index Cond"))
        };
        if is_whole {
            wholes.push(line.trim().to_owned());
        }
    }
    wholes
}

/// What is wrong with a plan of SQLite.
fn sqlite_wholes(plan: &Plan) -> Vec<String> {
    let sql = plan.sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_table = |alias: &str| {
        TENANT_TABLES.iter().any(|table| {
            let named = format!(" {table} {alias} ");
            *table == alias || format!("{sql} ").contains(&named)
        })
    };
    let step = |line: &&String| {
        let scanned = line.strip_prefix("SCAN ").and_then(|rest| rest.split_whitespace().next());
        // An index of the tenant alone is the whole table where there is one tenant.
        scanned.is_some_and(is_table) || (line.contains("(tenant=?)") && *line != TOP_GROUPS)
    };
    let on_purpose = ON_PURPOSE.iter().any(|(start, _)| sql.starts_with(start));
    plan.lines.iter().filter(step).filter(|_| !on_purpose).cloned().collect()
}

fn report(plans: &[Plan], wholes: impl Fn(&Plan) -> Vec<String>) {
    let found: Vec<String> = plans
        .iter()
        .map(|plan| (plan, wholes(plan)))
        .filter(|(_, wholes)| !wholes.is_empty())
        .map(|(plan, wholes)| format!("{}\nof\n{}\n{}", wholes.join("\n"), plan.sql, plan.lines.join("\n")))
        .collect();
    assert!(found.is_empty(), "{} of {} statements:\n{}", found.len(), plans.len(), found.join("\n\n"));
}

#[tokio::test]
async fn no_statement_outside_the_writer_reads_a_whole_table_on_postgres() {
    let Some(db) = Db::postgres().await else { return };
    let mut c = owner(&db.url).await;
    fill(&mut c).await;
    let ids = Ids::of(&mut c).await;
    let plans = everything(&db.storage, ids).await;
    report(&plans, wholes);
    // A bitmap has no order, so a page of it is all messages of a channel, sorted.
    report(&plans, |plan| {
        plan.lines.iter().filter(|line| line.contains("Bitmap Heap Scan on messages")).cloned().collect()
    });
}

/// Functions are planned apart from the statements that call them: the search as its owner, who is under no row
/// security.
#[tokio::test]
async fn the_search_function_reads_its_index_and_nothing_else_whole() {
    let Some(db) = Db::postgres().await else { return };
    let mut c = owner(&db.url).await;
    fill(&mut c).await;
    let body = sqlx::query("SELECT prosrc FROM pg_proc WHERE proname = 'compass_search'");
    let body: String = body.fetch_one(&mut c).await.expect("a function").get(0);
    let script = format!(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET compass.tenant = 'default';
         PREPARE planned (text, uuid[], bigint, bigint) AS {body};
         EXPLAIN EXECUTE planned ('anchor', '{{}}', NULL, 50)"
    );
    let rows = sqlx::raw_sql(AssertSqlSafe(script)).fetch_all(&mut c).await.expect("a plan");
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(lines.iter().any(|line| line.contains("on messages_search")), "{}", lines.join("\n"));
    report(&[Plan { sql: body, lines }], wholes);
}

#[tokio::test]
async fn no_statement_outside_the_writer_reads_a_whole_table_on_sqlite() {
    let db = Db::sqlite().await;
    report(&everything(&db.storage, Ids::none()).await, sqlite_wholes);
}

#[test]
fn a_plan_that_reads_everything_is_reported() {
    let plan = |lines: &[&str]| Plan {
        sql: String::new(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    for whole in [
        &["Seq Scan on messages m  (cost=0)", "  Filter: (id = $1)"][..],
        &["Limit", "  ->  Index Scan using messages_pkey on messages m", "        Filter: (a = $1)"],
        &[
            "->  Index Only Scan using messages_topic on messages",
            "->  Index Scan using x on y",
            "  Index Cond: (a)",
        ],
        &["->  Bitmap Heap Scan on messages m", "  ->  Bitmap Index Scan on messages_topic"],
    ] {
        assert_eq!(wholes(&plan(whole)).len(), 1, "{whole:?}");
    }
    for fine in [
        &["Index Scan using messages_pkey on messages m", "  Index Cond: (id = $1)"][..],
        &["Seq Scan on nodes n"],
        &["CTE Scan on mine", "Function Scan on compass_search found"],
        &["->  Bitmap Index Scan on messages_search", "      Index Cond: (search_vector @@ $1)"],
    ] {
        assert_eq!(wholes(&plan(fine)), Vec::<String>::new(), "{fine:?}");
    }
}
