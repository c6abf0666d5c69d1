CREATE TABLE read_positions (
    topic BLOB NOT NULL REFERENCES topics (id),
    account BLOB NOT NULL REFERENCES accounts (id),
    tenant TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq >= 0),
    PRIMARY KEY (topic, account)
) STRICT, WITHOUT ROWID;
