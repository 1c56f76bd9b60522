import type { AdminRoute } from '../api/admin-route.ts';
import { readFile } from 'node:fs/promises';
import { BODY_SCHEMAS } from '../api/body-schemas.ts';
import { PARAMETERS, type ParameterName } from '../api/parameters.ts';
import { OPERATIONS, type OperationId } from '../api/routes.ts';
import { isObject } from '../../../core/kernel/index.ts';
import { nearest } from '../../../core/kernel/nearest.ts';
import { parse, UsageError, type FlagTable, type World } from '../../../core/commands/terminal/arguments.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';

export interface AdminCall {
  readonly operation: OperationId;
  readonly route: AdminRoute;
  /** Below `/admin/v1`, with the query. */
  readonly target: string;
  /** Without the query and the action: where the object is read. */
  readonly object: string;
  readonly body: object | undefined;
  readonly values: CommonValues;
}

interface CommonValues {
  readonly url: string;
  readonly token: string | undefined;
  readonly output: string;
  readonly all: boolean;
  readonly ifMatch: string | undefined;
  readonly idempotencyKey: string | undefined;
}

const COMMON = {
  url: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  output: { type: 'string', default: 'table' },
} as const satisfies FlagTable;

const URL_VARIABLE = 'GATEHOUSE_ADMIN_URL';
const TOKEN_VARIABLE = 'GATEHOUSE_ADMIN_TOKEN';
const DEFAULT_URL = 'http://127.0.0.1:8788';

interface BodyFlag {
  readonly name: string;
  readonly kind: 'text' | 'list' | 'json';
  readonly required: boolean;
}

const isTexts = (schema: unknown): boolean =>
  isObject(schema) && schema['type'] === 'array' && isObject(schema['items']) && schema['items']['type'] === 'string';

function fieldsOf({ body }: AdminRoute): readonly BodyFlag[] {
  const { properties, required } = body === undefined ? {} : BODY_SCHEMAS[body];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => {
    const type = isObject(schema) ? schema['type'] : undefined;
    const isJson = type === 'object' || type === 'array' || type === 'integer' || name === 'spec' || name === 'body';
    const kind = isTexts(schema) ? 'list' : isJson ? 'json' : 'text';
    return { name, kind, required: Array.isArray(required) && required.includes(name) };
  });
}

const flagOf = (name: string): string => name.replace('.NAME', '').replaceAll('_', '-');

const isMany = (name: ParameterName): boolean => 'many' in PARAMETERS[name];
const isFlag = (name: ParameterName): boolean => PARAMETERS[name].schema['type'] === 'boolean';

function optionsOf(route: AdminRoute): FlagTable {
  const query = (route.query ?? []).map((name) => [
    flagOf(name),
    isFlag(name) ? { type: 'boolean' } : { type: 'string', ...(isMany(name) && { multiple: true }) },
  ]);
  const fields = fieldsOf(route).map(({ name, kind }) => [
    flagOf(name),
    { type: 'string', ...(kind === 'list' && { multiple: true }) },
  ]);
  return {
    ...COMMON,
    ...Object.fromEntries([...query, ...fields]),
    ...(route.pages && { all: { type: 'boolean' } }),
    ...(route.changes && { 'if-match': { type: 'string' } }),
    ...(route.method === 'POST' && { 'idempotency-key': { type: 'string' } }),
  };
}

/** One line for each call, for `gatehouse admin help`. */
export const callLines = (): readonly string[] =>
  OPERATIONS.map(([operation, route]) => {
    const fields = fieldsOf(route).map(({ name, kind, required }) => {
      const flag = `--${flagOf(name)} ${kind === 'json' ? 'JSON|@FILE|-' : 'TEXT'}`;
      return required ? flag : `[${flag}]${kind === 'list' ? '...' : ''}`;
    });
    const query = (route.query ?? []).map((name) =>
      isFlag(name)
        ? `[--${flagOf(name)}]`
        : `[--${flagOf(name)} ${name === 'label.NAME' ? 'NAME=VALUE' : 'TEXT'}]${isMany(name) ? '...' : ''}`,
    );
    const more = [
      ...(route.pages ? ['[--all]'] : []),
      ...(route.changes ? ['[--if-match ETAG]'] : []),
      ...(route.method === 'POST' ? ['[--idempotency-key TEXT]'] : []),
    ];
    const words = operation.replace('.', ' ');
    const id = route.path.includes('{id}') ? ['ID'] : [];
    return `${[words, ...id, ...fields, ...query, ...more].join(' ')}\n    ${route.summary} (${route.role})`;
  });

