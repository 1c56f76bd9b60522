import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { MISS_CAUSES } from './prompt-cache.ts';
import { ROLES } from './roles.ts';
import { flag, integer, list, moment, nullable, number, object, own, text, texts } from './schema-words.ts';

// Answers of the calls of console-routes.ts.

const PLACE = {
  file: text('In the folder of the settings.', { examples: ['gateway/production.yaml'] }),
  line: integer('From 1.'),
  column: integer('From 1.'),
} as const;

const FEATURES = object({
  store: flag('server.yaml has `state`.'),
  owns: texts('Kinds of objects that the store holds.'),
  labels: texts('Metadata by which costs are summed (`state.ledger_labels`).'),
  seals: flag('`state.encryption_keys` is set: the store may hold credentials.'),
  records: flag('Records are kept on disk (`state.records`).'),
  explain: text('Which requests are kept to be explained (`admin.explain`).', { enum: ['asked', 'all', 'none'] }),
  sign_in: flag('A token is needed to call.'),
});

const SESSION = {
  user: text('As in the audit.'),
  role: text('Its rights.', { enum: ROLES }),
  scopes: texts('Absent: all.'),
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
const SERIES_PARTS = {
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
};
const SERIES = object(SERIES_PARTS);
const NAMED_SERIES = object(
  {
    ...SERIES_PARTS,
    retires: object(
      {
        day: text('The day (UTC) on which the provider ends the model.', { examples: ['2027-01-22'] }),
        past: flag('The day is over.'),
        successor: nullable(text('The model that the provider recommends instead; null: not known.')),
      },
      undefined,
      {
        description:
          'By model: it retires within 60 days, or has retired. Of several entries that may have it, the first.',
      },
    ),
  },
  Object.keys(SERIES_PARTS),
);

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
    fix: object({
      line: integer('From 1.'),
      column: integer('From 1.'),
      end_column: integer('Behind the word.'),
      text: text('In place of the word.'),
    }),
  },
  ['file', 'severity', 'message'],
);

const DELIVERY = object(
  {
    webhook: text('The id of the webhook.'),
    state: text('waiting: it is tried again.', { enum: ['delivered', 'waiting', 'lost'] }),
    tries: integer('Of this gateway.'),
    problem: text('Why the last try failed.'),
  },
  ['webhook', 'state', 'tries'],
);

