/**
 * The functions of the first release. Each loads, or saves, the rows of one call of the store in one round trip; the rules run between the
 * two, in the gateway. They take rows in the order of their keys, so that two calls never wait for each other.
 */
export const FIRST_FUNCTIONS = `
  CREATE FUNCTION store_now() RETURNS bigint LANGUAGE sql VOLATILE AS $fn$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $fn$;

  -- The last row of the audit, whose follower no other transaction writes until this one ends.
  CREATE FUNCTION audit_last() RETURNS jsonb LANGUAGE plpgsql AS $fn$
    BEGIN
      PERFORM FROM sequence WHERE name = 'audit' FOR UPDATE;
      RETURN (SELECT jsonb_build_object('seq', seq, 'hash', hash, 'action', action, 'kind', kind, 'id', id)
              FROM audit ORDER BY seq DESC LIMIT 1);
    END $fn$;

  CREATE FUNCTION audit_add(rows jsonb) RETURNS void LANGUAGE sql AS $fn$
    INSERT INTO audit (seq, at, actor, role, address, action, kind, id, "before", "after", reason, prev, hash)
    SELECT seq, at, actor, role, address, action, kind, id, "before", "after", reason, prev, hash
    FROM jsonb_to_recordset(rows) AS r(
      seq bigint, at bigint, actor text, role text, address text, action text, kind text, id text, "before" text, "after" text,
      reason text, prev text, hash text) ORDER BY seq $fn$;

  CREATE FUNCTION counting_load(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE
      now_ms bigint := coalesce((q->>'now')::bigint, store_now());
      by_boot text := q->>'boot';
      ids bigint[] := ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(q->'leases'));
      nodes text[]; periods bigint[]; loaded jsonb;
    BEGIN
      IF q ? 'reap' THEN
        ids := ARRAY(SELECT id FROM lease WHERE state = 'live' AND CASE WHEN q->'reap' ? 'boot' THEN boot = q->'reap'->>'boot'
                     ELSE NOT EXISTS (
                       SELECT FROM boot WHERE boot.id = lease.boot AND seen_at >= now_ms - (q->>'live')::bigint) END ORDER BY id LIMIT 5000);
      END IF;
      SELECT array_agg(node ORDER BY node, period), array_agg(period ORDER BY node, period) INTO nodes, periods FROM (
        SELECT node, period FROM jsonb_to_recordset(q->'refs') AS r(node text, period bigint)
        UNION SELECT node, period FROM lease WHERE id = ANY (ids)) AS wanted;
      INSERT INTO counter (node, period, spent, leased, unreconciled, notified)
        SELECT node, period, 0, 0, 0, 0 FROM unnest(nodes, periods) AS r(node, period) ORDER BY node COLLATE "C", period ON CONFLICT DO NOTHING;
      SELECT jsonb_build_object('counters', coalesce(jsonb_agg(to_jsonb(held)), '[]')) INTO loaded FROM (
        SELECT c.node, c.period, c.spent, c.leased, c.unreconciled, c.notified
        FROM counter c JOIN unnest(nodes, periods) AS r(node, period) ON c.node = r.node AND c.period = r.period
        ORDER BY c.node, c.period FOR UPDATE OF c) AS held;
      -- Whoever changes a lease holds its counter.
      ids := ids || ARRAY(SELECT l.id FROM lease l JOIN unnest(nodes, periods) AS r(node, period) USING (node, period)
                          WHERE (l.boot = by_boot AND l.state = 'live') OR (q ? 'lost' AND l.state = 'lost'));
      loaded := loaded || jsonb_build_object('now', now_ms, 'leases', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'boot', boot, 'node', node, 'period', period, 'granted', granted,
          'used', used, 'endedAt', ended_at, 'state', state) ORDER BY id), '[]') FROM lease WHERE id = ANY (ids)));
      IF q ? 'boot' THEN
        loaded := loaded || coalesce((SELECT jsonb_build_object('batch', batch, 'answer', answer) FROM boot
                                        WHERE id = by_boot FOR UPDATE), '{}');
        loaded := loaded || jsonb_build_object('others', (
          SELECT count(*) FROM boot WHERE id <> by_boot AND seen_at > now_ms - (q->>'live')::bigint));
      END IF;
      IF q ? 'fresh' THEN
        loaded := loaded || jsonb_build_object('ids', (SELECT coalesce(jsonb_agg(nextval('lease_id')), '[]')
                                                       FROM generate_series(1, coalesce(cardinality(nodes), 0))));
      END IF;
      IF q ? 'adjusted' THEN
        loaded := loaded || jsonb_build_object('isAdjusted', EXISTS (SELECT FROM adjusted WHERE id = q->>'adjusted'), 'last', audit_last());
      END IF;
      IF q ? 'limit' THEN
        loaded := loaded || jsonb_build_object('adjustments', (
          SELECT coalesce(jsonb_agg(jsonb_build_object('role', role, 'before', "before", 'after', "after")), '[]') FROM (
            SELECT role, "before", "after" FROM audit WHERE kind = 'counter' AND id = q->'limit'->>'id'
              AND at > now_ms - (q->'limit'->>'ms')::bigint ORDER BY seq DESC LIMIT (q->'limit'->>'most')::integer) AS found));
      END IF;
      RETURN loaded;
    END $fn$;

  CREATE FUNCTION counting_save(q jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      INSERT INTO counter (node, period, spent, leased, unreconciled, notified)
        SELECT node, period, spent, leased, unreconciled, notified FROM jsonb_to_recordset(q->'counters') AS r(
          node text, period bigint, spent bigint, leased bigint, unreconciled bigint, notified integer) ORDER BY node COLLATE "C", period
        ON CONFLICT (node, period) DO UPDATE SET spent = excluded.spent, leased = excluded.leased,
          unreconciled = excluded.unreconciled, notified = excluded.notified;
      INSERT INTO lease (id, boot, node, period, granted, used, ended_at, state)
        SELECT id, boot, node, period, granted, used, "endedAt", state FROM jsonb_to_recordset(q->'leases') AS r(
          id bigint, boot text, node text, period bigint, granted bigint, used bigint, "endedAt" bigint, state text) ORDER BY id
        ON CONFLICT (id) DO UPDATE SET granted = excluded.granted, used = excluded.used, ended_at = excluded.ended_at,
          state = excluded.state;
      IF q ? 'boot' THEN
        INSERT INTO boot (id, host, role, version, config_hash, started_at, seen_at)
          SELECT id, host, role, version, "configHash", "startedAt", (q->>'seenAt')::bigint FROM jsonb_to_record(q->'boot') AS r(
            id text, host text, role text, version text, "configHash" text, "startedAt" bigint)
          ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at;
      END IF;
      IF q ? 'batch' THEN
        UPDATE boot SET batch = (q->>'batch')::bigint, answer = q->>'answer' WHERE id = q->'boot'->>'id';
      END IF;
      IF q ? 'adjusted' THEN INSERT INTO adjusted (id) VALUES (q->>'adjusted'); END IF;
      IF q ? 'audit' THEN PERFORM audit_add(q->'audit'); END IF;
      IF q ? 'prune' THEN
        DELETE FROM lease WHERE id IN (
          SELECT id FROM lease WHERE ended_at < (q->>'prune')::bigint AND (state = 'ended' OR (state = 'lost' AND used >= granted))
          ORDER BY id LIMIT 5000 FOR UPDATE SKIP LOCKED);
        DELETE FROM boot WHERE id IN (
          SELECT id FROM boot WHERE seen_at < (q->>'prune')::bigint AND NOT EXISTS (SELECT FROM lease WHERE lease.boot = boot.id)
          ORDER BY id LIMIT 5000 FOR UPDATE SKIP LOCKED);
      END IF;
    END $fn$;

  CREATE FUNCTION counters_forget(q jsonb) RETURNS bigint LANGUAGE plpgsql AS $fn$
    DECLARE
      period_start bigint := coalesce((q->>'now')::bigint, store_now()) - (q->>'age')::bigint;
      removed bigint;
    BEGIN
      DELETE FROM counter WHERE (node, period) IN (
        SELECT node, period FROM counter WHERE period > 0 AND period < period_start AND leased = 0
        ORDER BY node, period LIMIT 50000 FOR UPDATE SKIP LOCKED);
      GET DIAGNOSTICS removed = ROW_COUNT;
      IF removed > 0 THEN
        DELETE FROM lease WHERE period > 0 AND period < period_start
          AND NOT EXISTS (SELECT FROM counter WHERE counter.node = lease.node AND counter.period = lease.period);
      END IF;
      RETURN removed;
    END $fn$;

  CREATE FUNCTION entity_load(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE answer jsonb;
    BEGIN
      SELECT jsonb_build_object('now', coalesce((q->>'now')::bigint, store_now()), 'version', value) INTO answer
        FROM sequence WHERE name = 'version' FOR UPDATE;
      answer := answer || jsonb_build_object('last', audit_last());
      RETURN answer || (
        WITH refs AS (SELECT kind, id FROM jsonb_to_recordset(q->'refs') AS r(kind text, id text))
        SELECT jsonb_build_object(
          'entities', (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'version', version, 'doc', doc,
             'updatedBy', updated_by, 'updatedAt', updated_at, 'gone', gone)), '[]') FROM entity JOIN refs USING (kind, id)),
          'counts', (SELECT coalesce(jsonb_object_agg(kind, n), '{}') FROM (
             SELECT kind, count(*) AS n FROM entity WHERE kind IN (SELECT kind FROM refs) GROUP BY kind) AS counted),
          'digests', (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'slot', slot, 'digest', digest, 'last4', last4,
             'validFrom', valid_from, 'validTo', valid_to) ORDER BY slot), '[]') FROM secret_digest s
             WHERE (kind, id) IN (SELECT kind, id FROM refs)
             OR (kind, digest) IN (SELECT kind, digest FROM jsonb_to_recordset(q->'digests') AS d(kind text, digest text))),
          'sealed', (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'field', field, 'version', version,
             'envelope', envelope) ORDER BY field), '[]') FROM sealed JOIN refs USING (kind, id))));
    END $fn$;

  CREATE FUNCTION entity_save(q jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      UPDATE sequence SET value = (q->>'version')::bigint WHERE name = 'version';
      INSERT INTO entity (kind, id, version, doc, updated_by, updated_at, gone)
        SELECT kind, id, version, doc, "updatedBy", "updatedAt", gone FROM jsonb_to_recordset(q->'entities') AS r(
          kind text, id text, version bigint, doc text, "updatedBy" text, "updatedAt" bigint, gone smallint)
        ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, doc = excluded.doc, updated_by = excluded.updated_by,
          updated_at = excluded.updated_at, gone = excluded.gone;
      DELETE FROM secret_digest WHERE (kind, id) IN (
        SELECT kind, id FROM jsonb_to_recordset(q->'digestsOf') AS r(kind text, id text));
      INSERT INTO secret_digest (kind, id, slot, digest, last4, valid_from, valid_to)
        SELECT kind, id, slot, digest, last4, "validFrom", "validTo" FROM jsonb_to_recordset(q->'digests') AS r(
          kind text, id text, slot smallint, digest text, last4 text, "validFrom" bigint, "validTo" bigint);
      DELETE FROM sealed WHERE (kind, id) IN (SELECT kind, id FROM jsonb_to_recordset(q->'sealedOf') AS r(kind text, id text));
      INSERT INTO sealed (kind, id, field, version, envelope)
        SELECT kind, id, field, version, envelope FROM jsonb_to_recordset(q->'sealed') AS r(
          kind text, id text, field text, version bigint, envelope text);
      PERFORM audit_add(q->'audit');
      PERFORM pg_notify('gatehouse_' || current_schema(), q->>'version');
    END $fn$;

  -- Keys in one order: two gateways that lock them in two orders would wait for each other.
  CREATE FUNCTION keys_seen(uses jsonb) RETURNS void LANGUAGE sql AS $fn$
    INSERT INTO key_seen (key_id, last_used_at, address)
    SELECT DISTINCT ON (u."keyId" COLLATE "C") u."keyId", u.at, u.address
    FROM jsonb_to_recordset(uses) AS u("keyId" text, at bigint, address text)
    JOIN entity e ON e.kind = 'keys' AND e.id = u."keyId" AND e.gone = 0
    ORDER BY u."keyId" COLLATE "C", u.at DESC
    ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at, address = excluded.address
    WHERE excluded.last_used_at > key_seen.last_used_at $fn$;

  CREATE FUNCTION answer_keep(q jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      DELETE FROM idem WHERE (actor, key) IN (
        SELECT actor, key FROM idem WHERE until <= coalesce((q->>'now')::bigint, store_now()) ORDER BY actor, key FOR UPDATE SKIP LOCKED);
      INSERT INTO idem (actor, key, sha256, status, body, until)
        SELECT actor, key, sha256, status, body, until FROM jsonb_to_record(q->'answer') AS r(
          actor text, key text, sha256 text, status integer, body text, until bigint) ON CONFLICT DO NOTHING;
      DELETE FROM idem WHERE (actor, key) IN (
        SELECT actor, key FROM idem WHERE actor = q->'answer'->>'actor' ORDER BY until, key
        LIMIT greatest(0, (SELECT count(*) FROM idem WHERE actor = q->'answer'->>'actor') - (q->>'most')::bigint)
        FOR UPDATE SKIP LOCKED);
    END $fn$;

  -- The numbers of names of a day, new ones among them up to a number of each kind. Answers are [kind, id, text].
  CREATE FUNCTION ledger_names(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE of_day integer := (q->>'day')::integer;
    BEGIN
      -- One writer of names a day: without it, two would give one number twice.
      PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || ' ledger_name', of_day));
      INSERT INTO ledger_name (day, kind, id, text)
        SELECT of_day, kind, known + place, text FROM (
          SELECT w.kind, w.text, n.known, row_number() OVER (PARTITION BY w.kind ORDER BY w.place) AS place
          FROM (SELECT kind, text, min(place) AS place FROM jsonb_to_recordset(q->'names') AS r(kind smallint, text text, place integer)
                GROUP BY kind, text) AS w
          CROSS JOIN LATERAL (SELECT count(*) AS known FROM ledger_name WHERE day = of_day AND kind = w.kind) AS n
          WHERE NOT EXISTS (SELECT FROM ledger_name l WHERE l.day = of_day AND l.kind = w.kind AND l.text = w.text)) AS fresh
        WHERE known + place <= (q->>'most')::bigint;
      RETURN (SELECT coalesce(jsonb_agg(jsonb_build_array(l.kind, l.id, l.text)), '[]')
              FROM ledger_name l WHERE l.day = of_day AND (l.kind, l.text) IN (
                SELECT kind, text FROM jsonb_to_recordset(q->'names') AS r(kind smallint, text text)));
    END $fn$;

  -- Makes the partitions of a day. Attaching one lets appends to other days go on; PARTITION OF would wait for all of them.
  CREATE FUNCTION ledger_open_day(of_day integer) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || ' ledger days', 0));
      IF of_day < (SELECT value FROM sequence WHERE name = 'ledger dropped') THEN
        RAISE EXCEPTION 'the ledger of this day was dropped' USING ERRCODE = 'GH001';
      END IF;
      IF to_regclass(format('%I.%I', current_schema(), 'ledger_' || of_day)) IS NOT NULL THEN RETURN; END IF;
      EXECUTE format('CREATE TABLE %I (LIKE ledger INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', 'ledger_' || of_day);
      EXECUTE format('CREATE TABLE %I (LIKE ledger_name INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', 'ledger_name_' || of_day);
      EXECUTE format('ALTER TABLE ledger ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', 'ledger_' || of_day, of_day, of_day + 1);
      EXECUTE format('ALTER TABLE ledger_name ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', 'ledger_name_' || of_day, of_day, of_day + 1);
    END $fn$;

  CREATE FUNCTION boot_seen(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE now_ms bigint := coalesce((q->>'now')::bigint, store_now());
    BEGIN
      INSERT INTO boot (id, host, role, version, config_hash, started_at, seen_at, shown_at, shown_version, refused)
        SELECT id, host, role, version, q->'shown'->>'configHash', "startedAt", now_ms, now_ms, (q->'shown'->>'version')::bigint,
          q->'shown'->>'refused' FROM jsonb_to_record(q->'boot') AS r(id text, host text, role text, version text, "startedAt" bigint)
        ON CONFLICT (id) DO UPDATE SET config_hash = excluded.config_hash, seen_at = excluded.seen_at, shown_at = excluded.shown_at,
          shown_version = excluded.shown_version, refused = excluded.refused;
      RETURN (SELECT jsonb_build_object('gateways', count(*), 'hashes', count(DISTINCT config_hash))
              FROM boot WHERE shown_at > now_ms - (q->>'live')::bigint);
    END $fn$;

  CREATE FUNCTION claim_take(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE now_ms bigint := coalesce((q->>'now')::bigint, store_now());
    BEGIN
      IF NOT EXISTS (SELECT FROM claim WHERE name = q->>'name') AND (SELECT count(*) FROM claim) >= (q->>'most')::bigint THEN
        DELETE FROM claim WHERE name IN (SELECT name FROM claim WHERE until <= now_ms ORDER BY name FOR UPDATE SKIP LOCKED);
        IF (SELECT count(*) FROM claim) >= (q->>'most')::bigint THEN
          RAISE EXCEPTION 'the store has % claims', q->>'most' USING ERRCODE = 'GH002';
        END IF;
      END IF;
      INSERT INTO claim (name, holder, text, until) VALUES (q->>'name', q->>'holder', q->>'text', now_ms + (q->>'ms')::bigint)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, text = excluded.text, until = excluded.until
        WHERE claim.until <= now_ms OR claim.holder = excluded.holder;
      RETURN (SELECT jsonb_build_object('holder', holder, 'text', text, 'until', until) FROM claim WHERE name = q->>'name');
    END $fn$;

  CREATE FUNCTION outbox_add(q jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      IF (SELECT count(*) FROM outbox) + jsonb_array_length(q->'events') > (q->>'most')::bigint THEN
        RAISE EXCEPTION 'the outbox has % events', q->>'most' USING ERRCODE = 'GH002';
      END IF;
      INSERT INTO outbox (id, receiver, body, tries, due)
        SELECT value->>'id', value->>'to', value->>'body', 0, coalesce((q->>'now')::bigint, store_now())
        FROM jsonb_array_elements(q->'events') WITH ORDINALITY AS e(value, place) ORDER BY place
        ON CONFLICT DO NOTHING;
    END $fn$;

  -- Events that another gateway takes at this moment are not waited for.
  CREATE FUNCTION outbox_take(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE
      now_ms bigint := coalesce((q->>'now')::bigint, store_now());
      events jsonb;
    BEGIN
      WITH due AS (SELECT number FROM outbox WHERE due <= now_ms AND receiver IN (SELECT jsonb_array_elements_text(q->'to'))
                     ORDER BY number LIMIT (q->>'most')::bigint FOR UPDATE SKIP LOCKED),
        taken AS (UPDATE outbox o SET tries = o.tries + 1, due = now_ms + (q->>'ms')::bigint FROM due WHERE o.number = due.number
                  RETURNING o.number, o.id, o.receiver, o.body, o.tries)
        SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'to', receiver, 'body', body, 'tries', tries) ORDER BY number), '[]')
        INTO events FROM taken;
      RETURN events;
    END $fn$;
`;
