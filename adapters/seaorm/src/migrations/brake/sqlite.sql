ALTER TABLE topics ADD COLUMN agent_run INTEGER NOT NULL DEFAULT 0 CHECK (agent_run >= 0);
ALTER TABLE topics ADD COLUMN person_seq INTEGER NOT NULL DEFAULT 0 CHECK (person_seq >= 0);
ALTER TABLE messages ADD COLUMN agent_run INTEGER NOT NULL DEFAULT 0 CHECK (agent_run >= 0);
ALTER TABLE messages ADD COLUMN mentions TEXT;
-- As one expression, so that no condition on either column alone takes this index for its own.
CREATE INDEX messages_calls ON messages (channel, seq) WHERE coalesce(mentions, answers_ask_id) IS NOT NULL;
