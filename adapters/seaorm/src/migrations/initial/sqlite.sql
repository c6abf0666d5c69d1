CREATE TABLE tenants (
    id TEXT NOT NULL PRIMARY KEY CHECK (id <> '')
) STRICT, WITHOUT ROWID;
INSERT INTO tenants (id) VALUES ('default');

CREATE TABLE accounts (
    id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    handle TEXT NOT NULL,
    display_name TEXT NOT NULL,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
    admin INTEGER NOT NULL DEFAULT 0,
    owner BLOB REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    home_channel BLOB REFERENCES channels (id) DEFERRABLE INITIALLY DEFERRED,
    parent BLOB REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    UNIQUE (tenant, handle),
    CHECK ((kind = 1) = (owner IS NOT NULL AND home_channel IS NOT NULL)),
    CHECK (kind = 1 OR (owner IS NULL AND home_channel IS NULL AND parent IS NULL)),
    CHECK (kind = 0 OR NOT admin)
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_kind ON accounts (tenant, kind);
CREATE INDEX accounts_owner ON accounts (owner) WHERE owner IS NOT NULL;
CREATE INDEX accounts_parent ON accounts (parent) WHERE parent IS NOT NULL;

CREATE TABLE channel_groups (
    id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    parent BLOB REFERENCES channel_groups (id),
    owner BLOB NOT NULL REFERENCES accounts (id),
    visibility INTEGER NOT NULL CHECK (visibility IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_groups_tenant ON channel_groups (tenant, name_key);
CREATE INDEX channel_groups_parent ON channel_groups (parent) WHERE parent IS NOT NULL;

CREATE TABLE channels (
    id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    channel_group BLOB REFERENCES channel_groups (id),
    kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
    membership_mode INTEGER NOT NULL CHECK (membership_mode IN (0, 1)),
    anchor BLOB REFERENCES accounts (id),
    post_policy INTEGER NOT NULL CHECK (post_policy IN (0, 1)),
    owner BLOB REFERENCES accounts (id),
    mandatory INTEGER NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0,
    last_at_ms INTEGER NOT NULL DEFAULT 0,
    gate INTEGER NOT NULL DEFAULT 0,
    CHECK ((membership_mode = 1) = (anchor IS NOT NULL)),
    CHECK ((post_policy = 1) = (owner IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX channels_group_name ON channels (channel_group, name_key) WHERE channel_group IS NOT NULL;
CREATE INDEX channels_name ON channels (tenant, name_key);
CREATE INDEX channels_anchor ON channels (anchor) WHERE anchor IS NOT NULL;
CREATE INDEX accounts_home ON accounts (home_channel) WHERE home_channel IS NOT NULL;

CREATE TABLE channel_members (
    channel BLOB NOT NULL REFERENCES channels (id),
    account BLOB NOT NULL REFERENCES accounts (id),
    tenant TEXT NOT NULL,
    subscribed INTEGER NOT NULL,
    joined_no INTEGER NOT NULL,
    PRIMARY KEY (channel, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_members_account ON channel_members (account, channel);
CREATE INDEX channel_members_order ON channel_members (channel, joined_no);

CREATE TABLE channel_subscriptions (
    channel BLOB NOT NULL REFERENCES channels (id),
    account BLOB NOT NULL REFERENCES accounts (id),
    tenant TEXT NOT NULL,
    subscribed INTEGER NOT NULL,
    PRIMARY KEY (channel, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_subscriptions_account ON channel_subscriptions (account, channel);

CREATE TABLE topics (
    id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    channel BLOB NOT NULL REFERENCES channels (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    created_by BLOB NOT NULL REFERENCES accounts (id),
    archived INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT 0,
    message_count INTEGER NOT NULL DEFAULT 0,
    last_activity_ms INTEGER NOT NULL,
    participants TEXT NOT NULL DEFAULT '[]',
    UNIQUE (channel, name_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    channel BLOB NOT NULL REFERENCES channels (id),
    topic BLOB NOT NULL REFERENCES topics (id),
    author BLOB NOT NULL REFERENCES accounts (id),
    at_ms INTEGER NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    blocks TEXT NOT NULL,
    blocks_bytes INTEGER NOT NULL GENERATED ALWAYS AS (octet_length(blocks)) STORED,
    search_text TEXT NOT NULL,
    client_request_id TEXT,
    request_digest BLOB,
    answers_ask_id BLOB REFERENCES asks (ask_id) DEFERRABLE INITIALLY DEFERRED,
    answers_digest BLOB,
    UNIQUE (channel, seq),
    CHECK ((client_request_id IS NULL) = (request_digest IS NULL)),
    CHECK ((answers_ask_id IS NULL) = (answers_digest IS NULL))
) STRICT;
CREATE INDEX messages_topic ON messages (topic, seq);
CREATE UNIQUE INDEX messages_position ON messages (tenant, position);
CREATE INDEX messages_author ON messages (author, channel, seq);
CREATE UNIQUE INDEX messages_request ON messages (author, client_request_id) WHERE client_request_id IS NOT NULL;
CREATE UNIQUE INDEX messages_answers ON messages (answers_ask_id) WHERE answers_ask_id IS NOT NULL;

CREATE TABLE channel_pins (
    channel BLOB NOT NULL REFERENCES channels (id),
    message BLOB NOT NULL REFERENCES messages (id),
    tenant TEXT NOT NULL,
    place INTEGER NOT NULL CHECK (place >= 0),
    pinned_at_ms INTEGER NOT NULL,
    pinned_by BLOB NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (channel, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_pins_message ON channel_pins (message);

CREATE TABLE asks (
    ask_id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    channel BLOB NOT NULL REFERENCES channels (id),
    message BLOB NOT NULL REFERENCES messages (id),
    author BLOB NOT NULL REFERENCES accounts (id),
    digest BLOB NOT NULL,
    closed_at_ms INTEGER,
    closed_by BLOB REFERENCES accounts (id),
    ended INTEGER CHECK (ended IN (1, 2)),
    CHECK ((closed_at_ms IS NULL) = (ended IS NULL) AND (closed_at_ms IS NULL) = (closed_by IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX asks_message ON asks (message);
CREATE INDEX asks_open_author ON asks (author) WHERE closed_at_ms IS NULL;
CREATE INDEX asks_open_channel ON asks (channel) WHERE closed_at_ms IS NULL;

CREATE TABLE unrouted (
    message BLOB NOT NULL PRIMARY KEY REFERENCES messages (id),
    tenant TEXT NOT NULL,
    author BLOB NOT NULL REFERENCES accounts (id),
    recorded_at_ms INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
) STRICT, WITHOUT ROWID;
CREATE INDEX unrouted_age ON unrouted (recorded_at_ms);

CREATE TABLE owed (
    agent BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    message BLOB NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    tenant TEXT NOT NULL,
    channel BLOB NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    recorded_at_ms INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    PRIMARY KEY (agent, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX owed_message ON owed (message);

CREATE TABLE cursors (
    agent BLOB NOT NULL REFERENCES accounts (id),
    channel BLOB NOT NULL REFERENCES channels (id),
    tenant TEXT NOT NULL,
    acked_seq INTEGER NOT NULL,
    above TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (agent, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    id BLOB NOT NULL PRIMARY KEY,
    lease_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    account BLOB NOT NULL REFERENCES accounts (id),
    runner TEXT NOT NULL,
    node BLOB NOT NULL,
    attach_mode INTEGER NOT NULL CHECK (attach_mode IN (0, 1)),
    lifecycle INTEGER NOT NULL DEFAULT 0,
    state_number INTEGER NOT NULL DEFAULT 0,
    opened_at_ms INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    closed_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_open_account ON sessions (account) WHERE closed_at_ms IS NULL;
CREATE INDEX sessions_open_node ON sessions (node) WHERE closed_at_ms IS NULL;
CREATE INDEX sessions_tenant ON sessions (tenant) WHERE closed_at_ms IS NULL;

CREATE TABLE placements (
    agent BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id),
    tenant TEXT NOT NULL,
    runner TEXT NOT NULL,
    wake INTEGER NOT NULL DEFAULT 0,
    wake_until_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_activity (
    agent BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id),
    tenant TEXT NOT NULL,
    activity TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    id BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    hash BLOB NOT NULL UNIQUE,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
    account BLOB REFERENCES accounts (id),
    runner TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER,
    CHECK ((kind = 1) = (runner IS NOT NULL) AND (kind = 1) = (account IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_account ON tokens (account) WHERE account IS NOT NULL;
