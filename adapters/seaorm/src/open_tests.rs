//! What opening a database promises: one update of the schema, tenants kept apart, durable commits.

use compass_comms::ports::Storage as _;
use compass_domain::{AccountId, ChannelId, Classified as _, ErrorKind, TenantId};
use compass_testkit::postgres::{Cluster, TestDatabase};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::{
    OpenError, Options, SeaStorage, checks::TENANT_TABLES, ids::id, rows::Columns as _, testing::Db,
    transaction::Access,
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

/// The last migration is taken back, as if the program had not known it yet.
#[tokio::test]
async fn a_schema_of_an_earlier_program_is_brought_up_to_date_and_keeps_its_rows() {
    let back =
        ["DROP TABLE moved_topics", "DELETE FROM seaql_migrations WHERE version = 'm0006_moved_topics'"];
    let ana = AccountId::from_bytes([1; 16]);
    for db in Db::both().await {
        let of = TenantId::default_tenant();
        let sql = "INSERT INTO accounts (id, tenant, handle, display_name, kind) VALUES ($1, 'default', 'ana', '', 0)";
        db.execute(sql, vec![id(ana)]).await;
        if db.url.starts_with("sqlite") {
            db.execute_all(back.map(|sql| (sql, vec![]))).await;
        } else {
            run(&mut owner(&db.url).await, back.join(";")).await;
        }
        let storage = SeaStorage::connect(fast(&db.url)).await.expect("it opens");
        let mut read = storage.read(&of).await.expect("a snapshot");
        assert_eq!(read.list_moved_topics(&[ChannelId::from_bytes([2; 16])]).await.expect("a read"), []);
        let kept = read.find_account(ana).await.expect("a read").expect("an account");
        assert_eq!(kept.handle.as_str(), "ana");
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
