/**
 * `take` where each request asks for one counter that is tight, without a word of credit. The rules decide every other call, in the gateway,
 * and a second round trip saves it: near a cap, where requests wait, one is enough. NULL: the rules decide this one, too.
 * The figures are those of counting.ts and credit.ts of the rules. A test compares the answers.
 */
const takeTight = (create: string, began: string): string => `
  ${create} FUNCTION take_tight(q jsonb) RETURNS jsonb LANGUAGE plpgsql AS $fn$
    DECLARE
      most constant bigint := 9000000000000000;
      loaded jsonb := credit_load(q || jsonb_build_object('refs', q->'asks', 'fresh', true));
      now_ms bigint := (loaded->>'now')::bigint;
      ask record;
      is_covered boolean; grown bigint; added bigint; taken bigint; kept bigint; given bigint; counter jsonb; lease jsonb;
      counters jsonb := '[]'; leases jsonb := '[]'; grants jsonb := '[]';
    BEGIN
      IF coalesce((loaded->>'batch')::bigint, 0) >= (q->>'batch')::bigint THEN RETURN NULL; END IF;
      FOR ask IN
        SELECT a.place, a.node, a.period, a.cap, a.need, a.want, a.lease AS known, a.total, c.spent, c.leased, c.unreconciled, c.notified,
          c.tight_cap, c.tight_change, c.tight_since, l.id, coalesce(l.granted, 0) AS granted, coalesce(l.used, 0) AS used
        FROM jsonb_to_recordset(q->'asks') AS a(
          place integer, node text, period bigint, cap bigint, need bigint, want bigint, lease bigint, total bigint)
        JOIN counter c ON c.node = a.node AND c.period = a.period
        LEFT JOIN lease l ON l.node = a.node AND l.period = a.period AND l.boot = q->>'boot' AND l.state = 'live'
        ORDER BY a.place
      LOOP
        IF coalesce(ask.tight_since, 0) = 0 THEN RETURN NULL; END IF;
        is_covered := ask.known = 0 OR ask.known IS NOT DISTINCT FROM ask.id;
        grown := CASE WHEN is_covered THEN greatest(ask.granted, ask.total) ELSE ask.granted END;
        added := greatest(0, grown - ask.used) - greatest(0, ask.granted - ask.used);
        taken := ask.spent + ask.leased + added + ask.unreconciled;
        -- It may not be tight any more. The rules compare exactly.
        IF now_ms - ask.tight_since >= 60000 AND taken + ask.need <= ask.cap * 0.7 + 1 THEN RETURN NULL; END IF;
        SELECT coalesce(sum(floor(greatest(ask.tight_cap, ask.cap)::float8 * 0.1::float8 / 1000000::float8 * parts::float8)), 0) INTO kept FROM boot
          WHERE parts IS NOT NULL AND knows < ask.tight_change
            AND CASE WHEN id = q->>'boot' THEN now_ms ELSE seen_at END + 120000 >= ${began};
        given := greatest(0, least(ask.want, ask.cap - taken - kept));
        IF NOT is_covered OR ask.cap - taken - kept < ask.need THEN given := 0; END IF;
        grown := least(most, grown + given);
        counter := jsonb_build_object('node', ask.node, 'period', ask.period, 'spent', ask.spent, 'leased',
          ask.leased + greatest(0, grown - ask.used) - greatest(0, ask.granted - ask.used), 'unreconciled', ask.unreconciled,
          'notified', ask.notified, 'tight', jsonb_build_object('cap', ask.tight_cap, 'change', ask.tight_change, 'since', ask.tight_since));
        IF grown > ask.granted THEN
          ask.id := coalesce(ask.id, nextval('lease_id'));
          counters := counters || counter;
          leases := leases || jsonb_build_object('id', ask.id, 'boot', q->>'boot', 'node', ask.node, 'period', ask.period,
            'granted', grown, 'used', ask.used, 'endedAt', 0, 'state', 'live');
        END IF;
        lease := jsonb_build_object('lease', coalesce(ask.id, 0), 'state', CASE WHEN ask.id IS NULL THEN 'unknown' ELSE 'live' END,
          'granted', grown, 'used', ask.used, 'counter', counter);
        grants := grants || jsonb_build_object('granted', given, 'leases', jsonb_build_array(lease));
      END LOOP;
      PERFORM credit_save(jsonb_build_object('counters', counters, 'leases', leases, 'boot', q->'by', 'seenAt', now_ms,
        'batch', q->'batch', 'answer', grants::text));
      RETURN jsonb_build_object('grants', grants, 'live', (loaded->>'others')::integer + 1);
    END $fn$;
`;

export const TIGHT_TAKES = takeTight('CREATE', 'ask.period');
/** A clock that goes back to before the period began tells nothing of who has called in it. */
export const TIGHT_TAKES_OF_ANY_CLOCK = takeTight('CREATE OR REPLACE', 'least(ask.period, now_ms)');
