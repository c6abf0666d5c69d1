ALTER TABLE topics
    ADD COLUMN agent_run bigint NOT NULL DEFAULT 0 CHECK (agent_run >= 0),
    ADD COLUMN person_seq bigint NOT NULL DEFAULT 0 CHECK (person_seq >= 0);
ALTER TABLE messages
    ADD COLUMN agent_run bigint NOT NULL DEFAULT 0 CHECK (agent_run >= 0),
    ADD COLUMN mentions text COLLATE "C";
-- As one expression, so that no condition on either column alone takes this index for its own.
CREATE INDEX messages_calls ON messages (channel, seq) WHERE coalesce(mentions, answers_ask_id::text) IS NOT NULL;
