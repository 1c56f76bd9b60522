import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { ROLES } from './roles.ts';
import { ID, flag, integer, list, moment, nullable, number, object, own, text } from './schema-words.ts';

// Bodies and answers of the calls of console-routes.ts.

const PLACE = {
  file: text('In the folder of the settings.', { examples: ['gateway/production.yaml'] }),
  line: integer('From 1.'),
  column: integer('From 1.'),
} as const;

/** An entry of catalog.yaml. The loader of the settings checks it, with the messages of `gatehouse validate`. */
export const ENTRY: Schema = {
  description:
    'An entry of `providers` of catalog.yaml, `provider` among its fields. A secret is the secret itself, `${env:NAME}` or `${file:PATH}`.',
  type: 'object',
  minProperties: 1,
  examples: [{ provider: 'simulator' }],
};
const MODEL = text('A model of the entry, for a small call. Default: the first of its models.', { maxLength: 256 });

/** Names of files that a text may take the place of: no path leads out of the folder. */
const FILES: Schema = {
  description: 'Texts in the place of settings files, or of their tests, by their names in the folder.',
  type: 'object',
  minProperties: 1,
  maxProperties: 16,
  propertyNames: {
    pattern: '^(?:(?:gateway|prompts)/[A-Za-z0-9][A-Za-z0-9._-]{0,63}|server|catalog|keys|teams|prices)\\.yaml$',
  },
  additionalProperties: { type: 'string', maxLength: 1_048_576 },
  examples: [{ 'gateway/production.yaml': 'provider: "@simulator"\n' }],
};

export const CONSOLE_BODIES = {
  create_session: object({ token: text('A token of this API, or `admin.token`.', { maxLength: 512 }) }),
  settings_effect: object(
    {
      files: FILES,
      last: integer('So many of the latest requests that have ended.', { minimum: 1, maximum: 1000, default: 1000 }),
    },
    ['files'],
  ),
  settings_tests: object(
    { files: FILES, filter: text('Only tests with this text in their name or file.', { maxLength: 200 }) },
    ['files'],
  ),
  test_provider: object(
    {
      slug: text('An entry in force. Either this or `entry`.', { maxLength: 64 }),
      entry: ENTRY,
      model: MODEL,
      call: { ...flag('true: the last step is a small call of the model, which costs.'), default: false },
    },
    [],
  ),
  draft_provider: object({ id: ID, spec: ENTRY }),
  draft_key: object({
    id: ID,
    spec: { description: 'The fields of an entry of keys.yaml without its secret.', type: 'object', examples: [{}] },
  }),
  playground: object(
    {
      as: text('The id of the key in whose name the request is sent.', { maxLength: 256 }),
      method: text('Of HTTP.', { enum: ['GET', 'POST'], default: 'POST' }),
      path: text('With its query.', { default: '/v1/chat/completions', pattern: '^/[!-~]*$', maxLength: 2048 }),
      headers: {
        description: 'Headers of the client, without credentials.',
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 8192 },
        maxProperties: 50,
      },
      body: { description: 'The body of the client, as JSON.' },
    },
    ['as'],
  ),
} satisfies Readonly<Record<string, Schema>>;

const FEATURES = object({
  store: flag('server.yaml has `state`.'),
  owns: list({ type: 'string' }, { description: 'Kinds of objects that the store holds.' }),
  seals: flag('`state.encryption_keys` is set: the store may hold credentials.'),
  records: flag('Records are kept on disk (`state.records`).'),
  explain: text('Which requests are kept to be explained (`admin.explain`).', { enum: ['asked', 'all', 'none'] }),
  sign_in: flag('A token is needed to call.'),
});

const SESSION = {
  user: text('As in the audit.'),
  role: text('Its rights.', { enum: ROLES }),
  scopes: list({ type: 'string' }, { description: 'Absent: all.' }),
  content: flag('The texts of requests may be read.'),
  expires_at: nullable(moment('Of the session, or of the token.')),
  session: flag('The call has a session: signing out ends it.'),
  features: FEATURES,
  version: text('Of the gateway.'),
  settings_hash: text('Of the settings in force.'),
  boot_id: text('Another one after each start of the gateway.'),
  replica: text('The host of the gateway that answers: records and the stream are its own.'),
  started_at: moment('Records that are not on disk begin here.'),
  time_zone: text('Of the gateway.', { examples: ['Europe/Berlin'] }),
  data_url: nullable(text('Where applications call, as the listener has it.', { examples: ['http://127.0.0.1:8787'] })),
} as const;
const SESSION_REQUIRED = Object.keys(SESSION).filter((name) => name !== 'scopes');