const PATCH = {
  folder: text('The folder of the settings on the machine of the gateway.'),
  file: text('The file that it changes.', { examples: ['catalog.yaml'] }),
  patch: text('A unified diff. `git apply` takes it in the folder of the settings.'),
  apply: texts('Commands, one after the other.'),
  set: texts('Environment variables that the patch names, as lines of a shell.'),
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
  settings_names: object({
    slugs: texts('Entries of the catalog, `@slug` in configs.'),
    models: texts('`@slug/model`, of the lists of entries.'),
    kinds: texts('Kinds of providers.'),
    keys: texts('Ids of keys.'),
    teams: texts('Ids of teams.'),
    configs: texts('Ids of gateway configs.'),
    prompts: texts('Ids of prompts.'),
  }),
  settings_version: object(
    {
      hash: text('Of the settings.'),
      at: moment('When they took effect.'),
      by: text('Who wrote the object of the state store; absent: files have changed.'),
      files: list(
        object({ path: text('What has changed.'), patch: text('A unified diff; absent: it is not kept.') }, ['path']),
      ),
    },
    ['hash', 'at', 'files'],
  ),
  validated_settings: object({
    hash: nullable(text('Of the edited settings; null: they cannot be used.')),
    unchecked: texts('References that were not read.'),
    diagnostics: list(own('diagnostic')),
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
    series: list(NAMED_SERIES, { description: 'At most 50, those with the most requests first.' }),
    other: nullable({ ...SERIES, description: 'The sum of all other series; null: there are none.' }),
    complete_since: nullable(moment('Steps before it have no figures: nothing was counted.')),
  }),
  provider_kind: object({
    kind: text('The `provider` of an entry.'),
    title: text('For people.'),
    description: text('What it is.'),
    schema: { description: 'JSON Schema of an entry, with everything that it refers to.', type: 'object' },
    secrets: texts('Fields that are secrets.'),
    shared: texts('Names in `credentials` of catalog.yaml that such an entry takes.'),
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
      models: texts('Models that it lists; empty: any.'),
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
  alert_delivery: DELIVERY,
  fired_alert: object({
    id: text('As the webhooks get it.'),
    at: moment('When.'),
    kind: text('As in `alerts.webhooks` of server.yaml.'),
    nodes: texts('Of the budget or the key, its own first. At most 50.'),
    text: text('A sentence for people.'),
    deliveries: list(own('alert_delivery'), { description: 'Empty: no webhook takes such an alert.' }),
  }),
  plugin: object({
    name: text('In the settings.'),
    plugin: text('The plugin that it is an instance of.'),
    level: text('Its chain.', { enum: ['entry', 'request', 'attempt'] }),
    external: flag('It is not of this build.'),
    own: nullable({
      ...object({
        runs: integer('How often it ran.'),
        mean_ms: number('Its own time, without that of the plugins after it.'),
        p95_ms: nullable(
          number('A bound that 95 % of the runs do not exceed; null: it is above all buckets of the metric.'),
        ),
      }),
      description: 'Null: it is not measured, or has not run.',
    }),
    errors: list(object({ what: text('The code of an error, or the kind of a fault.'), count: integer('How often.') })),
  }),
  person: object({
    user: text('As in the audit.'),
    role: text('Its rights.', { enum: ROLES }),
    content: flag('It may read the texts of requests.'),
    by: text('How it called.', { enum: ['token', 'session', 'none'] }),
    address: nullable(text('Of the client.')),
    seen_at: moment('Its last call.'),
  }),
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
  rendered_prompt: object({
    version: nullable(integer('The number of the version; null: it is not saved.')),
    request: { description: 'The chat request, without what its caller adds.', type: 'object' },
  }),
  prompt_event: {
    description:
      'The data of the events. `case`: `case` and `version` (their indexes in the call), `ok` (null: nothing was expected), `status`, `ms`, `text`, `problem`, `tokens`, `request_id`. `done`: `passed`, `failed`.',
    type: 'object',
  },
  prompt_cache: object({
    prefix_hashes: flag('`telemetry.prefix_hashes` is on: prompts are compared.'),
    examined: integer('Requests that the answer is made of.'),
    since: nullable(moment('Arrival of the earliest of them.')),
    more: flag('There are earlier ones, which do not count.'),
    items: list(
      object({
        key: text('The id of the key.'),
        model: text('The alias that requests name, else the model.'),
        requests: integer('Those whose provider tells what it read from its cache.'),
        input: integer('Tokens of their prompts, cached ones among them.'),
        cache_read: integer('Tokens read from the cache.'),
        cache_write: integer('Tokens written to the cache.'),
        misses: integer('Requests of which nothing was read from the cache.'),
        causes: {
          description:
            'Misses by their likely cause. first: no request before it is kept. short: less than 1,024 tokens, which no vendor caches. target: the request before went elsewhere. tools, system, messages: they had changed. key_order: they had not, but the keys of their objects came in another order. pause: it was longer than the cache lives. unwritten: the request before wrote nothing to the cache. unknown: prompts were not compared. other: none of these.',
          type: 'object',
          properties: Object.fromEntries(MISS_CAUSES.map((cause) => [cause, { type: 'integer' }])),
          additionalProperties: false,
        },
        examples: list(
          object({
            cause: text('The cause.', { enum: MISS_CAUSES }),
            request_id: text('For `GET /requests/{id}`.'),
            after: nullable(
              integer('Bytes of the tools, the system prompt or the messages that had not changed, at least.'),
            ),
          }),
          { description: 'The latest miss of each cause.' },
        ),
      }),
      { description: 'By key and model, those with the most tokens first; at most 1,000.' },
    ),
  }),
  draft: object(PATCH),
  key_draft: object({
    key: text('The secret of the key. It is shown once, and the gateway does not keep it.'),
    ...PATCH,
  }),
} satisfies Readonly<Record<string, Schema>>;
