//! What the statements read, by their plans.

use compass_ports::Locks;
use sqlx::Connection as _;

use super::{World, tenant};
use crate::{
    testing::Db,
    transaction::Pools,
    writer::{
        changes,
        needs::{Call, Needs},
        postgres::{SETTINGS, types},
        script,
        session::Session,
        sql::Read,
    },
};

const READS: [(Read, &str); 13] = [
    (Read::LockChannels, r#"{"channels":[],"asks":[]}"#),
    (Read::LockMessages, "[]"),
    (Read::LockTopics, r#"{"ids":[],"names":[],"asks":[]}"#),
    (Read::LockUnrouted, "[]"),
    (Read::LockOwed, "[]"),
    (Read::LockCursors, "[]"),
    (Read::Participants, r#"{"channels":[],"asks":[]}"#),
    (Read::Posted, "[]"),
    (Read::Asks, "[]"),
    (Read::Places, "[]"),
    (Read::OwnSeqs, "[]"),
    (Read::Routed, "[]"),
    (Read::Audience, "[]"),
];

#[tokio::test]
async fn every_read_runs_on_empty_tables() {
    for db in Db::both().await {
        for (read, payload) in READS {
            let mut session = Session::new(&db.storage.pools, &tenant());
            let call = Call { read, payload: payload.to_owned() };
            let rows = session.read(&[call]).await.unwrap_or_else(|fault| panic!("{read:?}: {fault:?}"));
            assert!(matches!(rows.as_slice(), [rows] if rows.is_empty()), "{read:?}");
            session.abandon().await;
        }
    }
}

#[tokio::test]
async fn joined_reads_return_the_rows_of_each_in_the_order_of_the_calls() {
    for world in World::all().await {
        let (message, asks) = world.ask(1).await;
        let locks = [
            Locks::Answer { ask: asks[0], actor: world.agent.id },
            Locks::Route { message: message.id() },
            Locks::Acknowledge { agent: world.agent.id, messages: vec![message.id()] },
        ];
        let calls = Needs::of(&locks).calls().unwrap();
        let mut session = Session::new(&world.db.storage.pools, &tenant());
        let rows = session.read(&calls).await.unwrap();
        session.abandon().await;
        let found: Vec<(Read, usize)> =
            calls.iter().map(|call| call.read).zip(rows.iter().map(Vec::len)).collect();
        let of = |read| found.iter().find(|(other, _)| *other == read).map(|(_, rows)| *rows);
        for read in
            [Read::LockChannels, Read::LockTopics, Read::Participants, Read::Asks, Read::Places, Read::Routed]
        {
            assert_eq!(of(read), Some(1), "{read:?} of {found:?}");
        }
        let asked = calls.iter().position(|call| call.read == Read::Asks).unwrap();
        // Postgres writes ids with hyphens.
        assert!(rows[asked][0].columns.replace('-', "").contains(&asks[0].to_string()));
        assert!(rows[asked][0].blocks.as_ref().unwrap().contains("ask"));
    }
}

/// The plan that a statement keeps, made as the role and with the settings of the writer's connection.
async fn plan(connection: &mut sqlx::PgConnection, types: &str, values: &str, sql: &str) -> String {
    let script =
        format!("PREPARE planned ({types}) AS {sql}; EXPLAIN EXECUTE planned ({values}); DEALLOCATE planned");
    let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(script)).fetch_all(connection).await.unwrap();
    let lines = rows.iter().map(|row| sqlx::Row::get::<String, _>(row, 0));
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn no_statement_of_the_writer_scans_a_table() {
    let Some(world) = World::postgres().await else { return };
    let mut connection = sqlx::PgConnection::connect(&world.db.url).await.unwrap();
    let settings = format!("SET ROLE compass_app; {SETTINGS}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(settings)).execute(&mut connection).await.unwrap();
    let mut plans = Vec::new();
    for (read, _) in READS {
        let statement = read.statement();
        let plan = plan(&mut connection, "jsonb, text", "'{}', 'default'", &statement.postgres).await;
        plans.push((statement.name, plan));
    }
    for change in changes::samples() {
        let mut sql = String::new();
        let types = change.append(&mut sql, 2);
        let values = format!("'default'{}", ", NULL".repeat(types.len()));
        let types = format!("text, {}", types.join(", "));
        plans.push((change.name(), plan(&mut connection, &types, &values, &sql).await));
    }
    let loads = || READS.iter().map(|(read, _)| *read).filter(|read| !read.locks());
    let joined = script::union(loads().map(|read| (read.statement().postgres.as_ref(), read.has_blocks())));
    let values = format!("'default'{}", ", '{}'".repeat(loads().count()));
    plans.push(("loads", plan(&mut connection, &types(loads().count()), &values, &joined).await));
    let changes = changes::samples();
    let (joined, types) = script::modify(&changes);
    let values = vec!["NULL"; types.split(", ").count()].join(", ");
    plans.push(("changes", plan(&mut connection, &types, &values, &joined).await));
    let mut wholes = Vec::new();
    for (name, plan) in plans {
        assert!(!plan.contains("Seq Scan"), "{name}:\n{plan}");
        // An index that is read without a condition is the whole table in another order.
        let lines: Vec<&str> = plan.lines().collect();
        for pair in lines.windows(2) {
            let whole =
                pair[0].contains("Index") && pair[0].contains("Scan") && !pair[1].contains("Index Cond");
            if whole {
                wholes.push(format!("{name}: {}", pair[0].trim()));
            }
        }
    }
    assert!(wholes.is_empty(), "{}", wholes.join("\n"));
}

#[tokio::test]
async fn no_statement_of_the_writer_reads_a_whole_tenant_on_sqlite() {
    let world = World::new(Db::sqlite().await).await;
    let Pools::Sqlite { read, .. } = &world.db.storage.pools else { panic!("not SQLite") };
    let reads = READS.map(|(read, _)| (read.statement().name, read.statement().sqlite.as_ref().to_owned()));
    let changes = changes::samples();
    let writes =
        changes.iter().filter_map(|change| Some((change.name(), change.sqlite().ok()?.0.to_owned())));
    for (name, sql) in reads.into_iter().chain(writes) {
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = sqlx::query(explain).bind("[]").bind("default").fetch_all(read).await.unwrap();
        for row in rows {
            let step: String = sqlx::Row::get(&row, "detail");
            assert!(!step.contains("(tenant=?)"), "{name}: {step}");
        }
    }
}
