import type { AdminRoute } from './admin-route.ts';
import { CAPTURE_ROUTES, type CaptureOperation } from './capture-routes.ts';
import { CONSOLE_ROUTES, REQUEST_FILTERS, type ConsoleOperation } from './console-routes.ts';
import type { ParameterName } from './parameters.ts';
import type { Role } from './roles.ts';

/** Kinds of objects that files or the store hold. */
export const OBJECT_KINDS = [
  'organizations',
  'teams',
  'keys',
  'budgets',
  'limits',
  'prices',
  'alerts',
  'providers',
  'prompts',
  'configs',
] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

type ObjectAction = 'list' | 'get' | 'create' | 'patch' | 'delete';

export type OperationId =
  | `${ObjectKind}.${ObjectAction}`
  | 'keys.rotate'
  | 'keys.revoke'
  | 'budgets.adjust'
  | `prompts.${'release' | 'promote'}`
  | 'usage.list'
  | 'ledger.list'
  | 'audit.list'
  | 'audit.verify'
  | `tokens.${'list' | 'get' | 'create' | 'delete'}`
  | 'replicas.list'
  | 'whoami.get'
  | 'openapi.get'
  | `requests.${'list' | 'get' | 'costs' | 'explain' | 'explained'}`
  | CaptureOperation
  | ConsoleOperation;

const WRITE = ['dry_run'] as const;

/** A row without what all rows of its kind have. */
type Row<Given extends keyof AdminRoute> = Omit<AdminRoute, Given | 'method' | 'role' | 'status'> & {
  readonly role?: Role;
};

const read = (row: Row<never>): AdminRoute => ({ method: 'GET', role: 'viewer', ...row, status: 200 });

/** A read of a list, a page at a time. */
const page = ({ query = [], ...row }: Row<'pages'>): AdminRoute =>
  read({ ...row, query: [...query, 'limit', 'cursor'], pages: true });

/** An action on one object. */
const act = (row: Row<'query' | 'changes'>): AdminRoute => ({
  method: 'POST',
  role: 'operator',
  ...row,
  query: WRITE,
  changes: true,
  status: 200,
});

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);

export const NOUNS = {
  organizations: 'organization',
  teams: 'team',
  keys: 'key',
  budgets: 'budget',
  limits: 'limit',
  prices: 'price',
  alerts: 'alert',
  providers: 'provider',
  prompts: 'prompt',
  configs: 'config',
} as const satisfies Readonly<Record<ObjectKind, string>>;

const LISTED: Readonly<Partial<Record<ObjectKind, string>>> = {
  budgets:
    'List the budgets, those inside of organizations, teams and keys too, with what is spent in the current period',
  limits: 'List the limits that are objects of the store; others are in the `spec` of organizations, teams and keys',
  prices: 'List the price rules of the store, and those of prices.yaml that have an `id`',
  alerts: 'List the webhooks of server.yaml and of the store, without their addresses and secrets',
  configs: 'List the gateway configs of gateway/ and of the store; `GET /settings/file` has the texts of files',
  providers: 'List the entries of the catalog, of catalog.yaml and of the store, with the health of their targets',
};

const CREATED: Readonly<Partial<Record<ObjectKind, string>>> = {
  prices:
    'A rule of prices.yaml. Rules of the store follow those of the file, in the order of their ids; the first that fits is in force.',
  alerts: 'A webhook of server.yaml. Its `url` and `secret` are sealed with `state.encryption_keys`.',
  configs:
    'A file of gateway/ as `text`. It is written once all processes serve with it: 422 `settings_refused` has the mistakes with line and column, and nothing was changed.',
  providers:
    'An entry of catalog.yaml. Its credentials are sealed with `state.encryption_keys`. It is written once all processes serve with it: 422 `settings_refused` has the mistakes, and nothing was changed.',
  prompts:
    'A file of `prompts/`, at most 64 KB of JSON. It is written once all processes serve with it. A released version never changes, and is not removed.',
};

