/**
 * Standing credit: which counters are tight, and what each process may use. `credit_load` and `credit_save` are the functions of the first
 * release with what they add. The names of the first release lead to functions that keep the bound while its gateways still serve: they get no
 * lease while others have credit, others get no credit while they live, and every counter that they change is tight.
 */
export const CREDIT_TABLES = `
  ALTER TABLE counter ADD COLUMN tight_cap bigint, ADD COLUMN tight_change bigint, ADD COLUMN tight_since bigint;
  CREATE INDEX counter_change ON counter (tight_change) WHERE tight_change > 0;
  -- parts is NULL: it has no credit and asks for none. with_credit is false: a process of the first release, which does not heed that of others.
  ALTER TABLE boot ADD COLUMN parts integer, ADD COLUMN knows bigint, ADD COLUMN with_credit boolean NOT NULL DEFAULT false;
  -- The last change of tightness. It is locked before counters.
  INSERT INTO sequence VALUES ('credit', 0);

  -- A process with parts stays, however long it has been silent, whichever release removes old ones.
  CREATE FUNCTION boot_is_kept() RETURNS trigger LANGUAGE plpgsql AS $fn$
    BEGIN
      IF OLD.parts > 0 THEN RETURN NULL; END IF;
      RETURN OLD;
    END $fn$;
  CREATE TRIGGER boot_kept BEFORE DELETE ON boot FOR EACH ROW EXECUTE FUNCTION boot_is_kept();

  -- Counters become tight whose caps are not known here.
  CREATE FUNCTION credit_tighten(refs jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    DECLARE
      now_ms bigint := store_now();
      next_change bigint;
    BEGIN
      SELECT greatest(value + 1, now_ms) INTO next_change FROM sequence WHERE name = 'credit' FOR UPDATE;
      -- The last change is that of a counter: a process that has heard of all of them knows it.
      WITH changed AS (
        UPDATE counter c SET tight_cap = coalesce(c.tight_cap, 0), tight_since = now_ms, tight_change = next_change + r.place
          FROM (SELECT node, period, row_number() OVER (ORDER BY node, period) - 1 AS place
                FROM jsonb_to_recordset(refs) AS n(node text, period bigint)) AS r
          WHERE c.node = r.node AND c.period = r.period AND coalesce(c.tight_since, 0) = 0 RETURNING c.tight_change)
        UPDATE sequence SET value = last.change FROM (SELECT max(tight_change) AS change FROM changed) AS last
          WHERE name = 'credit' AND last.change IS NOT NULL;
    END $fn$;
  SELECT credit_tighten(jsonb_agg(jsonb_build_object('node', node, 'period', period)))
    FROM counter WHERE spent + leased + unreconciled > 0 HAVING count(*) > 0;

  ALTER FUNCTION counting_load(jsonb) RENAME TO counting_rows;
  ALTER FUNCTION counting_save(jsonb) RENAME TO counting_write;

  CREATE FUNCTION counting_load(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    BEGIN
      PERFORM FROM sequence WHERE name = 'credit' FOR UPDATE;
      IF q ? 'fresh' AND EXISTS (SELECT FROM boot WHERE parts > 0) THEN
        RAISE EXCEPTION 'gateways of a later release have standing credit' USING ERRCODE = '55000';
      END IF;
      RETURN counting_rows(q);
    END $fn$;

  CREATE FUNCTION counting_save(q jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      PERFORM counting_write(q);
      PERFORM credit_tighten(coalesce(q->'counters', '[]'));
    END $fn$;

  CREATE FUNCTION credit_load(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE loaded jsonb;
    BEGIN
      IF q ? 'lock' THEN PERFORM FROM sequence WHERE name = 'credit' FOR UPDATE; END IF;
      -- Each of the statements sees what was committed before it, also while the one before waited for locks.
      loaded := counting_rows(q);
      loaded := loaded || jsonb_build_object('lastChange', (SELECT value FROM sequence WHERE name = 'credit'), 'tight', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('node', c.node, 'period', c.period, 'tight', jsonb_build_object(
          'cap', c.tight_cap, 'change', c.tight_change, 'since', c.tight_since))), '[]')
        FROM jsonb_to_recordset(loaded->'counters') AS r(node text, period bigint)
        JOIN counter c ON c.node = r.node AND c.period = r.period WHERE c.tight_cap IS NOT NULL));
      IF q ? 'fresh' THEN
        loaded := loaded || (
          SELECT jsonb_build_object(
            'uses', coalesce(jsonb_agg(jsonb_build_object('id', id, 'parts', parts, 'knows', knows, 'seenAt', seen_at))
              FILTER (WHERE parts IS NOT NULL), '[]'),
            'isMixed', coalesce(bool_or(NOT with_credit AND id <> q->>'boot' AND seen_at > (loaded->>'now')::bigint - (q->>'live')::bigint), false))
          FROM boot WHERE parts IS NOT NULL OR NOT with_credit);
      END IF;
      IF q ? 'knows' THEN
        loaded := loaded || jsonb_build_object('changes', (
          SELECT coalesce(jsonb_agg(jsonb_build_object('node', node, 'period', period, 'tight', jsonb_build_object(
            'cap', tight_cap, 'change', tight_change, 'since', tight_since)) ORDER BY tight_change), '[]') FROM (
            SELECT node, period, tight_cap, tight_change, tight_since FROM counter c
            WHERE tight_change > 0 AND tight_change > (q->>'knows')::bigint
              AND NOT EXISTS (SELECT FROM jsonb_to_recordset(loaded->'counters') AS r(node text, period bigint)
                              WHERE r.node = c.node AND r.period = c.period)
            ORDER BY tight_change LIMIT (q->>'changes')::bigint) AS found));
      END IF;
      RETURN loaded;
    END $fn$;

  CREATE FUNCTION credit_save(q jsonb) RETURNS void LANGUAGE plpgsql AS $fn$
    BEGIN
      PERFORM counting_write(q);
      UPDATE counter c SET tight_cap = r.cap, tight_change = r.change, tight_since = r.since
        FROM (SELECT node, period, (tight->>'cap')::bigint AS cap, (tight->>'change')::bigint AS change, (tight->>'since')::bigint AS since
              FROM jsonb_to_recordset(q->'counters') AS n(node text, period bigint, tight jsonb) WHERE tight IS NOT NULL) AS r
        WHERE c.node = r.node AND c.period = r.period
          AND (c.tight_cap, c.tight_change, c.tight_since) IS DISTINCT FROM (r.cap, r.change, r.since);
      IF q ? 'change' THEN UPDATE sequence SET value = (q->>'change')::bigint WHERE name = 'credit'; END IF;
      IF q ? 'boot' THEN UPDATE boot SET with_credit = true WHERE id = q->'boot'->>'id' AND NOT with_credit; END IF;
      IF q ? 'use' THEN
        UPDATE boot SET parts = (q->'use'->>'parts')::integer, knows = (q->'use'->>'knows')::bigint WHERE id = q->'use'->>'id';
      END IF;
    END $fn$;

  CREATE FUNCTION boot_shown(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE answer jsonb := boot_seen(q);
    BEGIN
      UPDATE boot SET with_credit = true WHERE id = q->'boot'->>'id' AND NOT with_credit;
      RETURN answer;
    END $fn$;
`;
