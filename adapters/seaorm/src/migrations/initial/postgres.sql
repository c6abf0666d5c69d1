CREATE TABLE tenants (
    id text COLLATE "C" PRIMARY KEY CHECK (id <> '')
);
INSERT INTO tenants (id) VALUES ('default');

CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL REFERENCES tenants (id),
    handle text COLLATE "C" NOT NULL,
    display_name text NOT NULL,
    kind smallint NOT NULL CHECK (kind IN (0, 1, 2)),
    admin boolean NOT NULL DEFAULT false,
    owner uuid REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    home_channel uuid,
    parent uuid REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    UNIQUE (tenant, handle),
    CHECK ((kind = 1) = (owner IS NOT NULL AND home_channel IS NOT NULL)),
    CHECK (kind = 1 OR (owner IS NULL AND home_channel IS NULL AND parent IS NULL)),
    CHECK (kind = 0 OR NOT admin)
);
CREATE INDEX accounts_kind ON accounts (tenant, kind);
CREATE INDEX accounts_owner ON accounts (owner) WHERE owner IS NOT NULL;
CREATE INDEX accounts_parent ON accounts (parent) WHERE parent IS NOT NULL;

CREATE TABLE channel_groups (
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    parent uuid REFERENCES channel_groups (id),
    owner uuid NOT NULL REFERENCES accounts (id),
    visibility smallint NOT NULL CHECK (visibility IN (0, 1))
);
CREATE INDEX channel_groups_tenant ON channel_groups (tenant, name_key);
CREATE INDEX channel_groups_parent ON channel_groups (parent) WHERE parent IS NOT NULL;

CREATE TABLE channels (
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    channel_group uuid REFERENCES channel_groups (id),
    kind smallint NOT NULL CHECK (kind IN (0, 1, 2)),
    membership_mode smallint NOT NULL CHECK (membership_mode IN (0, 1)),
    anchor uuid REFERENCES accounts (id),
    post_policy smallint NOT NULL CHECK (post_policy IN (0, 1)),
    owner uuid REFERENCES accounts (id),
    mandatory boolean NOT NULL,
    last_seq bigint NOT NULL DEFAULT 0,
    last_at_ms bigint NOT NULL DEFAULT 0,
    gate bigint NOT NULL DEFAULT 0,
    CHECK ((membership_mode = 1) = (anchor IS NOT NULL)),
    CHECK ((post_policy = 1) = (owner IS NOT NULL))
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX channels_group_name ON channels (channel_group, name_key) WHERE channel_group IS NOT NULL;
CREATE INDEX channels_name ON channels (tenant, name_key);
CREATE INDEX channels_anchor ON channels (anchor) WHERE anchor IS NOT NULL;
ALTER TABLE accounts ADD CONSTRAINT accounts_home_channel
    FOREIGN KEY (home_channel) REFERENCES channels (id) DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX accounts_home ON accounts (home_channel) WHERE home_channel IS NOT NULL;

CREATE TABLE channel_members (
    channel uuid NOT NULL REFERENCES channels (id),
    account uuid NOT NULL REFERENCES accounts (id),
    tenant text COLLATE "C" NOT NULL,
    subscribed boolean NOT NULL,
    joined_no bigint NOT NULL,
    PRIMARY KEY (channel, account)
);
CREATE INDEX channel_members_account ON channel_members (account, channel);
CREATE INDEX channel_members_order ON channel_members (channel, joined_no);

CREATE TABLE channel_subscriptions (
    channel uuid NOT NULL REFERENCES channels (id),
    account uuid NOT NULL REFERENCES accounts (id),
    tenant text COLLATE "C" NOT NULL,
    subscribed boolean NOT NULL,
    PRIMARY KEY (channel, account)
);
CREATE INDEX channel_subscriptions_account ON channel_subscriptions (account, channel);

CREATE TABLE topics (
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    channel uuid NOT NULL REFERENCES channels (id),
    name text NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    created_at_ms bigint NOT NULL,
    created_by uuid NOT NULL REFERENCES accounts (id),
    archived boolean NOT NULL DEFAULT false,
    last_seq bigint NOT NULL DEFAULT 0,
    message_count bigint NOT NULL DEFAULT 0,
    last_activity_ms bigint NOT NULL,
    participants uuid[] NOT NULL DEFAULT '{}',
    UNIQUE (channel, name_key)
) WITH (fillfactor = 60);

CREATE TABLE messages (
    position bigint GENERATED ALWAYS AS IDENTITY,
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    channel uuid NOT NULL REFERENCES channels (id),
    topic uuid NOT NULL REFERENCES topics (id),
    author uuid NOT NULL REFERENCES accounts (id),
    at_ms bigint NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    blocks jsonb NOT NULL,
    blocks_bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(blocks::text)) STORED,
    search_text text NOT NULL,
    client_request_id text COLLATE "C",
    request_digest bytea,
    answers_ask_id uuid,
    answers_digest bytea,
    UNIQUE (channel, seq),
    CHECK ((client_request_id IS NULL) = (request_digest IS NULL)),
    CHECK ((answers_ask_id IS NULL) = (answers_digest IS NULL))
);
CREATE INDEX messages_topic ON messages (topic, seq);
CREATE UNIQUE INDEX messages_position ON messages (tenant, position);
CREATE INDEX messages_author ON messages (author, channel, seq);
CREATE UNIQUE INDEX messages_request ON messages (author, client_request_id) WHERE client_request_id IS NOT NULL;
CREATE UNIQUE INDEX messages_answers ON messages (answers_ask_id) WHERE answers_ask_id IS NOT NULL;

