import type { AdminRoute } from './admin-route.ts';

/** The calls that the console is made of, beside those of objects and requests. */
export type ConsoleOperation =
  | `session.${'get' | 'create' | 'delete'}`
  | `settings.${'get' | 'file' | 'places' | 'names' | 'history' | 'validate' | 'patch' | 'effect' | 'tests'}`
  | 'schemas.get'
  | 'find.list'
  | 'stream.get'
  | 'stats.get'
  | `providers.${'kinds' | 'test' | 'draft'}`
  | `${'keys' | 'prices'}.draft`
  | `alerts.${'test' | 'fired'}`
  | 'plugins.list'
  | 'people.list'
  | `prompts.${'render' | 'run' | 'draft'}`
  | 'prompt-cache.get'
  | 'playground.create';

const read = (row: Pick<AdminRoute, 'path' | 'summary'> & Partial<AdminRoute>): AdminRoute => ({
  method: 'GET',
  role: 'viewer',
  status: 200,
  ...row,
});

/** A call that writes nothing, though it has a body. */
const ask = (row: Pick<AdminRoute, 'path' | 'summary'> & Partial<AdminRoute>): AdminRoute => ({
  method: 'POST',
  role: 'operator',
  asks: true,
  status: 200,
  ...row,
});

export const REQUEST_FILTERS = [
  'state',
  'status',
  'error',
  'key',
  'team',
  'config',
  'provider',
  'model',
  'target',
  'origin',
  'min_ms',
  'label.NAME',
  'q',
] as const;

