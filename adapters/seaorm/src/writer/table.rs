//! Statements that write rows, and how they take them: many as one JSON text, or one as a value for each column.

use std::{borrow::Cow, fmt::Write as _};

use compass_ports::StorageError;
use serde::Serialize;
use serde_json::Value;

use super::needs::to_text;

/// Names of columns with their types on Postgres.
pub(crate) type Columns = &'static [(&'static str, &'static str)];

/// A statement that writes rows of one table, in both dialects.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// What a row has.
    pub(crate) columns: Columns,
    /// With `{rows}` where the rows stand, which are then called `i`. The tenant is `$2`.
    pub(crate) postgres: Cow<'static, str>,
    /// Added on Postgres where there may be many rows, so that they are looked up by index.
    pub(crate) many: &'static str,
    /// Added on Postgres where a job was decided from what was known.
    pub(crate) known: Option<Known>,
    /// With the rows as `?1` and the tenant as `?2`.
    pub(crate) sqlite: &'static str,
}

/// What makes sure that a row is still as it was known.
#[derive(Debug)]
pub(crate) struct Known {
    /// What a row has besides.
    pub(crate) columns: Columns,
    /// A condition on them.
    pub(crate) condition: Cow<'static, str>,
}

/// How a change is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Under locks, for many jobs.
    Many,
    /// For one job that was decided from what was known.
    Known,
}

#[derive(Debug)]
enum Payload {
    Many(String),
    One(Vec<Option<String>>),
}

/// A statement with its rows.
#[derive(Debug)]
pub(crate) struct Change {
    table: &'static Table,
    payload: Payload,
    /// Rows it must change.
    pub(super) rows: Option<u64>,
}

impl Change {
    /// A statement with its rows, and how many it must change if that is told.
    ///
    /// # Errors
    ///
    /// [`StorageError::Internal`] if a row cannot be written as JSON.
    pub(crate) fn new<R: Serialize>(
        table: &'static Table,
        rows: &[R],
        expected: Option<usize>,
        shape: Shape,
    ) -> Result<Self, StorageError> {
        let payload = match rows {
            [row] if shape == Shape::Known => {
                let known = table.known.iter().flat_map(|known| known.columns);
                Payload::One(cells(row, table.columns.iter().chain(known))?)
            }
            rows => Payload::Many(to_text(&rows)?),
        };
        Ok(Self { table, payload, rows: expected.map(|expected| expected as u64) })
    }

    pub(super) fn name(&self) -> &'static str {
        self.table.name
    }

    /// What tells its statement on Postgres from others.
    pub(super) fn key(&self) -> (&'static str, bool, bool) {
        (self.table.name, matches!(self.payload, Payload::One(_)), self.rows.is_some())
    }

    /// Its statement on SQLite, and the text with its rows.
    ///
    /// # Errors
    ///
    /// [`StorageError::Internal`] if it was made for Postgres.
    pub(super) fn sqlite(&self) -> Result<(&'static str, &str), StorageError> {
        match &self.payload {
            Payload::Many(text) => Ok((self.table.sqlite, text)),
            Payload::One(_) => Err(StorageError::Internal("a change for Postgres reached SQLite".into())),
        }
    }

    /// The values of its parameters on Postgres.
    pub(super) fn values(&self) -> Vec<Option<&str>> {
        match &self.payload {
            Payload::Many(text) => vec![Some(text)],
            Payload::One(cells) => cells.iter().map(Option::as_deref).collect(),
        }
    }

    /// Appends its statement on Postgres, whose parameters are those from `first` on and the tenant as the first of
    /// all; returns their types.
    pub(super) fn append(&self, script: &mut String, first: usize) -> Vec<&'static str> {
        let table = self.table;
        let (rows, types) = match &self.payload {
            Payload::Many(_) => (recordset(table.columns, first), vec!["jsonb"]),
            Payload::One(_) => {
                let known = table.known.iter().flat_map(|known| known.columns);
                let columns: Vec<_> = table.columns.iter().chain(known).collect();
                (values(&columns, first), columns.iter().map(|(_, kind)| *kind).collect())
            }
        };
        script.push_str(&table.postgres.replace("$2", "$1").replace("{rows}", &rows));
        match &self.payload {
            Payload::Many(_) => script.push_str(&table.many.replace("$1", &format!("${first}"))),
            Payload::One(_) => script.extend(table.known.iter().map(|known| known.condition.as_ref())),
        }
        types
    }
}

