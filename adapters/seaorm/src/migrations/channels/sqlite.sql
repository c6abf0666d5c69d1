ALTER TABLE channels ADD COLUMN purpose TEXT;
CREATE UNIQUE INDEX channels_purpose ON channels (tenant, purpose) WHERE purpose IS NOT NULL;
CREATE INDEX channel_groups_owner ON channel_groups (owner, name_key);
