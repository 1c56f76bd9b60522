import type { AdminRoute } from './admin-route.ts';
import { isObject } from '../../../core/kernel/index.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';
import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { version } from '../../../core/kernel/version.ts';
import { CONSOLE_ROUTES } from './console-routes.ts';
import { PARAMETERS, type ParameterName } from './parameters.ts';
import { PROBLEMS, type ProblemCode } from './problems.ts';
import { isWrite, OBJECT_KINDS, OPERATIONS, resourceOf, ROUTES, type OperationId } from './routes.ts';
import { adminSchema, readReferred } from './schemas.ts';

export const API = '/admin/v1';

let made: object | undefined;

/** The OpenAPI 3.1 document of the table of routes and of the schemas that validate bodies. */
export const openApiDocument = (): object => (made ??= makeDocument());

function makeDocument(): object {
  const schemas = new Components();
  const paths = new Map<string, Record<string, unknown>>();
  for (const [id, route] of OPERATIONS) {
    const path = paths.get(route.path) ?? {};
    path[route.method.toLowerCase()] = operationOf(id, route, schemas);
    paths.set(route.path, path);
  }
  const problem = schemas.ref('problem');
  const responses = Object.entries(PROBLEMS).map(([code, { status, title, help }]) => [
    code,
    {
      description: `${status} \`${code}\`: ${title}. ${help}`,
      content: { 'application/problem+json': { schema: problem } },
    },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse admin API',
      version: version().version,
      description:
        'Keys, teams, organizations, budgets, prices, alerts, usage, ledger, audit and requests of a gateway.',
    },
    servers: [{ url: API }],
    security: [{ token: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of the API (`gha_…`), or `admin.token`.' },
      },
      schemas: schemas.all(),
      responses: Object.fromEntries(responses),
    },
  };
}

const ofObjects = (id: OperationId): boolean =>
  OBJECT_KINDS.some((kind) => kind === resourceOf(id)) && id !== 'budgets.adjust';
const needsNoStore = (id: OperationId): boolean =>
  ['whoami', 'openapi', 'requests', 'captures'].includes(resourceOf(id)) ||
  (Object.hasOwn(CONSOLE_ROUTES, id) && !isWrite(ROUTES[id])) ||
  (ofObjects(id) && !isWrite(ROUTES[id]));

const isRepeatable = (route: AdminRoute): boolean => route.method === 'POST' && isWrite(route);

/** Which operations have which errors, besides those of every path. */
const RULES: readonly (readonly [when: (id: OperationId, route: AdminRoute) => boolean, ...codes: ProblemCode[]])[] = [
  [() => true, 'unauthorized', 'forbidden', 'invalid_query', 'too_many_failures', 'store_unavailable', 'busy'],
  [(_, { path }) => path.includes('{id}'), 'not_found'],
  [(id) => !needsNoStore(id), 'no_store'],
  [(_, { body }) => body !== undefined, 'invalid_json', 'invalid_body', 'too_large', 'unsupported_media_type'],
  [(_, { changes }) => changes === true, 'precondition_required', 'precondition_failed'],
  [(_, route) => isWrite(route), 'store_rolled_back'],
  [(id, route) => isWrite(route) && ofObjects(id), 'owned_by_files', 'not_owned'],
  [(_, route) => isRepeatable(route), 'invalid_header', 'idempotency_mismatch', 'replay_in_progress'],
  [(id) => ofObjects(id) && id.endsWith('.patch'), 'exists'],
  [(id) => /^budgets\.(?:patch|delete)$/.test(id), 'part_of_object'],
  [(id) => id.endsWith('.create'), 'exists', 'id_gone', 'store_full'],
  [(id) => /^(?:teams|organizations)\.delete$/.test(id), 'in_use'],
  [(id) => id === 'keys.rotate', 'key_revoked'],
  [(id) => id === 'session.create', 'insecure_session'],
  [(id) => id === 'providers.test' || id === 'alerts.test', 'too_many_tests'],
  [(id) => /^(?:keys|prices|providers)\.draft$/.test(id), 'cannot_patch', 'exists'],
  [(id) => id === 'prompts.draft', 'cannot_patch', 'not_found'],
  [(id) => id === 'prompts.run', 'key_inactive'],
  [(id) => id === 'playground.create', 'key_inactive', 'not_found'],
  [(id) => id === 'stream.get', 'invalid_header'],
  [(_, { explains }) => explains === true, 'unknown_key', 'cannot_explain'],
  [(id) => /^alerts\.(?:create|patch)$/.test(id), 'cannot_seal'],
];

const problemsOf = (id: OperationId, route: AdminRoute): readonly ProblemCode[] =>
  RULES.flatMap(([when, ...codes]) => (when(id, route) ? codes : []));

