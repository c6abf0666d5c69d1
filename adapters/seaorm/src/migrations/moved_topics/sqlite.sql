CREATE TABLE moved_topics (
    channel BLOB NOT NULL REFERENCES channels (id),
    topic BLOB NOT NULL,
    tenant TEXT NOT NULL,
    into_topic BLOB NOT NULL REFERENCES topics (id),
    PRIMARY KEY (channel, topic)
) STRICT, WITHOUT ROWID;
CREATE INDEX moved_topics_into ON moved_topics (into_topic);