const COUNTS = (what: string): Schema => list({ type: 'integer' }, { description: `${what}, a number for each step.` });
const TIMES = (what: string): Schema =>
  list({ type: ['number', 'null'] }, { description: `${what} in milliseconds, one for each step; null: no request.` });
const SERIES = object({
  name: text('The value of `by`; empty: none.'),
  requests: COUNTS('Requests that ended'),
  errors: COUNTS('Failed ones'),
  rescued: COUNTS('Complete ones after a try or a target had failed'),
  cached: COUNTS('Replies of the cache'),
  tokens_in: COUNTS('Tokens of the prompts'),
  tokens_out: COUNTS('Tokens of the replies'),
  nano: COUNTS('The cost in nano-USD'),
  unpriced: COUNTS('Requests whose model has no price, so that `nano` is without their cost'),
  p50_ms: TIMES('The median duration'),
  p95_ms: TIMES('The duration that 95 % do not exceed'),
  first_p95_ms: TIMES('The time to the first content that 95 % do not exceed'),
});

const HEALTH = object(
  {
    state: text('As in /readyz?verbose.', { enum: ['closed', 'open', 'half_open'] }),
    enforced: flag('Requests skip the target while it is open.'),
    failed: integer('Failures that count.'),
    of: integer('Requests that count.'),
    last_error: text('The kind of the last failure.'),
    retry_in_ms: number('Until a request may try the target.'),
    worker: integer('The worker that sees it so.'),
  },
  ['state'],
);

const DIAGNOSTIC = object(
  {
    ...PLACE,
    severity: text('Only errors refuse settings.', { enum: ['error', 'warning'] }),
    message: text('What is wrong, and what would be right.'),
  },
  ['file', 'severity', 'message'],
);

const PATCH = {
  folder: text('The folder of the settings on the machine of the gateway.'),
  file: text('The file that it changes.', { examples: ['catalog.yaml'] }),
  patch: text('A unified diff. `git apply` takes it in the folder of the settings.'),
  apply: list({ type: 'string' }, { description: 'Commands, one after the other.' }),
  set: list({ type: 'string' }, { description: 'Environment variables that the patch names, as lines of a shell.' }),
  diagnostics: list(own('diagnostic')),
} as const;