function operationOf(id: OperationId, route: AdminRoute, schemas: Components): object {
  const { summary, description, role, body, method } = route;
  const byStatus = Map.groupBy(problemsOf(id, route), (code) => String(PROBLEMS[code].status));
  const problems = [...byStatus].map(([status, codes]) => [status, problemResponse(codes, schemas)]);
  return {
    operationId: id,
    tags: [resourceOf(id)],
    summary,
    ...(description !== undefined && { description }),
    'x-role': role,
    parameters: parametersOf(route),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: schemas.ref(body) },
          ...(method === 'PATCH' && { 'application/merge-patch+json': { schema: schemas.ref(body) } }),
        },
      },
    }),
    responses: { [route.status]: answerOf(route, schemas), ...Object.fromEntries(problems) },
  };
}

/** A response of OpenAPI is one for each status: codes of one status share it. */
const problemResponse = (codes: readonly ProblemCode[], schemas: Components): object => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].help}`).join(' '),
  content: { 'application/problem+json': { schema: schemas.ref('problem') } },
});

function answerOf({ answer, pages, exports, explains, streams, status }: AdminRoute, schemas: Components): object {
  if (answer === undefined)
    return { description: 'Done.', ...(streams !== undefined && { content: { [streams]: { schema: {} } } }) };
  const item = schemas.ref(answer);
  const schema = pages
    ? {
        type: 'object',
        additionalProperties: false,
        required: ['items'],
        properties: {
          items: { type: 'array', items: item },
          next: { type: 'string', description: 'For `cursor`; absent: this is the last page.' },
          ...(answer === 'request_line' && {
            oldest: { type: ['string', 'null'], format: 'date-time' },
            partial: { type: 'array', items: { type: 'integer' } },
            live: {
              type: 'string',
              description: 'For `Last-Event-ID` of `GET /stream`, which goes on where this list began.',
            },
          }),
        },
      }
    : item;
  return {
    description: status === 201 ? 'Created.' : 'Done.',
    content: {
      [streams ?? 'application/json']: { schema },
      ...(explains && { 'text/plain': { schema: { type: 'string' } } }),
      ...(exports && {
        'text/csv': { schema: { type: 'string' } },
        'application/jsonl': { schema: { type: 'string' } },
      }),
    },
  };
}

function parametersOf(route: AdminRoute): readonly object[] {
  const { path, query = [], changes } = route;
  const ofQuery = query.map((name: ParameterName) => {
    const { description, schema, ...rest } = PARAMETERS[name];
    return {
      name,
      in: 'query',
      description,
      schema: 'many' in rest ? { type: 'array', items: schema, maxItems: 20 } : schema,
    };
  });
  const header = (name: string, description: string, required: boolean) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  });
  return [
    ...(path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] : []),
    ...ofQuery,
    ...(changes ? [header('If-Match', 'The ETag of the object, or `*`.', true)] : []),
    ...(isRepeatable(route)
      ? [
          header(
            'Idempotency-Key',
            'Any text of 1 to 255 characters. The same call with it has the same answer for 24 hours.',
            false,
          ),
        ]
      : []),
  ];
}

/** Keywords of the gateway's own schemas, and of drafts before 2020-12, that OpenAPI does not know. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  'x-secret',
  'x-filled',
  'x-login',
  'tsType',
  'discriminator',
  'writeOnly',
  '$id',
  '$schema',
]);

/** The schemas of a document under one name each; what they refer to comes with them. */
class Components {
  readonly #files: ReadonlyMap<string, Schema>;
  readonly #named = new Map<string, unknown>();

  constructor() {
    this.#files = new Map([adminSchema(), ...readReferred()].map((schema) => [String(schema['$id']), schema]));
  }

  ref(name: string): Schema {
    return this.#follow(`https://gatehouse.dev/schemas/admin.json#/definitions/${name}`);
  }

  all(): object {
    return Object.fromEntries([...this.#named].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #follow(address: string): Schema {
    const [file = '', pointer = ''] = address.split('#');
    const [, source = ''] = /\/([a-z]+)\.json$/.exec(file) ?? [];
    const own = pointer.split('/').at(-1) ?? '';
    const name = source === 'admin' ? own : `${source}.${own}`;
    if (!this.#named.has(name)) {
      // Set before its own references are followed: they may lead back here.
      this.#named.set(name, null);
      this.#named.set(name, this.#shown(valueAt(this.#files.get(file), pointer.split('/').slice(1))));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #shown(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item: unknown) => this.#shown(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => {
        if (NOT_SHOWN.has(key)) return [];
        if (key === '$ref' && typeof inner === 'string') return Object.entries(this.#follow(inner));
        return [[key, this.#shown(inner)]];
      }),
    );
  }
}
