CREATE TABLE read_positions (
    topic uuid NOT NULL REFERENCES topics (id),
    account uuid NOT NULL REFERENCES accounts (id),
    tenant text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq >= 0),
    PRIMARY KEY (topic, account)
) WITH (fillfactor = 60);
ALTER TABLE read_positions ENABLE ROW LEVEL SECURITY;
-- The condition is one that no index serves, for the reason given where the other tables get theirs.
CREATE POLICY tenant_rows ON read_positions
    USING ((tenant || '') = nullif(current_setting('compass.tenant', true), ''))
    WITH CHECK (tenant = nullif(current_setting('compass.tenant', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON read_positions TO compass_app;