function rowsOf(kind: ObjectKind, filters: readonly ParameterName[]): Record<ObjectAction, AdminRoute> {
  const noun = NOUNS[kind];
  return {
    list: page({
      path: `/${kind}`,
      summary: LISTED[kind] ?? `List the ${kind} of files and of the store`,
      query: filters,
      answer: noun,
    }),
    get: read({ path: `/${kind}/{id}`, summary: `Show ${article(noun)}`, answer: noun }),
    create: {
      method: 'POST',
      path: `/${kind}`,
      role: 'admin',
      summary: `Create ${article(noun)} in the store`,
      ...(CREATED[kind] !== undefined && { description: CREATED[kind] }),
      query: WRITE,
      body: `create_${noun}`,
      answer: noun === 'key' ? 'created_key' : noun,
      status: 201,
    },
    patch: {
      method: 'PATCH',
      path: `/${kind}/{id}`,
      role: 'admin',
      summary: `Change ${article(noun)}`,
      description: 'The body is a JSON merge patch (RFC 7396) of the object: null removes a field.',
      query: WRITE,
      body: `patch_${noun}`,
      changes: true,
      answer: noun,
      status: 200,
    },
    delete: {
      method: 'DELETE',
      path: `/${kind}/{id}`,
      role: 'admin',
      summary: `Delete ${article(noun)}; its id is not given again`,
      query: [...WRITE, 'reason'],
      changes: true,
      status: 204,
    },
  };
}

/** Something for each action on a kind of objects, by the ids of the operations. */
export const byOperation = <const Kind extends ObjectKind, Of>(
  kind: Kind,
  actions: Readonly<Record<ObjectAction, Of>>,
) =>
  // The keys of `actions` are those of the type.
  Object.fromEntries(Object.entries(actions).map(([action, of]) => [`${kind}.${action}`, of])) as Record<
    `${Kind}.${ObjectAction}`,
    Of
  >;

const objectRoutes = <const Kind extends ObjectKind>(kind: Kind, ...filters: readonly ParameterName[]) =>
  byOperation(kind, rowsOf(kind, filters));

const NAMES = ['key', 'user', 'team', 'organization', 'config', 'model', 'status', 'src', 'kind'] as const;

