//! The statements that lock and load, in both dialects.
//!
//! Each takes two parameters, a JSON text and the tenant, and returns its columns as one JSON object; `blocks`
//! stands beside it where messages are loaded. Row security adds the tenant's condition on Postgres.

use std::{borrow::Cow, sync::LazyLock};

use crate::{
    hub::recipients,
    message_json::{postgres_message, sqlite_message},
    participation::takes_part,
};

/// Which rows a statement locks or loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    LockChannels,
    LockMessages,
    LockTopics,
    LockUnrouted,
    LockOwed,
    LockCursors,
    Participants,
    Posted,
    Asks,
    Places,
    OwnSeqs,
    Routed,
    Audience,
}

/// One statement in both dialects.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) name: &'static str,
    pub(super) postgres: Cow<'static, str>,
    pub(super) sqlite: Cow<'static, str>,
}

impl Read {
    /// True if the rows it returns are locked.
    pub(super) fn locks(self) -> bool {
        match self {
            Self::LockChannels
            | Self::LockMessages
            | Self::LockTopics
            | Self::LockUnrouted
            | Self::LockOwed
            | Self::LockCursors => true,
            Self::Participants
            | Self::Posted
            | Self::Asks
            | Self::Places
            | Self::OwnSeqs
            | Self::Routed
            | Self::Audience => false,
        }
    }

    /// True if it returns blocks beside its columns.
    pub(super) fn has_blocks(self) -> bool {
        matches!(self, Self::Posted | Self::Asks | Self::Routed)
    }

    /// The statement.
    pub(super) fn statement(self) -> &'static Statement {
        match self {
            Self::LockChannels => &LOCK_CHANNELS,
            Self::LockMessages => &LOCK_MESSAGES,
            Self::LockTopics => &LOCK_TOPICS,
            Self::LockUnrouted => &LOCK_UNROUTED,
            Self::LockOwed => &LOCK_OWED,
            Self::LockCursors => &LOCK_CURSORS,
            Self::Participants => &PARTICIPANTS,
            Self::Posted => &POSTED,
            Self::Asks => &ASKS,
            Self::Places => &PLACES,
            Self::OwnSeqs => &OWN_SEQS,
            Self::Routed => &ROUTED,
            Self::Audience => &AUDIENCE,
        }
    }
}

static LOCK_CHANNELS: Statement = Statement {
    name: "lock_channels",
    postgres: Cow::Borrowed("
SELECT json_build_object('id', c.id, 'seq', c.last_seq, 'at', c.last_at_ms, 'owner', c.owner)::text
FROM channels c
WHERE c.id = ANY(ARRAY(
    SELECT value::uuid FROM jsonb_array_elements_text($1->'channels')
    UNION
    SELECT a.channel FROM asks a
    WHERE a.ask_id = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1->'asks')))))
ORDER BY c.id
FOR NO KEY UPDATE"),
    sqlite: Cow::Borrowed("
SELECT json_object('id', lower(hex(c.id)), 'seq', c.last_seq, 'at', c.last_at_ms, 'owner', CASE WHEN c.owner IS NOT NULL THEN lower(hex(c.owner)) END)
FROM channels c
WHERE +c.tenant = ?2 AND c.id IN (
    SELECT unhex(value) FROM json_each(?1, '$.channels')
    UNION
    SELECT a.channel FROM asks a WHERE a.ask_id IN (SELECT unhex(value) FROM json_each(?1, '$.asks')))"),
};

static LOCK_MESSAGES: Statement = Statement {
    name: "lock_messages",
    postgres: Cow::Borrowed(
        "
SELECT '{}' FROM messages m
WHERE m.id = ANY(ARRAY(
    SELECT a.message FROM asks a
    WHERE a.ask_id = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1)))))
ORDER BY m.id
FOR UPDATE",
    ),
    // A SQLite transaction that writes is alone from its begin.
    sqlite: Cow::Borrowed("SELECT '{}' WHERE ?1 IS NULL AND ?2 IS NULL"),
};

