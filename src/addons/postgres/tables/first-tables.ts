/** The columns that an append adds to, and that are summed. */
const SUMS = `    start bigint NOT NULL, "key" text NOT NULL, "user" text NOT NULL, team text NOT NULL, organization text NOT NULL,
    config text NOT NULL, model text NOT NULL, status text NOT NULL, src text NOT NULL, kind text NOT NULL,
    input bigint NOT NULL, cache_read bigint NOT NULL, cache_write5m bigint NOT NULL, cache_write1h bigint NOT NULL,
    output bigint NOT NULL, reasoning bigint NOT NULL, input_audio bigint NOT NULL, output_audio bigint NOT NULL,
    input_image bigint NOT NULL, output_image bigint NOT NULL, units bigint NOT NULL, searches bigint NOT NULL, nano bigint NOT NULL,
    requests bigint NOT NULL, attempts bigint NOT NULL, hits bigint NOT NULL,
    ms0 bigint NOT NULL, ms1 bigint NOT NULL, ms2 bigint NOT NULL, ms3 bigint NOT NULL, ms4 bigint NOT NULL, ms5 bigint NOT NULL,
    ms6 bigint NOT NULL, ms7 bigint NOT NULL, ms8 bigint NOT NULL, ms9 bigint NOT NULL, ms10 bigint NOT NULL, ms11 bigint NOT NULL,
    first0 bigint NOT NULL, first1 bigint NOT NULL, first2 bigint NOT NULL, first3 bigint NOT NULL, first4 bigint NOT NULL,
    first5 bigint NOT NULL, first6 bigint NOT NULL, first7 bigint NOT NULL, first8 bigint NOT NULL, first9 bigint NOT NULL,
`;

/**
 * The tables of the first release. Names of objects are `COLLATE "C"`: their order is that of their bytes, whatever the database sorts by.
 * Times are milliseconds since 1970, days are days since 1970 (UTC): no time zone of a session matters.
 */
