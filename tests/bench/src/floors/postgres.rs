//! The floors on Postgres.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection, types::Uuid};
use tokio::{task::JoinSet, time::Instant};

use super::{
    Setting,
    facts::{ANSWERED, ASK, DIGEST, Fact, POST, Rows, WORDS},
};
use crate::BenchError;

const TABLES: &str = "
CREATE SCHEMA floor;
CREATE TABLE floor.heads (id uuid PRIMARY KEY, last_seq bigint NOT NULL, last_at bigint NOT NULL)
    WITH (fillfactor = 60);
CREATE TABLE floor.threads (id uuid PRIMARY KEY, channel uuid NOT NULL, last_seq bigint NOT NULL,
    entries bigint NOT NULL) WITH (fillfactor = 60);
CREATE TABLE floor.entries (id uuid PRIMARY KEY, channel uuid NOT NULL, thread uuid NOT NULL, author uuid NOT NULL,
    at bigint NOT NULL, seq bigint NOT NULL, body jsonb NOT NULL, words text NOT NULL, UNIQUE (channel, seq));
CREATE TABLE floor.questions (id uuid PRIMARY KEY, entry uuid NOT NULL, channel uuid NOT NULL, author uuid NOT NULL,
    digest bytea NOT NULL, closed_at bigint, closed_by uuid);
CREATE TABLE floor.positions (agent uuid, channel uuid, acked bigint NOT NULL, PRIMARY KEY (agent, channel))
    WITH (fillfactor = 60)";

const ASKED: &str = "
WITH head AS (
    UPDATE floor.heads SET last_seq = last_seq + 1, last_at = $5 WHERE id = $1 RETURNING last_seq
), thread AS (
    UPDATE floor.threads t SET last_seq = h.last_seq, entries = entries + 1 FROM head h WHERE t.id = $2
), entry AS (
    INSERT INTO floor.entries SELECT $3, $1, $2, $4, $5, last_seq, $6::text::jsonb, $7 FROM head
)
INSERT INTO floor.questions (id, entry, channel, author, digest) VALUES ($8, $3, $1, $4, $9)";

const CLOSED: &str = "
WITH head AS (
    UPDATE floor.heads SET last_seq = last_seq + 1, last_at = $5 WHERE id = $1 RETURNING last_seq
), thread AS (
    UPDATE floor.threads t SET last_seq = h.last_seq, entries = entries + 1 FROM head h WHERE t.id = $2
), entry AS (
    INSERT INTO floor.entries SELECT $3, $1, $2, $4, $5, last_seq, $6::text::jsonb, $7 FROM head
), question AS (
    UPDATE floor.questions SET closed_at = $5, closed_by = $4 WHERE id = $8 AND closed_at IS NULL
)
UPDATE floor.entries SET body = $6::text::jsonb WHERE id = $9";

const RECEIVED: &str = "UPDATE floor.positions SET acked = $3 WHERE agent = $1 AND channel = $2";
const HEAD: &str =
    "UPDATE floor.heads SET last_seq = last_seq + 1, last_at = $2 WHERE id = $1 RETURNING last_seq";
const ENTRY: &str = "INSERT INTO floor.entries VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8)";
const THREAD: &str = "UPDATE floor.threads SET last_seq = $2, entries = entries + 1 WHERE id = $1";

/// Clients with a connection each.
pub(super) struct PostgresFloor {
    clients: Vec<Client>,
}

struct Client {
    connection: PgConnection,
    rows: Rows,
}

impl PostgresFloor {
    pub(super) async fn open(url: &str, clients: usize) -> Result<Self, BenchError> {
        let mut floor = Self { clients: Vec::with_capacity(clients) };
        for number in 0..clients.max(1) {
            let connection = PgConnection::connect(url).await.map_err(BenchError::sql("be reached"))?;
            let mut client = Client { connection, rows: Rows::of_client(number) };
            if number == 0 {
                client.script(TABLES).await?;
            }
            client.prepare().await.map_err(BenchError::sql("prepare a floor"))?;
            floor.clients.push(client);
        }
        Ok(floor)
    }

    fn first(&mut self) -> Result<&mut Client, BenchError> {
        self.clients.first_mut().ok_or(BenchError::Broken("a floor has no client"))
    }