static LOCK_TOPICS: Statement = Statement {
    name: "lock_topics",
    postgres: Cow::Borrowed(
        "
SELECT json_build_object('id', t.id, 'channel', t.channel, 'name', t.name, 'created_at', t.created_at_ms,
    'created_by', t.created_by, 'archived', t.archived, 'last_seq', t.last_seq, 'messages', t.message_count,
    'activity', t.last_activity_ms, 'participants', t.participants,
    'run', t.agent_run, 'person', t.person_seq)::text
FROM topics t
WHERE t.id = ANY(ARRAY(
    SELECT t1.id FROM jsonb_to_recordset($1->'ids') AS i(channel uuid, id uuid)
    CROSS JOIN LATERAL (SELECT * FROM topics t WHERE t.id = i.id AND t.channel = i.channel LIMIT 1) t1
    UNION
    SELECT t2.id FROM jsonb_to_recordset($1->'names') AS i(channel uuid, key text)
    CROSS JOIN LATERAL (SELECT * FROM topics t WHERE t.channel = i.channel AND t.name_key = i.key LIMIT 1) t2
    UNION
    SELECT m.topic FROM asks a JOIN messages m ON m.id = a.message
    WHERE a.ask_id = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1->'asks')))))
ORDER BY t.id
FOR NO KEY UPDATE",
    ),
    sqlite: Cow::Borrowed(
        "
SELECT json_object('id', lower(hex(t.id)), 'channel', lower(hex(t.channel)), 'name', t.name,
    'created_at', t.created_at_ms, 'created_by', lower(hex(t.created_by)),
    'archived', json(iif(t.archived, 'true', 'false')), 'last_seq', t.last_seq, 'messages', t.message_count,
    'activity', t.last_activity_ms, 'participants', json(t.participants),
    'run', t.agent_run, 'person', t.person_seq)
FROM topics t
WHERE +t.tenant = ?2 AND t.id IN (
    SELECT t1.id FROM json_each(?1, '$.ids') i
    CROSS JOIN topics t1 ON t1.id = unhex(i.value->>'id') AND t1.channel = unhex(i.value->>'channel')
    UNION
    SELECT t2.id FROM json_each(?1, '$.names') i
    CROSS JOIN topics t2 ON t2.channel = unhex(i.value->>'channel') AND t2.name_key = i.value->>'key'
    UNION
    SELECT m.topic FROM asks a JOIN messages m ON m.id = a.message
    WHERE a.ask_id IN (SELECT unhex(value) FROM json_each(?1, '$.asks')))",
    ),
};

static LOCK_UNROUTED: Statement = Statement {
    name: "lock_unrouted",
    postgres: Cow::Borrowed(
        "
SELECT json_build_object('message', u.message)::text FROM unrouted u
WHERE u.message = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1)))
ORDER BY u.message
FOR UPDATE SKIP LOCKED",
    ),
    sqlite: Cow::Borrowed(
        "
SELECT json_object('message', lower(hex(u.message))) FROM unrouted u
WHERE +u.tenant = ?2 AND u.message IN (SELECT unhex(value) FROM json_each(?1))",
    ),
};

static LOCK_OWED: Statement = Statement {
    name: "lock_owed",
    postgres: Cow::Borrowed(
        "
SELECT json_build_object('agent', o.agent, 'message', o.message)::text
FROM jsonb_to_recordset($1) AS i(agent uuid, message uuid)
JOIN owed o ON o.agent = i.agent AND o.message = i.message
WHERE o.message = ANY(ARRAY(SELECT r.message FROM jsonb_to_recordset($1) AS r(message uuid)))
ORDER BY o.agent, o.message
FOR UPDATE OF o",
    ),
    sqlite: Cow::Borrowed(
        "
SELECT json_object('agent', lower(hex(o.agent)), 'message', lower(hex(o.message)))
FROM json_each(?1) i
CROSS JOIN owed o ON o.agent = unhex(i.value->>'agent') AND o.message = unhex(i.value->>'message')
WHERE +o.tenant = ?2",
    ),
};

static LOCK_CURSORS: Statement = Statement {
    name: "lock_cursors",
    postgres: Cow::Borrowed(
        "
SELECT json_build_object('agent', c.agent, 'channel', c.channel, 'acked', c.acked_seq, 'above', c.above)::text
FROM (
    SELECT DISTINCT i.agent, m.channel FROM jsonb_to_recordset($1) AS i(agent uuid, message uuid)
    CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.id = i.message LIMIT 1) m
) k
JOIN cursors c ON c.agent = k.agent AND c.channel = k.channel
WHERE c.agent = ANY(ARRAY(SELECT r.agent FROM jsonb_to_recordset($1) AS r(agent uuid)))
ORDER BY c.agent, c.channel
FOR UPDATE OF c",
    ),
    sqlite: Cow::Borrowed(
        "
SELECT json_object('agent', lower(hex(c.agent)), 'channel', lower(hex(c.channel)), 'acked', c.acked_seq,
    'above', json(c.above))
FROM (
    SELECT DISTINCT unhex(i.value->>'agent') AS agent, m.channel FROM json_each(?1) i
    CROSS JOIN messages m ON m.id = unhex(i.value->>'message')
) k
CROSS JOIN cursors c ON c.agent = k.agent AND c.channel = k.channel
WHERE +c.tenant = ?2",
    ),
};