/** `keys list`, `usage`: the action may be left out where there is one that only reads. */
function findOperation([resource = '', action]: readonly string[]): {
  readonly operation: OperationId;
  readonly route: AdminRoute;
  readonly words: number;
} {
  const own = OPERATIONS.filter(([id]) => id.startsWith(`${resource}.`));
  const known = [...new Set(OPERATIONS.map(([id]) => id.split('.')[0]!))];
  if (own.length === 0) {
    const suggestion = nearest(resource, known);
    throw new UsageError(
      `admin needs a resource (${known.join(', ')}), not ${JSON.stringify(resource)}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`,
    );
  }
  const found = own.find(([id]) => id === `${resource}.${action ?? ''}`);
  if (found) return { operation: found[0], route: found[1], words: 2 };
  const only = own.find(([id]) => /\.(?:list|get)$/.test(id));
  if (only && (action === undefined || action.startsWith('-'))) return { operation: only[0], route: only[1], words: 1 };
  throw new UsageError(`admin ${resource} needs an action: ${own.map(([id]) => id.split('.')[1]!).join(', ')}`);
}

export async function readCall(args: readonly string[], world: World): Promise<AdminCall> {
  const { operation, route, words } = findOperation(args);
  const hasId = route.path.includes('{id}');
  const { values, positionals } = parse(args.slice(words), optionsOf(route), hasId ? 1 : 0);
  const [id] = positionals;
  if (hasId && id === undefined) throw new UsageError(`admin ${operation.replace('.', ' ')} needs an ID`);
  const flags = new Map(Object.entries(values));
  const path = route.path.replace('{id}', encodeURIComponent(id ?? ''));
  const query = queryOf(route, flags);
  return {
    operation,
    route,
    target: query === '' ? path : `${path}?${query}`,
    object: `${route.path.slice(0, route.path.indexOf('{id}'))}${encodeURIComponent(id ?? '')}`,
    body: route.body === undefined ? undefined : await bodyOf(route, flags, world),
    values: await commonOf(flags, world),
  };
}

type Flags = ReadonlyMap<string, unknown>;

const textOf = (flags: Flags, name: string): string | undefined => {
  const value = flags.get(name);
  return typeof value === 'string' ? value : undefined;
};

function textsOf(flags: Flags, name: string): readonly string[] {
  const value = flags.get(name);
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string');
  return typeof value === 'string' ? [value] : value === true ? ['true'] : [];
}

function queryOf(route: AdminRoute, flags: Flags): string {
  const query = new URLSearchParams();
  for (const name of route.query ?? [])
    for (const value of textsOf(flags, flagOf(name)))
      query.append(...(name === 'label.NAME' ? labelOf(value) : ([name, value] as const)));
  return query.toString();
}

/** `NAME=VALUE` */
function labelOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError('--label must be NAME=VALUE');
  return [`label.${text.slice(0, at)}`, text.slice(at + 1)];
}

async function bodyOf(route: AdminRoute, flags: Flags, world: World): Promise<object> {
  const body: Record<string, unknown> = {};
  for (const { name, kind, required } of fieldsOf(route)) {
    const texts = textsOf(flags, flagOf(name));
    const [text] = texts;
    if (text === undefined && required) throw new UsageError(`--${flagOf(name)} is missing`);
    if (text !== undefined)
      body[name] = kind === 'json' ? await jsonOf(flagOf(name), text, world) : kind === 'list' ? texts : text;
  }
  return body;
}

/** JSON, `@FILE` with JSON, or `-` for standard input. */
async function jsonOf(flag: string, value: string, { input }: World): Promise<unknown> {
  const text =
    value === '-' ? (await input()).toString() : value.startsWith('@') ? await fileOf(value.slice(1)) : value;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`--${flag} must be JSON, @FILE or -`);
  }
}

async function fileOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

async function commonOf(flags: Flags, { env }: World): Promise<CommonValues> {
  const url = textOf(flags, 'url') ?? env[URL_VARIABLE] ?? DEFAULT_URL;
  if (!/^https?:\/\/[^\s/]+(?:\/\S*)?$/.test(url)) throw new UsageError(`--url must be an http URL, not ${url}`);
  const file = textOf(flags, 'token-file');
  const token = textOf(flags, 'token') ?? (file === undefined ? env[TOKEN_VARIABLE] : (await fileOf(file)).trim());
  const output = textOf(flags, 'output') ?? 'table';
  if (output !== 'table' && output !== 'json') throw new UsageError(`--output must be table or json, not ${output}`);
  return {
    url: url.replace(/\/+$/, ''),
    token: token === '' ? undefined : token,
    output,
    all: flags.get('all') === true,
    ifMatch: textOf(flags, 'if-match'),
    idempotencyKey: textOf(flags, 'idempotency-key'),
  };
}
