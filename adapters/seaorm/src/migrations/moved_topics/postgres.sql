CREATE TABLE moved_topics (
    channel uuid NOT NULL REFERENCES channels (id),
    topic uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    into_topic uuid NOT NULL REFERENCES topics (id),
    PRIMARY KEY (channel, topic)
) WITH (fillfactor = 60);
CREATE INDEX moved_topics_into ON moved_topics (into_topic);
ALTER TABLE moved_topics ENABLE ROW LEVEL SECURITY;
-- The condition is one that no index serves, for the reason given where the other tables get theirs.
CREATE POLICY tenant_rows ON moved_topics
    USING ((tenant || '') = nullif(current_setting('compass.tenant', true), ''))
    WITH CHECK (tenant = nullif(current_setting('compass.tenant', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON moved_topics TO compass_app;
