//! Who is swept where, on top of the participation predicate: subscribed, or at home, or the channel is mandatory.

use crate::participation::{channels_of, participants_of};

/// Terms of a `WITH RECURSIVE` after a term `wanted (channel)`; the last is
/// `recipients (channel, account, handle, in_sweep)`, the agents that take part in the wanted channels.
pub(crate) fn recipients() -> String {
    format!(
        "{},
recipients (channel, account, handle, in_sweep) AS (
    SELECT p.channel, p.account, a.handle, p.subscribed OR c.mandatory OR a.home_channel = c.id
    FROM part p
    JOIN accounts a ON a.id = p.account AND a.kind = 1
    JOIN channels c ON c.id = p.channel
)",
        participants_of("part", "wanted")
    )
}

/// Terms of a `WITH RECURSIVE`; the last is `taking_part (channel, in_sweep)`, the channels in which the agent of
/// parameter 1 takes part.
pub(crate) fn taking_part() -> String {
    format!(
        "{},
taking_part (channel, in_sweep) AS (
    SELECT c.id, coalesce(m.subscribed, s.subscribed, false) OR c.mandatory OR a.home_channel = c.id
    FROM accounts a
    CROSS JOIN part p
    JOIN channels c ON c.id = p.channel
    LEFT JOIN channel_members m ON m.channel = c.id AND m.account = a.id
    LEFT JOIN channel_subscriptions s ON s.channel = c.id AND s.account = a.id
    WHERE a.id = $1 AND a.kind = 1
)",
        channels_of("part", "$1")
    )
}
