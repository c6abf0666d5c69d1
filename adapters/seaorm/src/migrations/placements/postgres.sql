DROP TABLE placements;
CREATE TABLE placements (
    account uuid PRIMARY KEY REFERENCES accounts (id),
    tenant text COLLATE "C" NOT NULL,
    runner text COLLATE "C" NOT NULL,
    container text COLLATE "C" NOT NULL,
    wake smallint NOT NULL DEFAULT 0 CHECK (wake IN (0, 1, 2)),
    wake_until_ms bigint,
    wake_failures bigint NOT NULL DEFAULT 0 CHECK (wake_failures >= 0),
    wake_not_before_ms bigint,
    wake_error text,
    placed_at_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    UNIQUE (tenant, container)
) WITH (fillfactor = 60);
CREATE INDEX placements_runner ON placements (runner, account);
ALTER TABLE placements ENABLE ROW LEVEL SECURITY;
-- The condition is one that no index serves, for the reason given where the other tables get theirs.
CREATE POLICY tenant_rows ON placements
    USING ((tenant || '') = nullif(current_setting('compass.tenant', true), ''))
    WITH CHECK (tenant = nullif(current_setting('compass.tenant', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON placements TO compass_app;