static PLACES: Statement = Statement {
    name: "places",
    postgres: Cow::Borrowed(
        "
SELECT json_build_object('message', m.id, 'channel', m.channel, 'seq', m.seq)::text
FROM messages m
WHERE m.id = ANY(ARRAY(SELECT i.message FROM jsonb_to_recordset($1) AS i(message uuid)))",
    ),
    sqlite: Cow::Borrowed(
        "
SELECT json_object('message', lower(hex(m.id)), 'channel', lower(hex(m.channel)), 'seq', m.seq)
FROM messages m
WHERE +m.tenant = ?2 AND m.id IN (SELECT unhex(value->>'message') FROM json_each(?1))",
    ),
};

/// Walks up from each cursor while the next message is acknowledged, about to be, or the agent's own; returns the
/// own ones. The walk ends at the first message that is none of these.
static OWN_SEQS: Statement = Statement {
    name: "own_seqs",
    postgres: Cow::Borrowed("
WITH RECURSIVE acked AS MATERIALIZED (
    SELECT i.agent, m.channel, m.seq FROM jsonb_to_recordset($1) AS i(agent uuid, message uuid)
    CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.id = i.message LIMIT 1) m
), walk AS (
    SELECT c.agent, c.channel, c.acked_seq AS seq, c.above, false AS own
    FROM (SELECT DISTINCT agent, channel FROM acked) k
    CROSS JOIN LATERAL (SELECT * FROM cursors c WHERE c.agent = k.agent AND c.channel = k.channel LIMIT 1) c
    UNION ALL
    SELECT w.agent, w.channel, m.seq, w.above, m.author = w.agent
    FROM walk w
    CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.channel = w.channel AND m.seq = w.seq + 1 LIMIT 1) m
    WHERE m.author = w.agent OR m.seq = ANY(w.above)
        OR EXISTS (SELECT 1 FROM acked a WHERE a.agent = w.agent AND a.channel = w.channel AND a.seq = m.seq)
)
SELECT json_build_object('agent', agent, 'channel', channel, 'seq', seq)::text FROM walk WHERE own"),
    sqlite: Cow::Borrowed("
WITH RECURSIVE acked(agent, channel, seq) AS MATERIALIZED (
    SELECT unhex(i.value->>'agent'), m.channel, m.seq FROM json_each(?1) i
    CROSS JOIN messages m ON m.id = unhex(i.value->>'message')
    WHERE +m.tenant = ?2
), walk(agent, channel, seq, above, own) AS (
    SELECT c.agent, c.channel, c.acked_seq, c.above, false
    FROM (SELECT DISTINCT agent, channel FROM acked) k
    JOIN cursors c ON c.agent = k.agent AND c.channel = k.channel
    UNION ALL
    SELECT w.agent, w.channel, m.seq, w.above, m.author = w.agent
    FROM walk w JOIN messages m ON m.channel = w.channel AND m.seq = w.seq + 1
    WHERE m.author = w.agent OR m.seq IN (SELECT value FROM json_each(w.above))
        OR EXISTS (SELECT 1 FROM acked a WHERE a.agent = w.agent AND a.channel = w.channel AND a.seq = m.seq)
)
SELECT json_object('agent', lower(hex(agent)), 'channel', lower(hex(channel)), 'seq', seq) FROM walk WHERE own"),
};

