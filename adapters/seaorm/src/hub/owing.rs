//! Whether agents are owed anything that is ready, as conditions for sets of agents: the twin of `pending` that reads
//! one row per agent.
//!
//! Subqueries are scalar: as `EXISTS` a planner may turn them into a table that it reads whole.

use compass_domain::brake;

use crate::{dialect::Dialect, participation::takes_part};

/// A condition: message `m` is routed, and no brake holds it.
pub(super) fn ready() -> String {
    format!("{} AND {}", routed(), released())
}

/// A condition: message `m` is routed.
pub(super) fn routed() -> &'static str {
    "NOT coalesce((SELECT true FROM unrouted u WHERE u.message = m.id), false)"
}

/// A condition: no brake holds message `m`.
pub(super) fn released() -> String {
    format!(
        "(m.agent_run <= {} OR coalesce((SELECT x.person_seq FROM topics x WHERE x.id = m.topic), 0) >= m.seq)",
        brake::AGENT_MESSAGES
    )
}

/// A condition: agent `a` has an owed row, in a channel where it still takes part, whose message is ready.
pub(super) fn has_owed_row() -> String {
    format!(
        "coalesce((
    SELECT true FROM owed o CROSS JOIN channels c CROSS JOIN messages m
    WHERE o.agent = a.id AND c.id = o.channel AND m.id = o.message AND {ready} AND {takes_part}
    LIMIT 1), false)",
        ready = ready(),
        takes_part = takes_part("a.id", "c")
    )
}

/// A condition: a cursor of agent `a` owes it a ready message `m` of a channel `c` that it is swept in, where `channel`
/// holds for the channel and `message` for the message.
pub(super) fn is_behind(dialect: Dialect, channel: &str, message: &str) -> String {
    format!(
        "coalesce((
    SELECT true FROM cursors k CROSS JOIN channels c
    WHERE k.agent = a.id AND c.id = k.channel AND c.last_seq > k.acked_seq AND ({channel})
        AND {swept}
        AND coalesce((
            SELECT true FROM messages m
            WHERE m.channel = k.channel AND m.seq > k.acked_seq AND {above} AND m.author <> a.id
                AND ({message}) AND {ready}
            ORDER BY m.seq LIMIT 1), false)
    LIMIT 1), false)",
        swept = is_swept(),
        above = is_above(dialect),
        ready = ready()
    )
}

/// How many ready messages agent `a` has owed rows for, up to a limit.
pub(super) fn count_owed_rows(limit: &str) -> String {
    format!(
        "(SELECT COUNT(*) FROM (
    SELECT 1 FROM owed o CROSS JOIN channels c CROSS JOIN messages m
    WHERE o.agent = a.id AND c.id = o.channel AND m.id = o.message AND {ready} AND {takes_part}
    LIMIT {limit}) counted)",
        ready = ready(),
        takes_part = takes_part("a.id", "c")
    )
}

/// How many messages `m` for which `message` holds the cursors of agent `a` owe it, up to a limit.
pub(super) fn count_behind(dialect: Dialect, message: &str, limit: &str) -> String {
    format!(
        "(SELECT COUNT(*) FROM (
    SELECT 1 FROM cursors k CROSS JOIN channels c CROSS JOIN messages m
    WHERE k.agent = a.id AND c.id = k.channel AND c.last_seq > k.acked_seq AND {swept}
        AND m.channel = k.channel AND m.seq > k.acked_seq AND {above} AND m.author <> a.id AND {message}
        AND NOT coalesce((SELECT true FROM owed o WHERE o.agent = a.id AND o.message = m.id), false)
    LIMIT {limit}) counted)",
        swept = is_swept(),
        above = is_above(dialect),
    )
}

/// A condition: agent `a` takes part in channel `c` and is swept there.
fn is_swept() -> String {
    format!(
        "(c.mandatory OR c.id = a.home_channel OR coalesce(
            (SELECT s.subscribed FROM channel_members s WHERE s.channel = c.id AND s.account = a.id),
            (SELECT s.subscribed FROM channel_subscriptions s WHERE s.channel = c.id AND s.account = a.id),
            false))
        AND {}",
        takes_part("a.id", "c")
    )
}

/// A condition: cursor `k` does not cover message `m` beyond its acknowledged place.
fn is_above(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => "NOT (m.seq = ANY(k.above))",
        Dialect::Sqlite => "(k.above = '[]' OR m.seq NOT IN (SELECT value FROM json_each(k.above)))",
    }
}

/// A condition: message `m` mentions agent `a` or answers an ask of it.
pub(super) fn calls(dialect: Dialect) -> String {
    let (find, called) = match dialect {
        Dialect::Postgres => ("strpos", "coalesce(m.mentions, m.answers_ask_id::text)"),
        Dialect::Sqlite => ("instr", "coalesce(m.mentions, m.answers_ask_id)"),
    };
    format!(
        "{called} IS NOT NULL AND (
            {find}(m.mentions, ' ' || a.handle || ' ') > 0 OR {find}(m.mentions, ' {all} ') > 0
            OR (SELECT q.author FROM asks q WHERE q.ask_id = m.answers_ask_id) = a.id)",
        all = compass_domain::mention::ALL_AGENTS
    )
}