CREATE TABLE channel_pins (
    channel uuid NOT NULL REFERENCES channels (id),
    message uuid NOT NULL REFERENCES messages (id),
    tenant text COLLATE "C" NOT NULL,
    place integer NOT NULL CHECK (place >= 0),
    pinned_at_ms bigint NOT NULL,
    pinned_by uuid NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (channel, message)
);
CREATE INDEX channel_pins_message ON channel_pins (message);

CREATE TABLE asks (
    ask_id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    channel uuid NOT NULL REFERENCES channels (id),
    message uuid NOT NULL REFERENCES messages (id),
    author uuid NOT NULL REFERENCES accounts (id),
    digest bytea NOT NULL,
    closed_at_ms bigint,
    closed_by uuid REFERENCES accounts (id),
    ended smallint CHECK (ended IN (1, 2)),
    CHECK ((closed_at_ms IS NULL) = (ended IS NULL) AND (closed_at_ms IS NULL) = (closed_by IS NULL))
);
CREATE INDEX asks_message ON asks (message);
CREATE INDEX asks_open_author ON asks (author) WHERE closed_at_ms IS NULL;
CREATE INDEX asks_open_channel ON asks (channel) WHERE closed_at_ms IS NULL;
ALTER TABLE messages ADD CONSTRAINT messages_answers_ask_id
    FOREIGN KEY (answers_ask_id) REFERENCES asks (ask_id) DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE unrouted (
    message uuid PRIMARY KEY REFERENCES messages (id),
    tenant text COLLATE "C" NOT NULL,
    author uuid NOT NULL REFERENCES accounts (id),
    recorded_at_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
);
CREATE INDEX unrouted_age ON unrouted (recorded_at_ms);

CREATE TABLE owed (
    agent uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    message uuid NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    tenant text COLLATE "C" NOT NULL,
    channel uuid NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    recorded_at_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    PRIMARY KEY (agent, message)
);
CREATE INDEX owed_message ON owed (message);

CREATE TABLE cursors (
    agent uuid NOT NULL REFERENCES accounts (id),
    channel uuid NOT NULL REFERENCES channels (id),
    tenant text COLLATE "C" NOT NULL,
    acked_seq bigint NOT NULL,
    above bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (agent, channel)
) WITH (fillfactor = 60);

CREATE TABLE nodes (
    id uuid PRIMARY KEY,
    lease_until_ms bigint NOT NULL
);

CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    account uuid NOT NULL REFERENCES accounts (id),
    runner text NOT NULL,
    node uuid NOT NULL,
    attach_mode smallint NOT NULL CHECK (attach_mode IN (0, 1)),
    lifecycle smallint NOT NULL DEFAULT 0,
    state_number bigint NOT NULL DEFAULT 0,
    opened_at_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    closed_at_ms bigint
);
CREATE INDEX sessions_open_account ON sessions (account) WHERE closed_at_ms IS NULL;
CREATE INDEX sessions_open_node ON sessions (node) WHERE closed_at_ms IS NULL;
CREATE INDEX sessions_tenant ON sessions (tenant) WHERE closed_at_ms IS NULL;

CREATE TABLE placements (
    agent uuid PRIMARY KEY REFERENCES accounts (id),
    tenant text COLLATE "C" NOT NULL,
    runner text NOT NULL,
    wake smallint NOT NULL DEFAULT 0,
    wake_until_ms bigint
);

CREATE TABLE agent_activity (
    agent uuid PRIMARY KEY REFERENCES accounts (id),
    tenant text COLLATE "C" NOT NULL,
    activity text NOT NULL,
    at_ms bigint NOT NULL
);

CREATE TABLE tokens (
    id uuid PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL REFERENCES tenants (id),
    hash bytea NOT NULL UNIQUE,
    kind smallint NOT NULL CHECK (kind IN (0, 1, 2)),
    account uuid REFERENCES accounts (id),
    runner text,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint,
    revoked_at_ms bigint,
    CHECK ((kind = 1) = (runner IS NOT NULL) AND (kind = 1) = (account IS NULL))
);
CREATE INDEX tokens_account ON tokens (account) WHERE account IS NOT NULL;
