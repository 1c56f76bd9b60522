import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import {
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_NAMES,
  LEDGER_SOURCES,
  LEDGER_SUMS,
} from '../../../core/ports/ledger.ts';
import { CAPTURE_ANSWERS } from './capture-schemas.ts';
import { CONSOLE_ANSWERS } from './console-answers.ts';
import { REQUEST_COSTS_SCHEMA, REQUEST_LINE_SCHEMA, REQUEST_SCHEMA } from './request-schemas.ts';
import { ROLES, SCOPES } from './roles.ts';
import { flag, ID, integer, list, moment, nullable, object, own, text, texts } from './schema-words.ts';

/** The members of a row of the ledger, in the order of an export. */
export const LEDGER_COLUMNS = [
  'req',
  'request_id',
  'att',
  'kind',
  'at',
  ...LEDGER_NAMES,
  'asked',
  'src',
  'tier',
  'geo',
  'price_version',
  'labels',
  ...LEDGER_SUMS,
  'cost_usd',
  'held',
  'ms',
  'first_ms',
];

const META = {
  id: ID,
  owner: text('`store`, or the file and line that hold the object: such an object is changed there.', {
    examples: ['store', 'keys.yaml:12'],
  }),
  etag: text('For `If-Match`.', { examples: ['"12"'] }),
  updated_by: nullable(text('Who wrote it last; null for an object of a file.')),
  updated_at: nullable(moment('When.')),
} as const;

const CREDENTIAL = object({
  slot: integer('0: the secret of the key. 1: the one before its last rotation.'),
  last4: text('The last characters of the secret; empty if unknown.'),
  valid_from: nullable(moment('Null if unknown.')),
  valid_to: nullable(moment('Time from which it is refused; null: never.')),
});

const NODE_SUMS = Object.fromEntries(
  LEDGER_SUMS.map((sum) => [sum, integer(sum === 'nano' ? 'The cost in nano-USD, exact.' : `Sum of ${sum}.`)]),
);
const HISTOGRAM = (what: string): Schema =>
  list(
    { type: 'integer' },
    {
      description: `Counts of ${what} by bucket: up to 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000 ms, and above.`,
    },
  );

const named = (noun: string): Schema => object({ ...META, spec: own(`${noun}_spec`) });
const secret = (of: string, what: string): Schema =>
  object({ [what]: nullable(text('The secret. It is shown once; null in a dry run.')), object: own(of) });

/** A rule or an amount that holds for a key through its team, its organization and the gateway. */
const EFFECTIVE = object(
  {
    kind: text('What holds.', { enum: ['budget', 'limits', 'models', 'config', 'fields'] }),
    node: text('Who has it.', { examples: ['team:search', 'key:batch', 'gateway'] }),
    owner: text('`store`, or the file and line that hold it.'),
    spec: { description: 'Its value: a budget, limits, patterns of models, a gateway config.' },
    budget: text('The id of the budget: `GET /budgets/ID` has what is spent.'),
  },
  ['kind', 'node', 'owner', 'spec'],
);

