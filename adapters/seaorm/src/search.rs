//! Search over the word indexes of both databases.

use std::sync::Arc;

use compass_comms::ports::SearchPage;
use compass_domain::{
    Message, SearchQuery, TenantId,
    search::{Alternative, Phrase},
};
use compass_ports::StorageError;

use crate::{
    dialect::Dialect,
    ids::{id, optional_id, tenant},
    messages::{page_of, position, read},
    participation,
    transaction::Tx,
};

/// The messages that a search finds where the viewer takes part, the best first.
pub(crate) async fn search(
    tx: &mut Tx,
    of: &TenantId,
    page: &SearchPage,
) -> Result<Vec<Arc<Message>>, StorageError> {
    let dialect = tx.dialect();
    let query = match dialect {
        Dialect::Postgres => websearch(&page.query),
        Dialect::Sqlite => fts5(&page.query),
    };
    // The channels are gathered first: they are few, and the index of words knows no channels.
    let terms = format!(
        "{}, scope (channel) AS (SELECT mine.channel FROM mine WHERE $4 IS NULL OR mine.channel = $4),",
        participation::channels_of("mine", "$2")
    );
    let terms = match dialect {
        Dialect::Postgres => terms.replace("$4", "$4::uuid"),
        Dialect::Sqlite => terms,
    };
    // A page is cut from the highest place down, so the best has the highest.
    let best = match dialect {
        Dialect::Postgres => {
            "SELECT found.id, -found.place AS place, found.blocks_bytes
            FROM compass_search($6, ARRAY(SELECT scope.channel FROM scope), $5::bigint, $3) found
            WHERE $1 <> ''"
        }
        Dialect::Sqlite => {
            "SELECT found.id, -row_number() OVER (ORDER BY found.score, found.position DESC) AS place,
                found.blocks_bytes
            FROM (
                SELECT m.id, m.position, m.blocks_bytes, bm25(messages_search) AS score
                FROM messages_search CROSS JOIN messages m ON m.position = messages_search.rowid
                WHERE messages_search MATCH $6 AND +m.tenant = $1 AND ($5 IS NULL OR m.position <= $5)
                    AND m.channel IN (SELECT scope.channel FROM scope)
                ORDER BY score, m.position DESC LIMIT $3
            ) found"
        }
    };
    let sql = page_of(dialect, &terms, best);
    let snapshot = page.snapshot.map_or(sea_orm::Value::BigInt(None), position);
    let values = vec![
        tenant(of),
        id(page.viewer),
        i64::from(page.limit).into(),
        optional_id(page.channel),
        snapshot,
        query.into(),
    ];
    let rows = tx.all(&sql, values).await?;
    rows.iter().map(read).collect()
}

/// The query as `websearch_to_tsquery` reads it; every phrase in quotes, so that no word is an operator.
fn websearch(query: &SearchQuery) -> String {
    let quoted = |phrase: &Phrase| format!("\"{}\"", phrase.text());
    let terms = |alternative: &Alternative| {
        let wanted = alternative.wanted().iter().map(quoted);
        let unwanted = alternative.unwanted().iter().map(|phrase| format!("-{}", quoted(phrase)));
        wanted.chain(unwanted).collect::<Vec<_>>().join(" ")
    };
    query.alternatives().iter().map(terms).collect::<Vec<_>>().join(" or ")
}

/// The query in the language of FTS5.
fn fts5(query: &SearchQuery) -> String {
    let quoted = |phrase: &Phrase| format!("\"{}\"", phrase.words().join(" "));
    let joined = |phrases: &[Phrase], by: &str| phrases.iter().map(quoted).collect::<Vec<_>>().join(by);
    let terms = |alternative: &Alternative| {
        let wanted = joined(alternative.wanted(), " AND ");
        if alternative.unwanted().is_empty() {
            format!("({wanted})")
        } else {
            format!("(({wanted}) NOT ({}))", joined(alternative.unwanted(), " OR "))
        }
    };
    query.alternatives().iter().map(terms).collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

    use super::*;
    use crate::{rows::Columns as _, testing::Db, transaction::Access};

    /// One account, channel, topic and message that says `anchor`.
    const ROWS: &str = "
        INSERT INTO accounts (id, tenant, handle, display_name, kind) VALUES (md5('u')::uuid, 'default', 'u', '', 0);
        INSERT INTO channels (id, tenant, name, name_key, kind, membership_mode, post_policy, mandatory)
        VALUES (md5('c')::uuid, 'default', 'c', 'c', 0, 0, 0, false);
        INSERT INTO topics (id, tenant, channel, name, name_key, created_at_ms, created_by, last_activity_ms)
        VALUES (md5('p')::uuid, 'default', md5('c')::uuid, 'p', 'p', 0, md5('u')::uuid, 0);
        INSERT INTO messages (id, tenant, channel, topic, author, at_ms, seq, blocks, search_text)
        VALUES (md5('m')::uuid, 'default', md5('c')::uuid, md5('p')::uuid, md5('u')::uuid, 0, 1, '[]', 'anchor')";

    #[tokio::test]
    async fn the_search_function_knows_the_tenant_of_its_caller() {
        let Some(db) = Db::postgres().await else { return };
        let mut owner = PgConnection::connect(&db.url).await.unwrap();
        sqlx::raw_sql(ROWS).execute(&mut owner).await.unwrap();
        let sql = "SELECT count(*) AS found
                   FROM compass_search('\"anchor\"', ARRAY[md5('c')::uuid], NULL, 10) AS hits";
        for (name, expected) in [("default", 1), ("other", 0)] {
            let mut tx = db.storage.pools.tenant(&TenantId::new(name), Access::Snapshot).await.unwrap();
            let row = tx.one(sql, vec![]).await.unwrap().unwrap();
            assert_eq!(row.count("found").unwrap(), expected, "{name}");
        }
        let mut tx = db.storage.pools.system(Access::Snapshot).await.unwrap();
        assert_eq!(tx.one(sql, vec![]).await.unwrap().unwrap().count("found").unwrap(), 0, "no tenant");
    }

    #[tokio::test]
    async fn a_text_of_more_words_than_a_vector_holds_is_found_by_its_beginning() {
        let Some(db) = Db::postgres().await else { return };
        let mut owner = PgConnection::connect(&db.url).await.unwrap();
        let words =
            "(SELECT 'anchor ' || string_agg('a' || n || '-b' || n, ' ') FROM generate_series(1, 60000) n)";
        let whole = AssertSqlSafe(format!("SELECT to_tsvector('english', {words})"));
        assert!(sqlx::query(whole).execute(&mut owner).await.is_err(), "it is too much");
        let found = "@@ websearch_to_tsquery('english', 'anchor \"a9 b9\"')";
        let fitted = AssertSqlSafe(format!("SELECT compass_search_vector({words}) {found}"));
        assert!(sqlx::query(fitted).fetch_one(&mut owner).await.unwrap().get::<bool, _>(0));
    }

    #[test]
    fn a_query_is_written_in_the_language_of_each_database() {
        let query = SearchQuery::parse("deploy example.com -\"dry run\" -x or \"NOT Today\"").unwrap();
        assert_eq!(websearch(&query), r#""deploy" "example.com" -"dry run" -"x" or "not today""#);
        assert_eq!(fts5(&query), r#"(("deploy" AND "example com") NOT ("dry run" OR "x")) OR ("today")"#);
    }
}
