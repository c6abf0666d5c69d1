//! The floors on SQLite: one connection, because one transaction writes at a time.

use std::{path::Path, time::Duration};

use sqlx::{
    Connection as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
    types::Uuid,
};
use tokio::time::Instant;

use super::{
    Setting,
    facts::{ANSWERED, ASK, DIGEST, Fact, POST, Rows, WORDS},
};
use crate::BenchError;

const TABLES: &str = "
CREATE TABLE heads (id BLOB NOT NULL PRIMARY KEY, last_seq INTEGER NOT NULL, last_at INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
CREATE TABLE threads (id BLOB NOT NULL PRIMARY KEY, channel BLOB NOT NULL, last_seq INTEGER NOT NULL,
    entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entries (id BLOB NOT NULL UNIQUE, channel BLOB NOT NULL, thread BLOB NOT NULL, author BLOB NOT NULL,
    at INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, words TEXT NOT NULL, UNIQUE (channel, seq)) STRICT;
CREATE TABLE questions (id BLOB NOT NULL PRIMARY KEY, entry BLOB NOT NULL, channel BLOB NOT NULL,
    author BLOB NOT NULL, digest BLOB NOT NULL, closed_at INTEGER, closed_by BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE positions (agent BLOB NOT NULL, channel BLOB NOT NULL, acked INTEGER NOT NULL,
    PRIMARY KEY (agent, channel)) STRICT, WITHOUT ROWID";

const ASKED: &str = "BEGIN IMMEDIATE;
UPDATE heads SET last_seq = $5, last_at = $5 WHERE id = $1;
UPDATE threads SET last_seq = $5, entries = entries + 1 WHERE id = $2;
INSERT INTO entries VALUES ($3, $1, $2, $4, $5, $5, $6, $7);
INSERT INTO questions (id, entry, channel, author, digest) VALUES ($8, $3, $1, $4, $9);
COMMIT";

const CLOSED: &str = "BEGIN IMMEDIATE;
UPDATE heads SET last_seq = $5, last_at = $5 WHERE id = $1;
UPDATE threads SET last_seq = $5, entries = entries + 1 WHERE id = $2;
INSERT INTO entries VALUES ($3, $1, $2, $4, $5, $5, $6, $7);
UPDATE questions SET closed_at = $5, closed_by = $4 WHERE id = $8 AND closed_at IS NULL;
UPDATE entries SET body = $6 WHERE id = $9;
COMMIT";

const RECEIVED: &str = "UPDATE positions SET acked = $3 WHERE agent = $1 AND channel = $2";
const HEAD: &str = "UPDATE heads SET last_seq = last_seq + 1, last_at = $2 WHERE id = $1 RETURNING last_seq";
const ENTRY: &str = "INSERT INTO entries VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const THREAD: &str = "UPDATE threads SET last_seq = $2, entries = entries + 1 WHERE id = $1";

/// The one client.
pub(super) struct SqliteFloor {
    connection: SqliteConnection,
    rows: Rows,
}

impl SqliteFloor {
    pub(super) async fn open(dir: &Path) -> Result<Self, BenchError> {
        let options = SqliteConnectOptions::new()
            .filename(dir.join("floor.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let connection = SqliteConnection::connect_with(&options).await;
        let connection = connection.map_err(BenchError::sql("open a floor's file"))?;
        let mut floor = Self { connection, rows: Rows::of_client(0) };
        floor.prepare().await.map_err(BenchError::sql("prepare a floor"))?;
        Ok(floor)
    }

    pub(super) async fn settings(&mut self) -> Result<Vec<Setting>, BenchError> {
        let tell = BenchError::sql("tell a setting");
        let read = async {
            let version =
                sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&mut self.connection).await?;
            let journal = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut self.connection).await?;
            let synchronous: i64 =
                sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut self.connection).await?;
            let synchronous = match synchronous {
                0 => "off".to_owned(),
                1 => "normal".to_owned(),
                2 => "full".to_owned(),
                3 => "extra".to_owned(),
                other => other.to_string(),
            };
            Ok([("sqlite_version", version), ("journal_mode", journal), ("synchronous", synchronous)])
        };
        let settings = read.await.map_err(tell)?;
        Ok(settings.into_iter().map(|(name, value)| Setting { name, value }).collect())
    }

    pub(super) async fn commit(&mut self, fact: Fact) -> Result<Duration, BenchError> {
        let done = match fact {
            Fact::Ask => self.ask().await,
            Fact::Answer => {
                // Only an open ask can be answered, and asking is not what is measured.
                self.ask().await.map_err(BenchError::sql("store an ask"))?;
                self.answer().await
            }
            Fact::Receipt => self.receive().await,
        };
        done.map_err(BenchError::sql("store a fact"))
    }

    pub(super) async fn posts(&mut self, time: Duration) -> Result<f64, BenchError> {
        let start = Instant::now();
        let mut posts: u32 = 0;
        while start.elapsed() < time {
            self.post().await.map_err(BenchError::sql("store a post"))?;
            posts += 1;
        }
        Ok(f64::from(posts) / start.elapsed().as_secs_f64())
    }

    async fn prepare(&mut self) -> Result<(), sqlx::Error> {
        let Rows { channel, topic, agent, .. } = self.rows;
        let connection = &mut self.connection;
        sqlx::raw_sql(TABLES).execute(&mut *connection).await?;
        sqlx::query("INSERT INTO heads VALUES ($1, 0, 0)").bind(channel).execute(&mut *connection).await?;
        let thread = sqlx::query("INSERT INTO threads VALUES ($1, $2, 0, 0)").bind(topic).bind(channel);
        thread.execute(&mut *connection).await?;
        let position = sqlx::query("INSERT INTO positions VALUES ($1, $2, 0)").bind(agent).bind(channel);
        position.execute(connection).await?;
        self.ask().await?;
        self.answer().await?;
        self.receive().await?;
        self.post().await
    }

    async fn ask(&mut self) -> Result<Duration, sqlx::Error> {
        let (entry, ask) = (self.rows.id(), self.rows.id());
        self.rows.ask = (ask, entry);
        self.rows.seq += 1;
        let query =
            entry_query(ASKED, &self.rows, entry, self.rows.agent, ASK).bind(ask).bind(DIGEST.as_slice());
        let start = Instant::now();
        query.execute(&mut self.connection).await?;
        Ok(start.elapsed())
    }

    async fn answer(&mut self) -> Result<Duration, sqlx::Error> {
        let (entry, (ask, asked)) = (self.rows.id(), self.rows.ask);
        self.rows.seq += 1;
        let query = entry_query(CLOSED, &self.rows, entry, self.rows.person, ANSWERED).bind(ask).bind(asked);
        let start = Instant::now();
        query.execute(&mut self.connection).await?;
        Ok(start.elapsed())
    }

    async fn receive(&mut self) -> Result<Duration, sqlx::Error> {
        // SQLite does not write a row that stays as it was.
        self.rows.seq += 1;
        let Rows { agent, channel, seq, .. } = self.rows;
        let start = Instant::now();
        sqlx::query(RECEIVED).bind(agent).bind(channel).bind(seq).execute(&mut self.connection).await?;
        Ok(start.elapsed())
    }

    async fn post(&mut self) -> Result<(), sqlx::Error> {
        let entry = self.rows.id();
        let Rows { channel, topic, agent, person, .. } = self.rows;
        let connection = &mut self.connection;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        let seq: i64 = sqlx::query_scalar(HEAD).bind(channel).bind(0_i64).fetch_one(&mut *connection).await?;
        let insert =
            sqlx::query(ENTRY).bind(entry).bind(channel).bind(topic).bind(person).bind(0_i64).bind(seq);
        insert.bind(POST).bind(WORDS).execute(&mut *connection).await?;
        sqlx::query(THREAD).bind(topic).bind(seq).execute(&mut *connection).await?;
        sqlx::query(RECEIVED).bind(agent).bind(channel).bind(seq).execute(&mut *connection).await?;
        sqlx::query("COMMIT").execute(connection).await?;
        self.rows.seq = seq;
        Ok(())
    }
}

fn entry_query<'q>(
    sql: &'static str,
    rows: &Rows,
    entry: Uuid,
    author: Uuid,
    body: &'static str,
) -> sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments> {
    let query = sqlx::query(sql).bind(rows.channel).bind(rows.topic).bind(entry).bind(author);
    query.bind(rows.seq).bind(body).bind(WORDS)
}

#[cfg(test)]
mod tests {
    use sqlx::Row as _;

    use super::*;

    #[tokio::test]
    async fn a_fact_is_stored_whole_and_durably() {
        let dir = tempfile::tempdir().unwrap();
        let mut floor = SqliteFloor::open(dir.path()).await.unwrap();
        floor.commit(Fact::Answer).await.unwrap();
        floor.commit(Fact::Receipt).await.unwrap();
        let counts =
            "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM questions WHERE closed_at > 0),
            (SELECT last_seq FROM heads), (SELECT acked FROM positions), (SELECT sum(json_valid(body)) FROM entries)";
        let row = sqlx::query(counts).fetch_one(&mut floor.connection).await.unwrap();
        let found: Vec<i64> = (0..5).map(|column| row.get(column)).collect();
        // Preparing stored an ask, its answer and a post before.
        assert_eq!(found, [5, 2, 5, 6, 5]);
        let settings = floor.settings().await.unwrap();
        let of = |name: &str| settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
        assert_eq!((of("journal_mode"), of("synchronous")), ("wal".to_owned(), "full".to_owned()));
    }
}