static POSTED: Statement = Statement {
    name: "posted",
    postgres: Cow::Borrowed(concat!(
        "
SELECT json_build_object('key', m.client_request_id, 'digest', encode(m.request_digest, 'hex'),
    ",
        postgres_message!(),
        ")::text, m.blocks::text
FROM jsonb_to_recordset($1) AS i(author uuid, key text)
CROSS JOIN LATERAL (
    SELECT * FROM messages m WHERE m.author = i.author AND m.client_request_id = i.key LIMIT 1) m"
    )),
    sqlite: Cow::Borrowed(concat!(
        "
SELECT json_object('key', m.client_request_id, 'digest', lower(hex(m.request_digest)),
    ",
        sqlite_message!(),
        "), m.blocks
FROM json_each(?1) i
CROSS JOIN messages m ON m.author = unhex(i.value->>'author') AND m.client_request_id = i.value->>'key'
WHERE +m.tenant = ?2"
    )),
};

static ASKS: Statement = Statement {
    name: "asks",
    postgres: Cow::Borrowed(concat!(
        "
SELECT json_build_object('ask', a.ask_id, 'ask_channel', a.channel, 'ask_author', a.author,
    'ask_digest', encode(a.digest, 'hex'),
    ",
        postgres_message!(),
        ")::text, m.blocks::text
FROM asks a JOIN messages m ON m.id = a.message
WHERE a.ask_id = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1)))"
    )),
    sqlite: Cow::Borrowed(concat!(
        "
SELECT json_object('ask', lower(hex(a.ask_id)), 'ask_channel', lower(hex(a.channel)),
    'ask_author', lower(hex(a.author)), 'ask_digest', lower(hex(a.digest)),
    ",
        sqlite_message!(),
        "), m.blocks
FROM asks a JOIN messages m ON m.id = a.message
WHERE +a.tenant = ?2 AND a.ask_id IN (SELECT unhex(value) FROM json_each(?1))"
    )),
};

static ROUTED: Statement = Statement {
    name: "routed",
    postgres: Cow::Borrowed(concat!(
        "
SELECT json_build_object(",
        postgres_message!(),
        ")::text, m.blocks::text
FROM unrouted u JOIN messages m ON m.id = u.message
WHERE u.message = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1)))"
    )),
    sqlite: Cow::Borrowed(concat!(
        "
SELECT json_object(",
        sqlite_message!(),
        "), m.blocks
FROM unrouted u JOIN messages m ON m.id = u.message
WHERE +u.tenant = ?2 AND u.message IN (SELECT unhex(value) FROM json_each(?1))"
    )),
};

/// Which of the asked pairs of channel and account take part; an ask stands for its channel.
static PARTICIPANTS: LazyLock<Statement> = LazyLock::new(|| Statement {
    name: "participants",
    postgres: format!(
        "
WITH asked AS (
    SELECT i.channel, i.account FROM jsonb_to_recordset($1->'channels') AS i(channel uuid, account uuid)
    UNION
    SELECT a.channel, i.account FROM jsonb_to_recordset($1->'asks') AS i(ask uuid, account uuid)
    CROSS JOIN LATERAL (SELECT * FROM asks a WHERE a.ask_id = i.ask LIMIT 1) a
)
SELECT json_build_object('channel', k.channel, 'account', k.account)::text
FROM asked k CROSS JOIN LATERAL (SELECT * FROM channels c WHERE c.id = k.channel LIMIT 1) c
WHERE {}",
        takes_part("k.account", "c")
    )
    .into(),
    sqlite: format!(
        "
WITH asked(channel, account) AS (
    SELECT unhex(i.value->>'channel'), unhex(i.value->>'account') FROM json_each(?1, '$.channels') i
    UNION
    SELECT a.channel, unhex(i.value->>'account') FROM json_each(?1, '$.asks') i
    CROSS JOIN asks a ON a.ask_id = unhex(i.value->>'ask')
)
SELECT json_object('channel', lower(hex(k.channel)), 'account', lower(hex(k.account)))
FROM asked k CROSS JOIN channels c ON c.id = k.channel
WHERE +c.tenant = ?2 AND {}",
        takes_part("k.account", "c")
    )
    .into(),
});

/// The agents that take part in the channels of unrouted messages.
static AUDIENCE: LazyLock<Statement> = LazyLock::new(|| Statement {
    name: "audience",
    postgres: format!(
        "
WITH RECURSIVE wanted(channel) AS (
    SELECT DISTINCT m.channel FROM unrouted u JOIN messages m ON m.id = u.message
    WHERE u.message = ANY(ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($1)))
), {}
SELECT json_build_object('channel', r.channel, 'account', r.account, 'handle', r.handle,
    'in_sweep', r.in_sweep)::text
FROM recipients r ORDER BY r.channel, r.account",
        recipients()
    )
    .into(),
    sqlite: format!(
        "
WITH RECURSIVE wanted(channel) AS (
    SELECT DISTINCT m.channel FROM unrouted u JOIN messages m ON m.id = u.message
    WHERE +u.tenant = ?2 AND u.message IN (SELECT unhex(value) FROM json_each(?1))
), {}
SELECT json_object('channel', lower(hex(r.channel)), 'account', lower(hex(r.account)), 'handle', r.handle,
    'in_sweep', json(iif(r.in_sweep, 'true', 'false')))
FROM recipients r ORDER BY r.channel, r.account",
        recipients()
    )
    .into(),
});