export const CONSOLE_ROUTES: Readonly<Record<ConsoleOperation, AdminRoute>> = {
  'session.get': read({ path: '/session', summary: 'Show who calls, and what this gateway offers', answer: 'session' }),
  'session.create': {
    method: 'POST',
    path: '/session',
    role: 'viewer',
    summary: 'Sign in to the console with a token',
    description:
      'The answer sets a cookie and has the other half of the session, `csrf`, for `x-gatehouse-csrf` of every call: neither half opens anything alone.',
    body: 'create_session',
    open: true,
    asks: true,
    answer: 'created_session',
    status: 200,
  },
  'session.delete': {
    method: 'DELETE',
    path: '/session',
    role: 'viewer',
    summary: 'Sign out',
    asks: true,
    status: 204,
  },
  'settings.get': read({
    path: '/settings',
    summary: 'Show the settings in force, their files and the last reload',
    answer: 'settings',
  }),
  'settings.file': read({
    path: '/settings/file',
    summary: 'Show the text of a settings file in force, with its secrets masked',
    query: ['path', 'hash'],
    answer: 'settings_file',
  }),
  'settings.places': read({
    path: '/settings/places',
    summary: 'Show where the targets and conditions of a gateway config are written',
    description: 'With the record of a request this says which line sent it where, whether its body is kept or not.',
    query: ['config', 'hash'],
    answer: 'places',
  }),
  'settings.names': read({
    path: '/settings/names',
    summary: 'Show the names that settings may use: entries, models, keys, configs, prompts',
    answer: 'settings_names',
  }),
  'settings.history': read({
    path: '/settings/history',
    summary: 'List the settings that this gateway has served since its start, with what each changed',
    description: 'The latest first, at most 100. Diffs have `•` in the place of secrets.',
    answer: 'settings_version',
    pages: true,
  }),
  'settings.validate': ask({
    path: '/settings/validate',
    role: 'viewer',
    summary: 'Check settings files before they are written',
    description:
      'The settings in force with these texts. Modules are not loaded, and references to the environment and to files are not read: `unchecked` has them. Lines with `•` that are as `GET /settings/file` has them keep their secrets.',
    body: 'edited_settings',
    answer: 'validated_settings',
    large: true,
  }),
  'settings.patch': ask({
    path: '/settings/patch',
    role: 'viewer',
    summary: 'Write edited settings files as a patch',
    description: 'With `base`, the hash of the settings that were edited, others in force get 412.',
    body: 'edited_settings',
    answer: 'draft',
    large: true,
  }),
  'schemas.get': read({
    path: '/schemas/{id}',
    summary: 'Show the JSON Schema of a settings file: server, catalog, keys, gateway, prompt, prices, teams, test',
    answer: 'document',
  }),
  'settings.effect': ask({
    path: '/settings/effect',
    role: 'viewer',
    summary: 'Show which of the last requests other settings would send elsewhere',
    description:
      'Server-sent events: `progress`, a `change` for each group of requests that move in the same way, then `done`. At most 60 s; requests that are not tried until then are unknown.',
    body: 'settings_effect',
    streams: 'text/event-stream',
    answer: 'effect_event',
    large: true,
  }),
  'settings.tests': ask({
    path: '/settings/tests',
    summary: 'Run the tests of the settings folder with other texts',
    description: 'Server-sent events: a `case` for each test, then `done`. At most 180 s.',
    body: 'settings_tests',
    streams: 'text/event-stream',
    answer: 'tests_event',
    large: true,
  }),
  'find.list': read({
    path: '/find',
    summary: 'Find objects by their names',
    query: ['q'],
    answer: 'found',
    pages: true,
  }),
  'stream.get': read({
    path: '/stream',
    summary: 'Stream requests as they end',
    description:
      'Server-sent events: `line` (a line of `GET /requests`; its id is for `Last-Event-ID`), `gap` (`missed`: lines that are not sent), `settings`, `boot`. A comment comes every 10 s. At most 20 streams, each of 50 lines a second.',
    query: ['topics', ...REQUEST_FILTERS],
    streams: 'text/event-stream',
    answer: 'stream_event',
  }),
  'stats.get': read({
    path: '/stats',
    summary: 'Show counts, tokens, cost and durations as series of time',
    description:
      'Steps of 10 s are kept for an hour, of 60 s for 48 hours, of 300 s for 35 days with a state store; longer steps are sums of these.',
    query: ['from', 'to', 'step_s', 'by', 'state', 'error', 'key', 'team', 'config', 'provider', 'model'],
    answer: 'stats',
  }),
  'providers.kinds': read({
    path: '/providers/kinds',
    summary: 'List the kinds of catalog entries, with the schemas of their fields',
    answer: 'provider_kind',
    pages: true,
  }),
  'providers.test': ask({
    path: '/providers:test',
    summary: 'Test an entry of the catalog, saved or not, with the sender of requests',
    description: 'Server-sent events: a `step` for each check, then `done`. 5 tests a minute.',
    body: 'test_provider',
    streams: 'text/event-stream',
    answer: 'test_event',
  }),
  'providers.draft': ask({
    path: '/providers:draft',
    summary: 'Write an entry of the catalog as a patch of catalog.yaml',
    body: 'draft_provider',
    answer: 'draft',
  }),
  'keys.draft': ask({
    path: '/keys:draft',
    summary: 'Make a key, and a patch of keys.yaml that has its digest',
    body: 'draft_key',
    answer: 'key_draft',
  }),
  'alerts.fired': read({
    path: '/alerts/fired',
    summary: 'List the latest alerts, with what became of them at each webhook',
    description:
      'At most 200 since the start of this gateway. `waiting` is tried again, by this gateway or another one.',
    answer: 'fired_alert',
    pages: true,
    withoutStore: true,
  }),
  'alerts.test': ask({
    path: '/alerts/{id}:test',
    summary: 'Send an event of the type `test` to a webhook',
    description: 'One try, without a repetition. 5 tests a minute.',
    answer: 'alert_delivery',
    withoutStore: true,
  }),
  'plugins.list': read({
    path: '/plugins',
    summary: 'List the plugins of the chains of server.yaml in their order, with their own time and their errors',
    description:
      'Of all processes since their start. `telemetry.metrics.plugins` chooses the plugins that are measured: external ones by default.',
    answer: 'plugin',
    pages: true,
    withoutStore: true,
  }),
  'people.list': read({
    path: '/people',
    role: 'admin',
    summary: 'List who has called this API since the start of this gateway, the latest first',
    answer: 'person',
    pages: true,
  }),
  'prompts.render': ask({
    path: '/prompts/{id}:render',
    role: 'viewer',
    summary:
      'Show the chat request that a version of a prompt makes of values, or what a version that is not saved would make',
    body: 'render_prompt',
    answer: 'rendered_prompt',
  }),
  'prompts.run': ask({
    path: '/prompts/{id}:run',
    summary: 'Run cases with up to two versions of a prompt, in the name of a key',
    description:
      'Server-sent events: a `case` for each case and version, in their order, then `done`. Requests take the path of every other: limits and budgets of the key count. At most 50 cases, four at a time.',
    body: 'run_prompt',
    streams: 'text/event-stream',
    answer: 'prompt_event',
  }),
  'prompts.draft': ask({
    path: '/prompts:draft',
    summary: 'Write a prompt, a release of a version or a label as a patch of its file',
    body: 'draft_prompt',
    answer: 'draft',
  }),
  'prices.draft': ask({
    path: '/prices:draft',
    summary: 'Write a price as a patch of prices.yaml',
    body: 'draft_price',
    answer: 'draft',
  }),
  'prompt-cache.get': read({
    path: '/prompt-cache',
    summary: "Show how much of their prompts keys read from a provider's cache, and why not more",
    description:
      'Of the kept records of requests, at most the latest 20,000. A cause is that of the request before of the same key and model; with `telemetry.prefix_hashes` prompts are compared, too.',
    query: ['since', 'until', 'key', 'team', 'provider', 'model'],
    answer: 'prompt_cache',
  }),
  'playground.create': ask({
    path: '/playground',
    summary: 'Send a request as a key',
    description:
      'The answer is the reply to the request, as it streams. Limits and budgets of the key count. Headers of the reply are those of the request path; `x-gatehouse-status` is its status.',
    body: 'playground',
    streams: 'application/octet-stream',
  }),
};
