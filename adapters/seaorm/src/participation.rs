//! Participation in SQL: the twin of `compass_domain::participation`, for one question and for sets.
//!
//! Every fragment walks the tree with `UNION`, so a cycle in the rows ends the walk. Where a term stands before a table
//! it stands in a `CROSS JOIN`: SQLite then looks up what the term holds instead of reading the table.

/// A condition: the account takes part in the channel whose row has the alias `channel`.
pub(crate) fn takes_part(account: &str, channel: &str) -> String {
    format!(
        "(EXISTS (SELECT 1 FROM channel_members member
                  WHERE member.channel = {channel}.id AND member.account = {account})
          OR ({channel}.membership_mode = 1 AND (
              EXISTS (SELECT 1 FROM accounts anchor
                      WHERE anchor.id = {channel}.anchor AND anchor.owner = {account})
              OR {channel}.anchor IN (
                  WITH RECURSIVE above (id) AS (
                      SELECT self.id FROM accounts self WHERE self.id = {account}
                      UNION
                      SELECT agent.parent FROM accounts agent JOIN above ON agent.id = above.id
                      WHERE agent.parent IS NOT NULL
                  )
                  SELECT above.id FROM above))))"
    )
}

/// Two terms of a `WITH RECURSIVE`: `{name}_above (id)`, and `{name} (channel)`, the channels in which the account
/// takes part.
pub(crate) fn channels_of(name: &str, account: &str) -> String {
    format!(
        "{name}_above (id) AS (
            SELECT self.id FROM accounts self WHERE self.id = {account}
            UNION
            SELECT agent.parent FROM accounts agent JOIN {name}_above ON agent.id = {name}_above.id
            WHERE agent.parent IS NOT NULL
        ),
        {name} (channel) AS (
            SELECT member.channel FROM channel_members member WHERE member.account = {account}
            UNION
            SELECT tree.id FROM {name}_above CROSS JOIN channels tree WHERE tree.anchor = {name}_above.id
            UNION
            SELECT tree.id FROM accounts anchor CROSS JOIN channels tree
            WHERE anchor.owner = {account} AND tree.anchor = anchor.id
        )"
    )
}

/// Two terms of a `WITH RECURSIVE`: `{name}_below (channel, id)`, and `{name} (channel, account, subscribed)`, who
/// takes part in the channels of `channels`, a term or table with a column `channel`; each once.
///
/// A member row decides the subscription; without one the override does, and without that there is none.
pub(crate) fn participants_of(name: &str, channels: &str) -> String {
    format!(
        "{name}_below (channel, id) AS (
            SELECT tree.id, tree.anchor FROM {channels} wanted CROSS JOIN channels tree
            WHERE tree.id = wanted.channel AND tree.membership_mode = 1
            UNION
            SELECT {name}_below.channel, agent.id
            FROM {name}_below CROSS JOIN accounts agent WHERE agent.parent = {name}_below.id
        ),
        {name} (channel, account, subscribed) AS (
            SELECT member.channel, member.account, member.subscribed
            FROM {channels} wanted CROSS JOIN channel_members member WHERE member.channel = wanted.channel
            UNION ALL
            SELECT derived.channel, derived.id, coalesce(choice.subscribed, false)
            FROM (
                SELECT {name}_below.channel, {name}_below.id FROM {name}_below
                UNION
                SELECT tree.id, anchor.owner
                FROM {channels} wanted CROSS JOIN channels tree CROSS JOIN accounts anchor
                WHERE tree.id = wanted.channel AND anchor.id = tree.anchor AND anchor.owner IS NOT NULL
            ) AS derived
            LEFT JOIN channel_subscriptions choice
                ON choice.channel = derived.channel AND choice.account = derived.id
            WHERE NOT EXISTS (
                SELECT 1 FROM channel_members member
                WHERE member.channel = derived.channel AND member.account = derived.id
            )
        )"
    )
}

#[cfg(test)]
#[path = "participation_tests.rs"]
mod tests;