export const CONSOLE_ANSWERS = {
  session: object(SESSION, SESSION_REQUIRED),
  created_session: object({ ...SESSION, csrf: text('The second half, for `x-gatehouse-csrf` of every call.') }, [
    ...SESSION_REQUIRED,
    'csrf',
  ]),
  diagnostic: DIAGNOSTIC,
  settings: object({
    hash: text('Of the settings in force.'),
    loaded_at: moment('When they took effect.'),
    reload: nullable(
      object({
        ok: flag('false: the files have mistakes, and the settings before still serve.'),
        at: moment('Of the last reload.'),
        diagnostics: list(own('diagnostic')),
      }),
    ),
    warnings: list(own('diagnostic'), { description: 'Of the settings in force.' }),
    files: list(object({ path: text('For `GET /settings/file`.'), bytes: integer('Its size.') })),
    configs: list(object({ id: text('The gateway config.'), file: text('Where it is.') })),
  }),
  settings_file: object({
    path: text('In the folder of the settings.'),
    hash: text('Of the settings that the text belongs to.'),
    text: text('The file. Each character of a secret is `•`.'),
    masked: list(object({ line: integer('From 1.') }), { description: 'Lines with marks.' }),
  }),
  places: object({
    config: text('The gateway config.'),
    hash: text('Of the settings that the places belong to.'),
    places: {
      description:
        'By the place in records: `config`, `config.targets[1]`, and `at.held` of `conditions`: `config.conditions[0]`, `config.default`.',
      type: 'object',
      additionalProperties: object(PLACE, ['file', 'line', 'column']),
    },
  }),
  found: object(
    {
      kind: text('What it is.', {
        enum: ['keys', 'teams', 'organizations', 'configs', 'providers', 'models', 'requests', 'prompts', 'budgets'],
      }),
      id: text('Its id.'),
      place: text('`store`, or file and line.'),
    },
    ['kind', 'id'],
  ),
  stream_event: {
    description: 'The data of the events: `line` is a `request_line`.',
    type: 'object',
  },
  stats: object({
    step_s: integer('Seconds of a step.'),
    since: moment('Start of the first step.'),
    points: integer('Steps, at most 600.'),
    series: list(SERIES, { description: 'At most 50, those with the most requests first.' }),
    other: nullable({ ...SERIES, description: 'The sum of all other series; null: there are none.' }),
    complete_since: nullable(moment('Steps before it have no figures: nothing was counted.')),
  }),
  provider_kind: object({
    kind: text('The `provider` of an entry.'),
    title: text('For people.'),
    description: text('What it is.'),
    schema: { description: 'JSON Schema of an entry, with everything that it refers to.', type: 'object' },
    secrets: list({ type: 'string' }, { description: 'Fields that are secrets.' }),
    shared: list(
      { type: 'string' },
      { description: 'Names in `credentials` of catalog.yaml that such an entry takes.' },
    ),
  }),
  provider: object(
    {
      slug: text('Its name: `@slug` in configs.'),
      id: text('The same.'),
      provider: text('Its kind.'),
      owner: text('`store`, or the file and line that hold the entry.', { examples: ['store', 'catalog.yaml:3'] }),
      place: object(PLACE, ['file', 'line', 'column']),
      etag: text('For `If-Match`.'),
      spec: { description: 'The entry, without its secrets.', type: 'object' },
      problem: text('Why the entry, which the store holds, is not in force.'),
      base_url: text('Where it calls.'),
      credential: object(
        {
          kind: text('How it authenticates.', {
            enum: ['none', 'api_key', 'service_account', 'caller_token', 'default', 'other'],
          }),
          ref: text('`${env:NAME}` or `${file:PATH}`, where the settings name its source.'),
          email: text('Of a service account.'),
          project: text('Of a service account.'),
          last4: text('The last characters.'),
        },
        ['kind'],
      ),
      models: list({ type: 'string' }, { description: 'Models that it lists; empty: any.' }),
      targets: list(
        object(
          {
            config: text('The gateway config.'),
            target: text('The place in it.', { examples: ['config.targets[1]'] }),
            at: object(PLACE, ['file', 'line', 'column']),
            health: list(HEALTH, { description: 'One for each worker that has called it.' }),
          },
          ['config', 'target', 'health'],
        ),
      ),
    },
    ['slug', 'id', 'provider', 'owner', 'etag', 'spec', 'credential', 'models', 'targets'],
  ),
  effect_event: {
    description:
      'The data of the events. `progress`: `done`, `of`. `change`: `sample` (the id of a request), `count`, `before` and `after` (`to` for people, `config`, `targets`, `refused`, and `place`: file, line and column of what decided), `fields` of the sent body that differ (`path`, `before`, `after`, `place`). `done`: `same`, `changed`, `unknown`, `reasons` (`reason`, `count`, `sample`, `place`), `cases`.',
    type: 'object',
  },
  tests_event: {
    description:
      'The data of the events. `case`: `file`, `line`, `name`, `ok`, `differences` (`line`, `column`, `what`, `expected`, `got`). `done`: `passed`, `failed`, `problems` (why tests did not run).',
    type: 'object',
  },
  test_event: {
    description:
      'The data of the events. `step`: `name` (settings, address, dns, connect, token, clock, permission, call), `ok` (null: nothing to check), `ms`, `code`, `message`, `hint`. `done`: `ok`.',
    type: 'object',
  },
  draft: object(PATCH),
  key_draft: object({
    key: text('The secret of the key. It is shown once, and the gateway does not keep it.'),
    ...PATCH,
  }),
} satisfies Readonly<Record<string, Schema>>;