export const ANSWER_SCHEMAS = {
  ...CAPTURE_ANSWERS,
  ...CONSOLE_ANSWERS,
  organization: named('organization'),
  team: named('team'),
  limit: named('limit'),
  price: named('price'),
  alert: named('alert'),
  prompt: named('prompt'),
  config: named('config'),
  key: object(
    {
      ...META,
      spec: own('key_spec'),
      state: text('expired: `expires_at` has come. disabled: `disabled` is set. revoked: it has no secret any more.', {
        enum: ['active', 'disabled', 'expired', 'revoked'],
      }),
      credentials: list(CREDENTIAL, { description: 'The secrets of the key, without anything of their digests.' }),
      last_used: nullable({
        ...object({ at: moment('When.'), address: text('Of the client.') }),
        description: 'Null: not known.',
      }),
      effective: list(EFFECTIVE, {
        description: 'Every budget, limit and rule above the key, its own first. Only where one key is shown.',
      }),
    },
    [...Object.keys(META), 'spec', 'state', 'credentials', 'last_used'],
  ),
  created_key: secret('key', 'key'),
  budget: object({
    ...META,
    id: text('Of an object of the store; else its `name`.', { examples: ['team:search:month:usd'] }),
    name: text('As in metrics, logs, alerts, errors and the audit: node, period, unit and patterns of models.', {
      examples: ['team:search:month:usd:claude-*'],
    }),
    part_of: nullable(
      text('The object whose `spec.budgets` has it; null for an object of its own.', { examples: ['teams/search'] }),
    ),
    node: text('The organization, team or key.', { examples: ['team:search'] }),
    spec: own('budget_spec'),
    unit: text('The unit of the amounts: nano-USD, or tokens.', { enum: ['nano_usd', 'tokens'] }),
    cap: integer('In `unit`.'),
    period_start: nullable(moment('Of the current period; null for a total.')),
    period_end: nullable(moment('Its end, excluded.')),
    spent: nullable(integer('In `unit`, in the current period. Null: the gateway has no state store.')),
    leased: nullable(integer('Granted to running processes and not spent.')),
    unreconciled: nullable(integer('Granted to processes that ended and not reported: as good as spent.')),
    saturated: flag('More was spent than a counter holds (9 × 10¹⁵); `spent` shows this limit.'),
  }),
  usage_row: object(
    {
      start: moment('Start of the hour, the day or the time.'),
      date: text('With `time_zone` and `step=day`: the date of the day.', { examples: ['2026-11-01'] }),
      day: text(
        'With `time_zone` and `step=day`. zone: a day of the time zone. utc: a UTC day, whose hours are not kept any more. cut: the first day with hours, without those that belong to the UTC day before.',
        { enum: ['zone', 'utc', 'cut'] },
      ),
      ...Object.fromEntries([...LEDGER_DIMENSIONS, 'provider'].map((name) => [name, text('With `by`.')])),
      labels: {
        description: 'With `by=label.NAME`: values of metadata by name; empty: none.',
        type: 'object',
        additionalProperties: { type: 'string' },
      },
      requests: integer('Requests.'),
      attempts: integer('Tries at upstreams.'),
      hits: integer('Replies of the cache.'),
      ...NODE_SUMS,
      cost_usd: text('The cost in USD, exact.', { examples: ['12.0305'] }),
      saturated: {
        description: 'Names of sums that exceed the largest exact number, which is shown in their place.',
        type: 'array',
        items: text('Name of the sum.', { enum: LEDGER_SUMS }),
      },
      ms: HISTOGRAM('durations'),
      first_ms: HISTOGRAM('times to the first content'),
    },
    ['start', 'requests', 'attempts', 'hits', ...LEDGER_SUMS, 'cost_usd', 'saturated', 'ms', 'first_ms'],
  ),
  ledger_row: object({
    req: text('Id of the request in the ledger.'),
    request_id: text('Its id in log and record. Callers may choose it, and repeat it.'),
    att: integer('Number of the try.'),
    kind: text('What the row is about.', { enum: LEDGER_KINDS }),
    at: moment('When.'),
    ...Object.fromEntries(LEDGER_NAMES.map((name) => [name, text('Empty: none.')])),
    asked: text('The model as the caller wrote it.'),
    src: text('Where the figures come from.', { enum: LEDGER_SOURCES }),
    tier: text('Service tier.'),
    geo: text('Region.'),
    price_version: text('Of the prices.'),
    labels: text('Metadata of `state.ledger_labels`, as JSON; empty: none.'),
    ...NODE_SUMS,
    cost_usd: text('The cost in USD, exact.'),
    held: integer('What was reserved, in nano-USD.'),
    ms: integer('Duration.'),
    first_ms: nullable(integer('Time to the first content.')),
  }),
  audit_row: object({
    seq: integer('From 1, without gaps.'),
    at: moment('When.'),
    actor: text('Who.'),
    role: text('With which role.'),
    address: nullable(text('Of the client.')),
    action: text('What.', { examples: ['put', 'delete', 'adjust', 'refused', 'export'] }),
    kind: text('The kind of object.'),
    id: text('Its id.'),
    before: { description: 'The object before, with its secrets as keyed hashes; null: there was none.' },
    after: { description: 'The object after; null: there is none.' },
    reason: nullable(text('The reason.')),
    prev: text('The hash of the row before.'),
    hash: text('SHA-256 over `prev` and the row or, behind the id of a key and a point, HMAC-SHA-256.'),
  }),
  audit_verdict: object(
    {
      intact: { type: 'boolean' },
      rows: integer('Rows of an intact audit.'),
      seq: integer('The number of its last row.'),
      head: text('The hash of its last row.'),
      parts: list(
        object(
          {
            from: integer('The first row of the part.'),
            to: integer('Its last row.'),
            proof: {
              enum: ['none', 'key', 'unknown_key'],
              description:
                '`key`: only a holder of `state.encryption_keys` can have written the rows. `none`: write access to the store is enough. `unknown_key`: their key left the list, and nothing can be said.',
            },
            key: text('Name of the key.'),
          },
          ['from', 'to', 'proof'],
        ),
        { description: 'What the hashes prove, in parts.' },
      ),
      at: integer('The first row that does not continue the chain.'),
      reason: text('Why not.'),
    },
    ['intact'],
  ),
  token: object(
    {
      ...META,
      role: text('Its rights.', { enum: ROLES }),
      content: flag('It may read the texts of requests.'),
      expires_at: moment('Time from which it is refused.'),
      networks: texts('Absent: any.'),
      scopes: list({ type: 'string', enum: SCOPES }, { description: 'Absent: all.' }),
      last4: text('The last characters of the token.'),
      state: text('Whether it is accepted.', { enum: ['active', 'expired'] }),
    },
    [...Object.keys(META), 'role', 'content', 'expires_at', 'last4', 'state'],
  ),
  created_token: secret('token', 'token'),
  identity: object(
    {
      actor: text('As in the audit.'),
      role: text('Its rights.', { enum: ROLES }),
      scopes: texts('Absent: all.'),
      content: flag('The texts of requests may be read.'),
      expires_at: nullable(moment('Of the token.')),
    },
    ['actor', 'role', 'content', 'expires_at'],
  ),
  replicas: object({
    items: list(
      object({
        id: text('Another one after each start.'),
        host: text('Its machine or pod.'),
        role: text('`single`, or `primary` of several processes.', { enum: ['single', 'primary', 'worker'] }),
        release: text('Of the gateway.'),
        settings_hash: text('Of the settings in force.'),
        version: integer('The version of the store that it serves with.'),
        lag: integer('Versions behind the latest of them.'),
        started_at: moment('When.'),
        seen_at: moment('When it last reported.'),
        refused_reload: nullable(object({ at: moment('When.'), problem: text('The first mistake, with its place.') })),
        answers: flag('This gateway answers the call.'),
      }),
    ),
    rolled_back: nullable(text('Why nothing is written: the store went back to an earlier version.')),
  }),
  document: { description: 'An OpenAPI document.', type: 'object' },
  request_line: REQUEST_LINE_SCHEMA,
  request: REQUEST_SCHEMA,
  request_costs: REQUEST_COSTS_SCHEMA,
  explanation: {
    description: 'What became or would become of a request: docs/operate/explain.md. Its fields may grow in number.',
    type: 'object',
  },
} satisfies Readonly<Record<string, Schema>>;

export type AnswerName = keyof typeof ANSWER_SCHEMAS;

export const PROBLEM_SCHEMA: Schema = object(
  {
    type: text('`urn:gatehouse:problem:` and the code.'),
    title: text('Of the code.'),
    status: integer('Of HTTP.'),
    code: text('Stable; clients branch on it.'),
    detail: text('What was wrong in this call.'),
    errors: list(object({ pointer: text('JSON pointer into the body.'), message: text('What is wrong there.') })),
  },
  ['type', 'title', 'status', 'code', 'detail'],
  { description: 'Problem details (RFC 9457).' },
);
