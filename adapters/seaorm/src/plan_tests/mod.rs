//! Every statement outside of the writer, run over its port on a filled database, finds its rows through an index.

mod calls;
mod rows;

use std::cell::RefCell;

use sqlx::{AssertSqlSafe, Row as _};

use self::rows::{Ids, fill};
use crate::{
    SeaStorage,
    checks::TENANT_TABLES,
    open_tests::owner,
    testing::Db,
    transaction::{PLANS, Plan},
};

/// The plan of every statement that the calls come to.
async fn everything(storage: &SeaStorage, ids: Ids) -> Vec<Plan> {
    let plans = PLANS.scope(RefCell::default(), async {
        calls::everything(storage, ids).await;
        PLANS.with(RefCell::take)
    });
    let plans = plans.await;
    assert!(plans.len() >= 110, "{} statements", plans.len());
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

/// The statement that may walk the index of answers where these are few, as in the filled database.
const OWES_ANSWERS: &str = "INSERT INTO owed (agent, message, tenant, channel)\n        SELECT reached.agent";

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
        if is_whole && !(plan.sql.starts_with(OWES_ANSWERS) && line.contains("using messages_answers on ")) {
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
