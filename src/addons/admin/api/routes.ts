import type { AnswerName, BodyName } from './schema-names.ts';
import type { ParameterName } from './parameters.ts';
import type { Role } from './roles.ts';

/** Kinds of objects that files or the store hold. */
export const OBJECT_KINDS = ['organizations', 'teams', 'keys', 'budgets', 'limits', 'prices', 'alerts'] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

type ObjectAction = 'list' | 'get' | 'create' | 'patch' | 'delete';

export type OperationId =
  | `${ObjectKind}.${ObjectAction}`
  | 'keys.rotate'
  | 'keys.revoke'
  | 'budgets.adjust'
  | 'usage.list'
  | 'ledger.list'
  | 'audit.list'
  | 'audit.verify'
  | `tokens.${'list' | 'get' | 'create' | 'delete'}`
  | 'whoami.get'
  | 'openapi.get'
  | `requests.${'list' | 'get' | 'explain' | 'explained'}`;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One route of the admin API: the router, the OpenAPI document, the commands and the documents read it. */
export interface AdminRoute {
  readonly method: Method;
  /** Below `/admin/v1`. `{id}` is one segment. */
  readonly path: string;
  /** The least role. */
  readonly role: Role;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly ParameterName[];
  readonly body?: BodyName;
  /** A change of an object: `If-Match` has its ETag. */
  readonly changes?: true;
  /** Undefined: no content. */
  readonly answer?: AnswerName;
  /** The answer is a page of such items. */
  readonly pages?: true;
  /** An explanation: it changes nothing, whatever its method, and takes time of the process that serves. */
  readonly explains?: true;
  /** Answers as CSV and JSON lines, too. */
  readonly exports?: true;
  readonly status: 200 | 201 | 204;
}

const PAGE = ['limit', 'cursor'] as const;
const WRITE = ['dry_run'] as const;

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);

/** One object of each kind. */
export const NOUNS = {
  organizations: 'organization',
  teams: 'team',
  keys: 'key',
  budgets: 'budget',
  limits: 'limit',
  prices: 'price',
  alerts: 'alert',
} as const satisfies Readonly<Record<ObjectKind, string>>;

type Noun = (typeof NOUNS)[ObjectKind];

const LISTED: Readonly<Partial<Record<ObjectKind, string>>> = {
  budgets:
    'List the budgets, those inside of organizations, teams and keys too, with what is spent in the current period',
  limits: 'List the limits that are objects of the store; others are in the `spec` of organizations, teams and keys',
  prices: 'List the price rules of the store, and those of prices.yaml that have an `id`',
  alerts: 'List the webhooks of server.yaml and of the store, without their addresses and secrets',
};

const CREATED: Readonly<Partial<Record<ObjectKind, string>>> = {
  prices:
    'A rule of prices.yaml. Rules of the store follow those of the file, in the order of their ids; the first that fits is in force.',
  alerts: 'A webhook of server.yaml. Its `url` and `secret` are sealed with `state.encryption_keys`.',
};

const readRoutes = (
  kind: ObjectKind,
  noun: Noun,
  filters: readonly ParameterName[],
): Record<'list' | 'get', AdminRoute> => ({
  list: {
    method: 'GET',
    path: `/${kind}`,
    role: 'viewer',
    summary: LISTED[kind] ?? `List the ${kind} of files and of the store`,
    query: [...filters, ...PAGE],
    answer: noun,
    pages: true,
    status: 200,
  },
  get: {
    method: 'GET',
    path: `/${kind}/{id}`,
    role: 'viewer',
    summary: `Show ${article(noun)}`,
    answer: noun,
    status: 200,
  },
});

const writeRoutes = (kind: ObjectKind, noun: Noun): Record<'create' | 'patch' | 'delete', AdminRoute> => ({
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
});

function objectRoutes<const Kind extends ObjectKind>(
  kind: Kind,
  filters: readonly ParameterName[],
): Record<`${Kind}.${ObjectAction}`, AdminRoute> {
  const noun = NOUNS[kind];
  const rows: Record<ObjectAction, AdminRoute> = { ...readRoutes(kind, noun, filters), ...writeRoutes(kind, noun) };
  // The keys of `rows` are those of the type.
  return Object.fromEntries(Object.entries(rows).map(([action, route]) => [`${kind}.${action}`, route])) as Record<
    `${Kind}.${ObjectAction}`,
    AdminRoute
  >;
}

const NAMES = ['key', 'user', 'team', 'organization', 'config', 'model', 'status', 'src', 'kind'] as const;