/** The one table of the admin API. */
export const ROUTES: Readonly<Record<OperationId, AdminRoute>> = {
  ...objectRoutes('organizations'),
  ...objectRoutes('teams', 'organization'),
  ...objectRoutes('keys', 'team'),
  ...objectRoutes('limits', 'node'),
  ...objectRoutes('budgets', 'node'),
  ...objectRoutes('prices'),
  ...objectRoutes('alerts'),
  ...objectRoutes('providers'),
  ...objectRoutes('prompts'),
  ...objectRoutes('configs'),
  'keys.rotate': act({
    path: '/keys/{id}:rotate',
    summary: 'Give a key a new secret; the one before stays valid for the overlap',
    body: 'rotate',
    answer: 'created_key',
  }),
  'keys.revoke': act({
    path: '/keys/{id}:revoke',
    summary: 'End the secrets of a key, or only the one before its last rotation',
    body: 'revoke',
    answer: 'key',
  }),
  'budgets.adjust': act({
    path: '/budgets/{id}:adjust',
    summary: 'Change what a budget has spent in the current period',
    description: 'A negative amount gives room. An operator may change at most 10 % of the cap within 24 hours.',
    body: 'adjust',
    answer: 'budget',
  }),
  'prompts.release': act({
    path: '/prompts/{id}:release',
    role: 'admin',
    summary: 'Fix a version of a prompt: it gets a digest of itself and its partials, and never changes again',
    body: 'release_prompt',
    answer: 'prompt',
  }),
  'prompts.promote': act({
    path: '/prompts/{id}:promote',
    role: 'admin',
    summary: 'Let a label of a prompt stand for a released version',
    body: 'promote_prompt',
    answer: 'prompt',
  }),
  'usage.list': page({
    path: '/usage',
    summary: 'Sum requests, tokens and cost by hour, day or altogether',
    description:
      'Sums by hour are kept for `retention.hour_days`; days before are UTC days, in any time zone, and `day` says so.',
    query: ['from', 'to', 'step', 'time_zone', 'by', ...NAMES, 'provider', 'label.NAME', 'format'],
    answer: 'usage_row',
    exports: true,
  }),
  'ledger.list': page({
    path: '/ledger',
    summary: 'List the rows of the ledger: one for each try',
    query: ['from', 'to', ...NAMES, 'format'],
    answer: 'ledger_row',
    exports: true,
  }),
  'audit.list': page({
    path: '/audit',
    summary: 'List the rows of the audit, the newest first',
    query: ['object_kind', 'object_id'],
    answer: 'audit_row',
  }),
  'audit.verify': read({
    path: '/audit:verify',
    summary:
      'Check that no row of the audit was changed, removed or swapped. With `head`, removed rows at its end are found too',
    query: ['head'],
    answer: 'audit_verdict',
  }),
  'tokens.list': page({ path: '/tokens', role: 'admin', summary: 'List the tokens of this API', answer: 'token' }),
  'tokens.get': read({ path: '/tokens/{id}', role: 'admin', summary: 'Show a token', answer: 'token' }),
  'tokens.create': {
    method: 'POST',
    path: '/tokens',
    role: 'admin',
    summary: 'Create a token of this API',
    query: WRITE,
    body: 'create_token',
    answer: 'created_token',
    status: 201,
  },
  'tokens.delete': {
    method: 'DELETE',
    path: '/tokens/{id}',
    role: 'admin',
    summary: 'Revoke a token; its id is not given again',
    query: [...WRITE, 'reason'],
    changes: true,
    status: 204,
  },
  'replicas.list': read({
    path: '/replicas',
    summary: 'List the gateways on the state store, with their settings and the last refused reload',
    answer: 'replicas',
    withoutStore: true,
  }),
  'whoami.get': read({ path: '/whoami', summary: 'Show the role and the scopes of the call', answer: 'identity' }),
  'requests.list': page({
    path: '/requests',
    summary: 'List the latest requests: first those that run, then those that ended, the latest first',
    description:
      '`oldest` is the arrival of the oldest request that is kept; `partial` has the workers that did not answer.',
    query: ['since', 'until', ...REQUEST_FILTERS],
    answer: 'request_line',
  }),
  'requests.get': read({
    path: '/requests/{id}',
    summary: 'Show what became of a request: its attempts, their tries and failures',
    answer: 'request',
  }),
  'requests.costs': read({
    path: '/requests/{id}/costs',
    summary: 'Show what the tokens of a request would have cost at each target and at each model of the catalog',
    description:
      'By the prices of the day of the request, in the standard tier. The counts are those of the attempt that answered: other models count the same text a little differently, and have other caches.',
    answer: 'request_costs',
  }),
  'requests.explain': {
    method: 'POST',
    path: '/explain',
    role: 'viewer',
    summary: 'Explain what would become of a request',
    description:
      'The answer is JSON, or text for `Accept: text/plain`. With `of` it is about a kept request, whose texts it has with `texts=true` alone.',
    query: ['texts', 'reason'],
    body: 'explain',
    explains: true,
    answer: 'explanation',
    status: 200,
  },
  'requests.explained': read({
    path: '/explain/{id}',
    summary: 'Explain a request that was served, by the id in its `x-gateway-explain-id`',
    description:
      'With `texts=true` the answer has the texts of the request: this takes the right `content`, and the audit has who read them. `reason` says why.',
    query: ['texts', 'reason'],
    explains: true,
    answer: 'explanation',
  }),
  ...CAPTURE_ROUTES,
  ...CONSOLE_ROUTES,
  'openapi.get': read({ path: '/openapi.json', summary: 'This document', answer: 'document' }),
};

// The entries of an object literal with these keys.
export const OPERATIONS = Object.entries(ROUTES) as readonly (readonly [OperationId, AdminRoute])[];

export const resourceOf = (id: OperationId): string => id.slice(0, id.indexOf('.'));

export const isWrite = ({ method, explains, asks }: Pick<AdminRoute, 'method' | 'explains' | 'asks'>): boolean =>
  method !== 'GET' && !explains && !asks;