/// A text's rows.
fn recordset(columns: Columns, parameter: usize) -> String {
    let columns: Vec<String> = columns.iter().map(|(name, kind)| format!("\"{name}\" {kind}")).collect();
    format!("jsonb_to_recordset(${parameter}) AS i({})", columns.join(", "))
}

/// One row of parameters.
fn values(columns: &[&(&'static str, &'static str)], first: usize) -> String {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let mut row = String::new();
    for (place, (_, kind)) in columns.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(row, "{comma}${}::{kind}", first + place);
    }
    format!("(VALUES ({row})) AS i({})", names.join(", "))
}

/// A row's values, in the order of the columns.
fn cells<'a>(
    row: &impl Serialize,
    columns: impl Iterator<Item = &'a (&'static str, &'static str)>,
) -> Result<Vec<Option<String>>, StorageError> {
    let row = serde_json::to_value(row)
        .map_err(|error| StorageError::Internal(format!("a row to write: {error}")))?;
    let cell = |(name, _): &(&'static str, &'static str)| match row.get(name) {
        None => Err(StorageError::Internal(format!("a row to write has no {name}"))),
        Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Ok(Some(other.to_string())),
    };
    columns.map(cell).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    static TABLE: Table = Table {
        name: "move",
        columns: &[("id", "uuid"), ("seq", "bigint")],
        postgres: Cow::Borrowed("UPDATE t SET seq = i.seq, tenant = $2 FROM {rows} WHERE t.id = i.id"),
        many: " AND t.id = ANY(ARRAY(SELECT r.id FROM jsonb_to_recordset($1) AS r(id uuid)))",
        known: Some(Known { columns: &[("was", "bigint")], condition: Cow::Borrowed(" AND t.seq = i.was") }),
        sqlite: "",
    };

    fn statement(change: &Change) -> (String, Vec<&'static str>) {
        let mut script = String::new();
        let types = change.append(&mut script, 4);
        (script, types)
    }

    #[test]
    fn many_rows_are_one_text() {
        let rows = [json!({"id": "a", "seq": 2}), json!({"id": "b", "seq": 3})];
        let change = Change::new(&TABLE, &rows, Some(2), Shape::Known).unwrap();
        let expected = "UPDATE t SET seq = i.seq, tenant = $1 FROM jsonb_to_recordset($4) AS i(\"id\" uuid, \
                        \"seq\" bigint) WHERE t.id = i.id AND t.id = ANY(ARRAY(SELECT r.id FROM \
                        jsonb_to_recordset($4) AS r(id uuid)))";
        assert_eq!(statement(&change), (expected.to_owned(), vec!["jsonb"]));
        assert_eq!(change.values(), [Some(r#"[{"id":"a","seq":2},{"id":"b","seq":3}]"#)]);
    }

    #[test]
    fn one_known_row_is_a_value_for_each_column_and_checks_what_was_known() {
        let rows = [json!({"id": "it's", "seq": null, "was": 7})];
        let change = Change::new(&TABLE, &rows, Some(1), Shape::Known).unwrap();
        let expected = "UPDATE t SET seq = i.seq, tenant = $1 FROM (VALUES ($4::uuid, $5::bigint, $6::bigint)) \
                        AS i(\"id\", \"seq\", \"was\") WHERE t.id = i.id AND t.seq = i.was";
        assert_eq!(statement(&change), (expected.to_owned(), vec!["uuid", "bigint", "bigint"]));
        assert_eq!(change.values(), [Some("it's"), None, Some("7")]);
        assert!(change.sqlite().is_err());
    }

    #[test]
    fn a_known_row_without_what_was_known_is_a_fault() {
        let rows = [json!({"id": "a", "seq": 2})];
        assert!(Change::new(&TABLE, &rows, Some(1), Shape::Known).is_err());
        assert!(Change::new(&TABLE, &rows, Some(1), Shape::Many).is_ok());
    }
}
