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
    use super::*;

    #[test]
    fn a_query_is_written_in_the_language_of_each_database() {
        let query = SearchQuery::parse("deploy example.com -\"dry run\" -x or \"NOT Today\"").unwrap();
        assert_eq!(websearch(&query), r#""deploy" "example.com" -"dry run" -"x" or "not today""#);
        assert_eq!(fts5(&query), r#"(("deploy" AND "example com") NOT ("dry run" OR "x")) OR ("today")"#);
    }
}