export const FIRST_TABLES = `
  CREATE TABLE epoch (id text PRIMARY KEY, at bigint NOT NULL, accepted boolean NOT NULL);
  INSERT INTO epoch VALUES (
    replace(gen_random_uuid()::text, '-', ''), (extract(epoch FROM clock_timestamp()) * 1000)::bigint, true);
  -- Rows that writers lock: 'version' before 'audit'.
  CREATE TABLE sequence (name text PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50);
  INSERT INTO sequence VALUES ('version', 0), ('audit', 0), ('ledger dropped', 0), ('ledger folded', 0);

  CREATE TABLE entity (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, version bigint NOT NULL, doc text NOT NULL,
    updated_by text NOT NULL, updated_at bigint NOT NULL, gone smallint NOT NULL, PRIMARY KEY (kind, id));
  CREATE INDEX entity_version ON entity (version);
  CREATE TABLE secret_digest (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, slot smallint NOT NULL, digest text COLLATE "C" NOT NULL,
    last4 text NOT NULL, valid_from bigint NOT NULL, valid_to bigint, PRIMARY KEY (kind, id, slot), UNIQUE (kind, digest));
  CREATE TABLE key_seen (key_id text COLLATE "C" PRIMARY KEY, last_used_at bigint NOT NULL, address text NOT NULL) WITH (fillfactor = 70);
  CREATE TABLE sealed (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, field text COLLATE "C" NOT NULL, version bigint NOT NULL,
    envelope text NOT NULL, PRIMARY KEY (kind, id, field));
  CREATE TABLE key_check (kid text PRIMARY KEY, envelope text NOT NULL);

  CREATE TABLE counter (
    node text COLLATE "C" NOT NULL, period bigint NOT NULL, spent bigint NOT NULL, leased bigint NOT NULL,
    unreconciled bigint NOT NULL, notified integer NOT NULL, PRIMARY KEY (node, period)) WITH (fillfactor = 50);
  CREATE SEQUENCE lease_id;
  CREATE TABLE lease (
    id bigint PRIMARY KEY, boot text NOT NULL, node text COLLATE "C" NOT NULL, period bigint NOT NULL, granted bigint NOT NULL,
    used bigint NOT NULL, ended_at bigint NOT NULL, state text NOT NULL) WITH (fillfactor = 50);
  CREATE UNIQUE INDEX lease_live ON lease (boot, node, period) WHERE state = 'live';
  CREATE INDEX lease_counter ON lease (node, period);
  CREATE INDEX lease_ended ON lease (ended_at) WHERE state <> 'live';
  CREATE TABLE boot (
    id text PRIMARY KEY, host text NOT NULL, role text NOT NULL, version text NOT NULL, config_hash text NOT NULL,
    started_at bigint NOT NULL, seen_at bigint NOT NULL, batch bigint NOT NULL DEFAULT 0, answer text NOT NULL DEFAULT '[]',
    shown_at bigint NOT NULL DEFAULT 0, shown_version bigint NOT NULL DEFAULT 0, refused text)
    WITH (fillfactor = 50);
  CREATE TABLE adjusted (id text PRIMARY KEY);

  CREATE TABLE claim (
    name text PRIMARY KEY, holder text NOT NULL, text text NOT NULL, until bigint NOT NULL) WITH (fillfactor = 50);
  CREATE TABLE outbox (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL, receiver text NOT NULL, body text NOT NULL,
    tries integer NOT NULL, due bigint NOT NULL, UNIQUE (id, receiver)) WITH (fillfactor = 70);

  CREATE TABLE audit (
    seq bigint PRIMARY KEY, at bigint NOT NULL, actor text NOT NULL, role text NOT NULL, address text, action text NOT NULL,
    kind text NOT NULL, id text NOT NULL, "before" text, "after" text, reason text, prev text NOT NULL, hash text NOT NULL);
  CREATE INDEX audit_object ON audit (kind, id, seq);
  CREATE INDEX audit_at ON audit (at);
  CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $fn$
    BEGIN
      -- Retention alone sets it, for the length of its transaction.
      IF TG_OP = 'DELETE' AND current_setting('gatehouse.audit_retention', true) = 'on' THEN RETURN OLD; END IF;
      RAISE EXCEPTION 'audit rows are not changed';
    END $fn$;
  CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_kept();
  CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();

  CREATE TABLE idem (
    actor text NOT NULL, key text NOT NULL, sha256 text NOT NULL, status integer NOT NULL, body text NOT NULL,
    until bigint NOT NULL, PRIMARY KEY (actor, key));
  CREATE INDEX idem_until ON idem (until);

  -- Amounts of 0 are NULL, which takes no room. Names are numbers of ledger_name; 0: an empty name.
  CREATE TABLE ledger (
    day integer NOT NULL, req uuid NOT NULL, att integer NOT NULL, kind smallint NOT NULL, src smallint NOT NULL, at bigint NOT NULL,
    asked integer NOT NULL, tier integer NOT NULL, geo integer NOT NULL, price_version integer NOT NULL, "key" integer NOT NULL,
    "user" integer NOT NULL, team integer NOT NULL, organization integer NOT NULL, config integer NOT NULL, model integer NOT NULL,
    status integer NOT NULL, input bigint, cache_read bigint, cache_write5m bigint, cache_write1h bigint, output bigint,
    reasoning bigint, input_audio bigint, output_audio bigint, input_image bigint, output_image bigint, units bigint,
    searches bigint, nano bigint, held bigint, ms bigint, first_ms bigint, request_id text, PRIMARY KEY (day, req, att, kind))
    PARTITION BY RANGE (day);
  CREATE TABLE ledger_name (
    day integer NOT NULL, kind smallint NOT NULL, id integer NOT NULL, text text COLLATE "C" NOT NULL,
    PRIMARY KEY (day, kind, text), UNIQUE (day, kind, id)) PARTITION BY RANGE (day);
  -- The sums of one append each, until they are added to ledger_sum: an append waits for no sum, and a sum misses no append.
  CREATE TABLE ledger_delta (
${SUMS}    first10 bigint NOT NULL, first11 bigint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
  CREATE INDEX ledger_delta_start ON ledger_delta (start);
  -- The digest stands for the names: an index holds no names of several kilobytes.
  CREATE TABLE ledger_sum (
${SUMS}    first10 bigint NOT NULL, first11 bigint NOT NULL, digest bytea NOT NULL, PRIMARY KEY (start, digest)) WITH (fillfactor = 70);
`;
