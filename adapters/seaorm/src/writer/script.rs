//! Joins statements into one. Each is written with two parameters, a JSON text and the tenant; in the joined one the
//! tenant is the first parameter and the texts follow in the order of their statements.

use std::fmt::Write as _;

use super::table::Change;

/// Appends the statement that stands at `index`, with its parameters where the joined one has them.
pub(super) fn append(script: &mut String, sql: &str, marker: char, index: usize) {
    let mut parts = sql.split(marker);
    script.push_str(parts.next().unwrap_or_default());
    for part in parts {
        // On SQLite a number after a question mark counts the ones below it too, which then want values.
        script.push('$');
        if let Some(rest) = part.strip_prefix('1') {
            // Writing to a string cannot fail.
            let _ = write!(script, "{}", index + 2);
            script.push_str(rest);
        } else if let Some(rest) = part.strip_prefix('2') {
            script.push('1');
            script.push_str(rest);
        } else {
            script.push_str(part);
        }
    }
}

/// Statements one after the other.
pub(super) fn sequence<'a>(statements: impl Iterator<Item = &'a str>) -> String {
    let mut script = String::new();
    for (index, sql) in statements.enumerate() {
        append(&mut script, sql, '?', index);
        script.push(';');
    }
    script
}

/// Reads as one, all of one snapshot: their columns, their blocks if they read some, and which read a row is of.
pub(super) fn union<'a>(reads: impl Iterator<Item = (&'a str, bool)>) -> String {
    let mut script = String::new();
    for (index, (sql, has_blocks)) in reads.enumerate() {
        if index > 0 {
            script.push_str("\nUNION ALL\n");
        }
        let (names, blocks) =
            if has_blocks { ("found, blocks", "r.blocks") } else { ("found", "NULL::text") };
        let _ = write!(script, "SELECT r.found, {blocks}, {index}::int4 FROM (");
        append(&mut script, sql, '$', index);
        let _ = write!(script, ") AS r({names})");
    }
    script
}

/// Changes as one, all of one snapshot and made in their order, and the types of its parameters. Where rows are
/// counted, the change must make as many as the array in the last parameter says at its place among the counted ones;
/// otherwise the statement divides by zero.
pub(super) fn modify(changes: &[Change]) -> (String, String) {
    let mut script = String::from("WITH ");
    let mut types = vec!["text"];
    let mut counted = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            script.push_str(", ");
        }
        let _ = write!(script, "w{index} AS (");
        let own = change.append(&mut script, types.len() + 1);
        types.extend(own);
        script.push_str("\nRETURNING 1)");
        if change.rows.is_some() {
            counted.push(index);
        }
    }
    types.push("bigint[]");
    let expected = types.len();
    script.push_str("\nSELECT 1 / (CASE WHEN true");
    for (place, index) in counted.iter().enumerate() {
        let _ = write!(script, " AND (SELECT count(*) FROM w{index}) = (${expected})[{}]", place + 1);
    }
    script.push_str(" THEN 1 ELSE 0 END)");
    (script, types.join(", "))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::writer::table::{Shape, Table};

    #[test]
    fn joined_statements_share_the_tenant_and_have_a_text_each() {
        let statements = ["UPDATE a SET b = ?1 WHERE tenant = ?2", "SELECT ?2, ?1, ?1"];
        let expected = "UPDATE a SET b = $2 WHERE tenant = $1;SELECT $1, $3, $3;";
        assert_eq!(sequence(statements.into_iter()), expected);
    }

    #[test]
    fn a_row_of_joined_reads_says_whose_it_is() {
        let reads = [("SELECT $1->'a'", false), ("SELECT $1, $2", true)];
        let expected = "SELECT r.found, NULL::text, 0::int4 FROM (SELECT $2->'a') AS r(found)\nUNION ALL\n\
                        SELECT r.found, r.blocks, 1::int4 FROM (SELECT $3, $1) AS r(found, blocks)";
        assert_eq!(union(reads.into_iter()), expected);
    }

    static GO: Table = Table {
        name: "go",
        columns: &[("id", "uuid")],
        postgres: Cow::Borrowed("DELETE FROM a USING {rows} WHERE a.id = i.id AND a.tenant = $2"),
        many: "",
        known: None,
        sqlite: "",
    };

    #[test]
    fn joined_changes_are_counted_where_a_count_is_told() {
        let (one, two) = ([json!({"id": "a"})], [json!({"id": "b"}), json!({"id": "c"})]);
        let changes = [
            Change::new(&GO, &one, None, Shape::Known).unwrap(),
            Change::new(&GO, &two, Some(2), Shape::Known).unwrap(),
        ];
        let (script, types) = modify(&changes);
        let expected = "WITH w0 AS (DELETE FROM a USING (VALUES ($2::uuid)) AS i(\"id\") WHERE a.id = i.id AND a.tenant = $1\n\
                        RETURNING 1), w1 AS (DELETE FROM a USING jsonb_to_recordset($3) AS i(\"id\" uuid) WHERE a.id = i.id \
                        AND a.tenant = $1\nRETURNING 1)\n\
                        SELECT 1 / (CASE WHEN true AND (SELECT count(*) FROM w1) = ($4)[1] THEN 1 ELSE 0 END)";
        assert_eq!((script.as_str(), types.as_str()), (expected, "text, uuid, jsonb, bigint[]"));
    }
}