/** The one table of the admin API. */
export const ROUTES: Readonly<Record<OperationId, AdminRoute>> = {
  ...objectRoutes('organizations', []),
  ...objectRoutes('teams', ['organization']),
  ...objectRoutes('keys', ['team']),
  ...objectRoutes('limits', ['node']),
  ...objectRoutes('budgets', ['node']),
  ...objectRoutes('prices', []),
  ...objectRoutes('alerts', []),
  'keys.rotate': {
    method: 'POST',
    path: '/keys/{id}:rotate',
    role: 'operator',
    summary: 'Give a key a new secret; the one before stays valid for the overlap',
    query: WRITE,
    body: 'rotate',
    changes: true,
    answer: 'created_key',
    status: 200,
  },
  'keys.revoke': {
    method: 'POST',
    path: '/keys/{id}:revoke',
    role: 'operator',
    summary: 'End the secrets of a key, or only the one before its last rotation',
    query: WRITE,
    body: 'revoke',
    changes: true,
    answer: 'key',
    status: 200,
  },
  'budgets.adjust': {
    method: 'POST',
    path: '/budgets/{id}:adjust',
    role: 'operator',
    summary: 'Change what a budget has spent in the current period',
    description: 'A negative amount gives room. An operator may change at most 10 % of the cap within 24 hours.',
    query: WRITE,
    body: 'adjust',
    changes: true,
    answer: 'budget',
    status: 200,
  },
  'usage.list': {
    method: 'GET',
    path: '/usage',
    role: 'viewer',
    summary: 'Sum requests, tokens and cost by hour, day or altogether',
    query: ['from', 'to', 'step', 'by', ...NAMES, 'format', ...PAGE],
    answer: 'usage_row',
    pages: true,
    exports: true,
    status: 200,
  },
  'ledger.list': {
    method: 'GET',
    path: '/ledger',
    role: 'viewer',
    summary: 'List the rows of the ledger: one for each try',
    query: ['from', 'to', ...NAMES, 'format', ...PAGE],
    answer: 'ledger_row',
    pages: true,
    exports: true,
    status: 200,
  },
  'audit.list': {
    method: 'GET',
    path: '/audit',
    role: 'viewer',
    summary: 'List the rows of the audit, the newest first',
    query: ['object_kind', 'object_id', ...PAGE],
    answer: 'audit_row',
    pages: true,
    status: 200,
  },
  'audit.verify': {
    method: 'GET',
    path: '/audit:verify',
    role: 'viewer',
    summary:
      'Check that no row of the audit was changed, removed or swapped. With `head`, removed rows at its end are found too',
    query: ['head'],
    answer: 'audit_verdict',
    status: 200,
  },
  'tokens.list': {
    method: 'GET',
    path: '/tokens',
    role: 'admin',
    summary: 'List the tokens of this API',
    query: PAGE,
    answer: 'token',
    pages: true,
    status: 200,
  },
  'tokens.get': {
    method: 'GET',
    path: '/tokens/{id}',
    role: 'admin',
    summary: 'Show a token',
    answer: 'token',
    status: 200,
  },
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
  'whoami.get': {
    method: 'GET',
    path: '/whoami',
    role: 'viewer',
    summary: 'Show the role and the scopes of the call',
    answer: 'identity',
    status: 200,
  },
  'requests.list': {
    method: 'GET',
    path: '/requests',
    role: 'viewer',
    summary: 'List the latest requests: first those that run, then those that ended, the latest first',
    description:
      '`oldest` is the arrival of the oldest request that is kept; `partial` has the workers that did not answer.',
    query: [
      'since',
      'until',
      'state',
      'status',
      'error',
      'key',
      'team',
      'config',
      'provider',
      'model',
      'target',
      'min_ms',
      'label.NAME',
      'q',
      ...PAGE,
    ],
    answer: 'request_line',
    pages: true,
    status: 200,
  },
  'requests.get': {
    method: 'GET',
    path: '/requests/{id}',
    role: 'viewer',
    summary: 'Show what became of a request: its attempts, their tries and failures',
    answer: 'request',
    status: 200,
  },
  'requests.explain': {
    method: 'POST',
    path: '/explain',
    role: 'viewer',
    summary: 'Explain what would become of a request',
    description: 'The answer is JSON, or text for `Accept: text/plain`.',
    body: 'explain',
    explains: true,
    answer: 'explanation',
    status: 200,
  },
  'requests.explained': {
    method: 'GET',
    path: '/explain/{id}',
    role: 'viewer',
    summary: 'Explain a request that was served, by the id in its `x-gateway-explain-id`',
    description: 'The answer has the texts of the request; the audit has who read them.',
    explains: true,
    answer: 'explanation',
    status: 200,
  },
  'openapi.get': {
    method: 'GET',
    path: '/openapi.json',
    role: 'viewer',
    summary: 'This document',
    answer: 'document',
    status: 200,
  },
};

// The entries of an object literal with these keys.
export const OPERATIONS = Object.entries(ROUTES) as readonly (readonly [OperationId, AdminRoute])[];

export const resourceOf = (id: OperationId): string => id.slice(0, id.indexOf('.'));

export const isWrite = ({ method, explains }: Pick<AdminRoute, 'method' | 'explains'>): boolean =>
  method !== 'GET' && !explains;
