//! What opening a database promises: one update of the schema, tenants kept apart, durable commits, index plans.

use compass_comms::ports::{
    AccountReads as _, AskReads as _, ChannelReads as _, MessagePage, MessageReads as _, OpenAsksPage,
    Storage as _, TokenHash, TokenReads as _, TopicReads as _,
};
use compass_domain::{
    AccountId, Actor, ChannelId, Classified as _, ErrorKind, Handle, MessageId, Position, TenantId, TopicId,
    UnixMillis,
    account::{ActorKind, UserRole},
};
use compass_testkit::postgres::{Cluster, TestDatabase};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::{
    OpenError, Options, SeaStorage, checks::TENANT_TABLES, read_unit::SeaReadUnit, rows::Columns as _,
    testing::Db, transaction::Access,
};

fn fast(url: &str) -> Options {
    Options { allow_unsafe_durability: true, ..Options::new(url) }
}

pub(crate) async fn owner(url: &str) -> PgConnection {
    PgConnection::connect(url).await.expect("the owner connects")
}

pub(crate) async fn run(connection: &mut PgConnection, sql: impl Into<String>) {
    sqlx::raw_sql(AssertSqlSafe(sql.into())).execute(connection).await.expect("the statement runs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_together_update_the_schema_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut urls = vec![format!("sqlite:{}", dir.path().join("compass.db").display())];
    let database = TestDatabase::fresh(Cluster::Fast).await;
    urls.extend(database.as_ref().map(|database| database.url().to_owned()));
    for url in &urls {
        let starts = (0..4).map(|_| SeaStorage::connect(fast(url)));
        for storage in futures::future::join_all(starts).await {
            let storage = storage.expect("every server starts");
            let tenants = storage.tenants().await.expect("tenants");
            assert_eq!(tenants, [TenantId::default_tenant()]);
            storage.close().await;
        }
    }
}

#[tokio::test]
async fn a_schema_of_a_newer_program_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let url = format!("sqlite:{}", dir.path().join("compass.db").display());
    let storage = SeaStorage::connect(fast(&url)).await.expect("it opens");
    let mut tx = storage.pools.system(Access::Write).await.expect("a transaction");
    let sql = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    tx.execute(sql, vec![]).await.expect("a row");
    tx.commit().await.expect("it is kept");
    storage.close().await;
    match SeaStorage::connect(fast(&url)).await {
        Err(OpenError::SchemaNewer(version)) => assert_eq!(version, "m9999_later"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_may_lose_commits_is_refused_unless_it_is_allowed() {
    let Some(database) = TestDatabase::fresh(Cluster::Fast).await else { return };
    match SeaStorage::connect(Options::new(database.url())).await {
        Err(OpenError::UnsafeDurability { setting, value, .. }) => {
            assert_eq!((setting, &*value), ("fsync", "off"));
        }
        other => panic!("{other:?}"),
    }
    SeaStorage::connect(fast(database.url())).await.expect("it is allowed");
}

#[tokio::test]
async fn a_database_in_memory_and_an_unknown_scheme_are_refused() {
    for url in ["sqlite::memory:", "mysql://host/db", "compass.db"] {
        let refused = SeaStorage::connect(Options::new(url)).await;
        assert!(matches!(refused, Err(OpenError::Url(_))), "{url}: {refused:?}");
    }
}

#[tokio::test]
async fn without_a_tenant_or_with_another_no_row_is_seen_and_none_is_written() {
    let Some(database) = TestDatabase::fresh(Cluster::Fast).await else { return };
    let other = TenantId::new("o'ther");
    let options = Options { tenants: vec![other.clone()], ..fast(database.url()) };
    let storage = SeaStorage::connect(options).await.expect("it opens");
    let mut c = owner(database.url()).await;
    run(
        &mut c,
        "INSERT INTO accounts (id, tenant, handle, display_name, kind)
         SELECT gen_random_uuid(), 'default', 'u' || n, '', 0 FROM generate_series(1, 3) n",
    )
    .await;
    let mut seen = Vec::new();
    for of in [None, Some(&other), Some(&TenantId::default_tenant())] {
        let mut tx = match of {
            None => storage.pools.system(Access::Snapshot).await,
            Some(of) => storage.pools.tenant(of, Access::Snapshot).await,
        }
        .expect("a transaction");
        let row =
            tx.one("SELECT count(*) AS n FROM accounts", vec![]).await.expect("a count").expect("a row");
        seen.push(row.count("n").expect("a number"));
        if of.is_none() {
            for table in TENANT_TABLES {
                let rows = tx.all(&format!("SELECT 1 FROM {table}"), vec![]).await.expect("a read");
                assert_eq!(rows.len(), 0, "{table}");
            }
        }
    }
    assert_eq!(seen, [0, 0, 3]);
    let mut tx = storage.pools.tenant(&other, Access::Write).await.expect("a transaction");
    let foreign = "INSERT INTO accounts (id, tenant, handle, display_name, kind)
                   VALUES (gen_random_uuid(), 'default', 'x', '', 0)";
    assert!(tx.execute(foreign, vec![]).await.is_err(), "a row of another tenant");
}

#[tokio::test]
async fn a_server_does_not_start_unless_row_security_is_active_on_every_table() {
    let Some(database) = TestDatabase::fresh(Cluster::Fast).await else { return };
    SeaStorage::connect(fast(database.url())).await.expect("it opens").close().await;
    let mut c = owner(database.url()).await;
    for table in TENANT_TABLES {
        run(&mut c, format!("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")).await;
        match SeaStorage::connect(fast(database.url())).await {
            Err(OpenError::RowSecurity(what)) => assert!(what.contains(table), "{what}"),
            other => panic!("{table}: {other:?}"),
        }
        run(&mut c, format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")).await;
    }
    run(&mut c, "CREATE TABLE forgotten (tenant text)").await;
    assert!(matches!(SeaStorage::connect(fast(database.url())).await, Err(OpenError::RowSecurity(_))));
}

#[tokio::test]
async fn every_table_with_a_tenant_is_on_the_list_of_tables_of_tenants() {
    let db = Db::sqlite().await;
    let mut tx = db.storage.pools.system(Access::Snapshot).await.expect("a transaction");
    let sql = "SELECT t.name AS name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
               WHERE t.type = 'table' AND c.name = 'tenant'";
    let rows = tx.all(sql, vec![]).await.expect("tables");
    let mut found: Vec<String> = rows.iter().map(|row| row.get("name").expect("a name")).collect();
    found.push("tenants".into());
    found.sort();
    let mut listed = TENANT_TABLES.map(str::to_owned).to_vec();
    listed.sort();
    assert_eq!(found, listed);
}

#[tokio::test]
async fn a_connection_that_breaks_while_committing_leaves_the_outcome_unknown() {
    let Some(db) = Db::postgres().await else { return };
    let of = TenantId::default_tenant();
    let unit = db.storage.begin(&of).await.expect("a unit");
    let mut c = owner(&db.url).await;
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND state = 'idle in transaction'";
    let ended: i64 = sqlx::query(sql).fetch_one(&mut c).await.expect("they end").get(0);
    assert_eq!(ended, 1);
    let failed = unit.commit().await.expect_err("the connection is gone");
    assert_eq!(failed.kind(), ErrorKind::OutcomeUnknown, "{failed}");
    let storage = db.storage.clone();
    storage.read(&of).await.expect("the pool makes a new connection");
}

/// Some thousand rows, so that no plan is chosen because a table is small.
pub(crate) const ROWS: &str = "
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

fn made(name: &str) -> [u8; 16] {
    let id = uuid::Uuid::try_parse(name).expect("an id");
    id.into_bytes()
}

pub(crate) async fn made_by(c: &mut PgConnection, name: &str) -> [u8; 16] {
    let row = sqlx::query("SELECT md5($1)").bind(name).fetch_one(c).await.expect("an id");
    made(&row.get::<String, _>(0))
}

#[tokio::test]
async fn no_read_scans_a_table_of_tenants() {
    let Some(db) = Db::postgres().await else { return };
    let mut c = owner(&db.url).await;
    run(&mut c, ROWS).await;
    let user = AccountId::from_bytes(made_by(&mut c, "u1").await);
    let agent = AccountId::from_bytes(made_by(&mut c, "a1").await);
    let channel = ChannelId::from_bytes(made_by(&mut c, "c5").await);
    let topic = TopicId::from_bytes(made_by(&mut c, "p404").await);
    let message = MessageId::from_bytes(made_by(&mut c, "m4004").await);
    let viewer = Actor { id: user, kind: ActorKind::User { role: UserRole::Member } };

    let of = TenantId::default_tenant();
    let mut tx = db.storage.pools.tenant(&of, Access::Snapshot).await.expect("a transaction");
    tx.execute("SET LOCAL enable_seqscan = off", vec![]).await.expect("a setting");
    tx.plans = Some(Vec::new());
    let mut unit = SeaReadUnit { tx, tenant: of };
    unit.find_account(user).await.expect("a read").expect("an account");
    unit.find_account_by_handle(&Handle::parse("u1").expect("a handle")).await.expect("a read");
    assert!(unit.list_accounts(viewer).await.expect("a read").len() >= 200);
    unit.sees_account(viewer, agent).await.expect("a read");
    assert_eq!(unit.list_activities(&[agent]).await.expect("a read").len(), 1);
    unit.find_channel(channel).await.expect("a read").expect("a channel");
    assert!(!unit.list_channels(viewer).await.expect("a read").is_empty());
    unit.find_channels_named(viewer, "c5").await.expect("a read");
    unit.participating(user, &[channel]).await.expect("a read");
    unit.sees_channel(viewer, channel).await.expect("a read");
    unit.share_channel(user, agent).await.expect("a read");
    unit.find_topic(topic).await.expect("a read").expect("a topic");
    unit.find_topic_named(channel, "p404").await.expect("a read").expect("a topic");
    assert!(!unit.list_topics(channel, true).await.expect("a read").is_empty());
    let all = MessagePage { channel, topic: None, before: None, snapshot: None, limit: 50 };
    assert!(!unit.list_messages(&all).await.expect("a read").is_empty());
    let snapshot = Some(Position(5000));
    let some = MessagePage { topic: Some(topic), before: Some(message), snapshot, ..all };
    assert!(!unit.list_messages(&some).await.expect("a read").is_empty());
    unit.find_message(message).await.expect("a read").expect("a message");
    unit.last_position().await.expect("a read");
    let open = OpenAsksPage { viewer: user, channel: Some(channel), before: Some(message), limit: 50 };
    unit.list_open_asks(&open).await.expect("a read");
    // The asks of these rows disagree with their blocks, so the page says corrupt; its plan is what counts here.
    drop(unit.list_open_asks(&OpenAsksPage { channel: None, before: None, ..open }).await);
    unit.list_tokens(user, UnixMillis(1)).await.expect("a read");

    let plans = unit.tx.plans.take().expect("plans");
    assert!(plans.len() >= 22, "{} statements", plans.len());
    for plan in &plans {
        for table in TENANT_TABLES {
            let needle = format!("Seq Scan on {table}");
            let scan = plan.lines().any(|line| {
                line.split_once(&needle).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
            });
            assert!(!scan, "{table} is scanned by {plan}");
        }
    }

    let mut tx = db.storage.pools.system(Access::Snapshot).await.expect("a transaction");
    assert!(crate::tokens::find_anywhere(&mut tx, &TokenHash([0; 32])).await.expect("a read").is_none());
}
