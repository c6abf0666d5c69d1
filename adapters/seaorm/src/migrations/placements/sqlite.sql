DROP TABLE placements;
CREATE TABLE placements (
    account BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id),
    tenant TEXT NOT NULL,
    runner TEXT NOT NULL,
    container TEXT NOT NULL,
    wake INTEGER NOT NULL DEFAULT 0 CHECK (wake IN (0, 1, 2)),
    wake_until_ms INTEGER,
    wake_failures INTEGER NOT NULL DEFAULT 0 CHECK (wake_failures >= 0),
    wake_not_before_ms INTEGER,
    wake_error TEXT,
    placed_at_ms INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    UNIQUE (tenant, container)
) STRICT, WITHOUT ROWID;
CREATE INDEX placements_runner ON placements (runner, account);
