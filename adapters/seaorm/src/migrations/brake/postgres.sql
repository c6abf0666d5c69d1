ALTER TABLE topics
    ADD COLUMN agent_run bigint NOT NULL DEFAULT 0 CHECK (agent_run >= 0),
    ADD COLUMN person_seq bigint NOT NULL DEFAULT 0 CHECK (person_seq >= 0);
ALTER TABLE messages
    ADD COLUMN agent_run bigint NOT NULL DEFAULT 0 CHECK (agent_run >= 0),
    ADD COLUMN mentions text COLLATE "C";
CREATE INDEX messages_calls ON messages (channel, seq) WHERE mentions IS NOT NULL OR answers_ask_id IS NOT NULL;
