-- Functions keep the schema they were made in, whatever the caller's search path is.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'accounts', 'channel_groups', 'channels', 'channel_members', 'channel_subscriptions', 'topics', 'messages',
        'channel_pins', 'asks', 'unrouted', 'owed', 'cursors', 'sessions', 'placements', 'agent_activity', 'tokens'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            -- No index serves this condition: on a table without statistics the planner would otherwise walk all
            -- rows of the tenant instead of looking up the ids a statement names.
            'CREATE POLICY tenant_rows ON %I
             USING ((tenant || '''') = nullif(current_setting(''compass.tenant'', true), ''''))
             WITH CHECK (tenant = nullif(current_setting(''compass.tenant'', true), ''''))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO compass_app', name);
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO compass_app', current_schema());
END
$$;
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON tenants USING (id = nullif(current_setting('compass.tenant', true), ''));
GRANT SELECT ON tenants, nodes TO compass_app;

CREATE FUNCTION compass_now_ms() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path FROM CURRENT
AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE FUNCTION compass_tenants() RETURNS TABLE (tenant text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$ SELECT id FROM tenants ORDER BY id $$;

CREATE FUNCTION compass_find_token(wanted bytea) RETURNS SETOF tokens
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$ SELECT * FROM tokens WHERE hash = wanted $$;

CREATE FUNCTION compass_renew_lease(node_id uuid, lease_ms bigint) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
    INSERT INTO nodes (id, lease_until_ms) VALUES (node_id, compass_now_ms() + lease_ms)
    ON CONFLICT (id) DO UPDATE SET lease_until_ms = excluded.lease_until_ms
    RETURNING lease_until_ms
$$;

CREATE FUNCTION compass_release(node_id uuid) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
    UPDATE sessions SET closed_at_ms = compass_now_ms() WHERE node = node_id AND closed_at_ms IS NULL;
    UPDATE nodes SET lease_until_ms = 0 WHERE id = node_id;
    SELECT compass_now_ms();
$$;

CREATE FUNCTION compass_unrouted(node_id uuid, age_ms bigint, max_rows bigint)
RETURNS TABLE (tenant text, message uuid, author uuid)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
    SELECT u.tenant, u.message, u.author
    FROM unrouted u
    WHERE u.recorded_at_ms <= compass_now_ms() - age_ms
      AND (
        NOT EXISTS (
            SELECT 1 FROM sessions s JOIN nodes n ON n.id = s.node
            WHERE s.account = u.author AND s.closed_at_ms IS NULL AND n.lease_until_ms > compass_now_ms()
        )
        OR EXISTS (
            SELECT 1 FROM sessions s
            WHERE s.account = u.author AND s.closed_at_ms IS NULL AND s.node = node_id
        )
      )
    ORDER BY u.recorded_at_ms, u.message
    LIMIT max_rows
$$;

CREATE FUNCTION compass_live_tenants(node_id uuid) RETURNS TABLE (tenant text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$ SELECT DISTINCT s.tenant FROM sessions s WHERE s.node = node_id AND s.closed_at_ms IS NULL ORDER BY 1 $$;

REVOKE EXECUTE ON FUNCTION
    compass_now_ms(), compass_tenants(), compass_find_token(bytea), compass_renew_lease(uuid, bigint),
    compass_release(uuid), compass_unrouted(uuid, bigint, bigint), compass_live_tenants(uuid)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    compass_now_ms(), compass_tenants(), compass_find_token(bytea), compass_renew_lease(uuid, bigint),
    compass_release(uuid), compass_unrouted(uuid, bigint, bigint), compass_live_tenants(uuid)
TO compass_app;