    pub(super) async fn settings(&mut self) -> Result<Vec<Setting>, BenchError> {
        let mut settings = Vec::new();
        for (name, sql) in [
            ("server_version", "SHOW server_version"),
            ("synchronous_commit", "SHOW synchronous_commit"),
            ("fsync", "SHOW fsync"),
            ("full_page_writes", "SHOW full_page_writes"),
        ] {
            let value = sqlx::query_scalar(sql).fetch_one(&mut self.first()?.connection).await;
            settings.push(Setting { name, value: value.map_err(BenchError::sql("tell a setting"))? });
        }
        Ok(settings)
    }

    pub(super) async fn commit(&mut self, fact: Fact) -> Result<Duration, BenchError> {
        let client = self.first()?;
        let done = match fact {
            Fact::Ask => client.ask().await,
            Fact::Answer => {
                // Only an open ask can be answered, and asking is not what is measured.
                client.ask().await.map_err(BenchError::sql("store an ask"))?;
                client.answer().await
            }
            Fact::Receipt => client.receive().await,
        };
        done.map_err(BenchError::sql("store a fact"))
    }

    pub(super) async fn posts(&mut self, clients: usize, time: Duration) -> Result<f64, BenchError> {
        let start = Instant::now();
        let mut workers = JoinSet::new();
        for client in self.clients.drain(..clients.clamp(1, self.clients.len())) {
            workers.spawn(client.post_until(start + time));
        }
        let mut posts: u32 = 0;
        while let Some(done) = workers.join_next().await {
            let (client, own) = done.map_err(|_| BenchError::Broken("a task of a floor failed"))??;
            posts += own;
            self.clients.push(client);
        }
        Ok(f64::from(posts) / start.elapsed().as_secs_f64())
    }
}

impl Client {
    async fn script(&mut self, script: &'static str) -> Result<(), BenchError> {
        let done = sqlx::raw_sql(script).execute(&mut self.connection).await;
        done.map(drop).map_err(BenchError::sql("run a floor's script"))
    }

    /// Makes the client's rows, and runs everything once, so that no first use is measured.
    async fn prepare(&mut self) -> Result<(), sqlx::Error> {
        let Rows { channel, topic, agent, .. } = self.rows;
        let connection = &mut self.connection;
        sqlx::query("INSERT INTO floor.heads VALUES ($1, 0, 0)")
            .bind(channel)
            .execute(&mut *connection)
            .await?;
        let thread = sqlx::query("INSERT INTO floor.threads VALUES ($1, $2, 0, 0)").bind(topic).bind(channel);
        thread.execute(&mut *connection).await?;
        let position =
            sqlx::query("INSERT INTO floor.positions VALUES ($1, $2, 0)").bind(agent).bind(channel);
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
        sqlx::raw_sql("BEGIN").execute(&mut *connection).await?;
        let seq: i64 = sqlx::query_scalar(HEAD).bind(channel).bind(0_i64).fetch_one(&mut *connection).await?;
        let insert =
            sqlx::query(ENTRY).bind(entry).bind(channel).bind(topic).bind(person).bind(0_i64).bind(seq);
        insert.bind(POST).bind(WORDS).execute(&mut *connection).await?;
        sqlx::query(THREAD).bind(topic).bind(seq).execute(&mut *connection).await?;
        sqlx::query(RECEIVED).bind(agent).bind(channel).bind(seq).execute(&mut *connection).await?;
        sqlx::raw_sql("COMMIT").execute(connection).await?;
        self.rows.seq = seq;
        Ok(())
    }

    async fn post_until(mut self, until: Instant) -> Result<(Self, u32), BenchError> {
        let mut posts = 0;
        while Instant::now() < until {
            self.post().await.map_err(BenchError::sql("store a post"))?;
            posts += 1;
        }
        Ok((self, posts))
    }
}

fn entry_query<'q>(
    sql: &'static str,
    rows: &Rows,
    entry: Uuid,
    author: Uuid,
    body: &'static str,
) -> sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments> {
    let query = sqlx::query(sql).bind(rows.channel).bind(rows.topic).bind(entry).bind(author);
    query.bind(rows.seq).bind(body).bind(WORDS)
}
