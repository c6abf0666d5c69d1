-- Functions keep the schema they were made in, whatever the caller's search path is.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- A vector is limited to 1 MiB. Only a text made for it reaches that, and it is stored all the same: its beginning,
-- as much as fits, is found.
CREATE FUNCTION compass_search_vector(body text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    head text := body;
BEGIN
    IF octet_length(body) <= 131072 THEN
        RETURN pg_catalog.to_tsvector('pg_catalog.english'::pg_catalog.regconfig, body);
    END IF;
    LOOP
        BEGIN
            RETURN pg_catalog.to_tsvector('pg_catalog.english'::pg_catalog.regconfig, head);
        EXCEPTION WHEN program_limit_exceeded THEN
            head := pg_catalog.left(head, pg_catalog.length(head) / 2);
        END;
    END LOOP;
END
$$;

ALTER TABLE messages ADD COLUMN search_vector tsvector NOT NULL
    GENERATED ALWAYS AS (compass_search_vector(search_text)) STORED;
-- A short list of pending entries, because the post that fills it pays for emptying it.
CREATE INDEX messages_search ON messages USING gin (search_vector) WITH (gin_pending_list_limit = 256);

-- The match operator is not leakproof, so below row security no index serves it: the owner matches, and the tenant is
-- part of the function. $1 query, $2 channels, $3 newest position or NULL, $4 rows.
CREATE FUNCTION compass_search(query text, channels uuid[], snapshot bigint, max_rows bigint)
RETURNS TABLE (id uuid, place bigint, blocks_bytes integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_bitmapscan = on
AS $$
    SELECT found.id, row_number() OVER (ORDER BY found.rank DESC, found.position DESC), found.blocks_bytes
    FROM (
        SELECT m.id, m.position, m.blocks_bytes, ts_rank(m.search_vector, wanted.query) AS rank
        FROM (SELECT websearch_to_tsquery('pg_catalog.english'::regconfig, $1) AS query) wanted
        JOIN messages m ON m.search_vector @@ wanted.query
        WHERE m.tenant = nullif(current_setting('compass.tenant', true), '')
            AND m.channel = ANY($2) AND ($3 IS NULL OR m.position <= $3)
        ORDER BY rank DESC, m.position DESC
        LIMIT $4
    ) found
$$;
REVOKE ALL ON FUNCTION compass_search(text, uuid[], bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION compass_search(text, uuid[], bigint, bigint) TO compass_app;
