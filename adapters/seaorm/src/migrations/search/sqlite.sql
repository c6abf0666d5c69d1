-- The words only; the texts stay in their table.
CREATE VIRTUAL TABLE messages_search USING fts5 (
    search_text,
    content = 'messages',
    content_rowid = 'position',
    tokenize = 'porter unicode61 remove_diacritics 0'
);
INSERT INTO messages_search (messages_search) VALUES ('rebuild');

CREATE TRIGGER messages_search_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_search (rowid, search_text) VALUES (new.position, new.search_text);
END;
CREATE TRIGGER messages_search_update AFTER UPDATE OF search_text ON messages BEGIN
    INSERT INTO messages_search (messages_search, rowid, search_text)
    VALUES ('delete', old.position, old.search_text);
    INSERT INTO messages_search (rowid, search_text) VALUES (new.position, new.search_text);
END;
CREATE TRIGGER messages_search_delete AFTER DELETE ON messages BEGIN
    INSERT INTO messages_search (messages_search, rowid, search_text)
    VALUES ('delete', old.position, old.search_text);
END;
