import type { JsonPath } from '../schema/pointer.ts';
import type { Schema, SchemaName } from '../schema/schema-files.ts';

export const ADD_ON_FILES: Readonly<Partial<Record<SchemaName, string>>> = {
  prices: 'budgets',
  prompt: 'prompts',
  test: 'config-tests',
};

type Keys = Readonly<Record<string, string>>;

const OF_NODES: Keys = { budgets: 'budgets', limits: 'budgets' };
const under = (path: string, keys: Keys): Keys =>
  Object.fromEntries(Object.entries(keys).map(([key, addOn]) => [`${path}.${key}`, addOn]));

/**
 * Which add-on brings a key of a file, or a value (`provider=simulator`), by path; `*` is any item or name. In gateway configs the paths
 * hold inside targets too. Schemas have these keys from schemas/addons; this table names them where the add-on is not in the build.
 */
export const ADD_ON_KEYS: Readonly<Partial<Record<SchemaName, Keys>>> = {
  server: {
    admin: 'admin',
    'admin.content': 'console',
    'admin.explain': 'explain',
    'admin.public_url': 'console',
    alerts: 'alerts',
    'cache.semantic': 'semantic-cache',
    files: 'files',
    guards: 'guards',
    portkey_statuses: 'guards',
    responses: 'responses',
    state: 'budgets',
    'state.records': 'console',
    'state.shared': 'valkey',
    'state.store.ca': 'postgres',
    'state.store.connections': 'postgres',
    'state.store.listen': 'postgres',
    'state.store.schema': 'postgres',
    'state.store.type=postgres': 'postgres',
    'state.store.url': 'postgres',
    'telemetry.prefix_hashes': 'console',
    'telemetry.semconv': 'otlp',
    'telemetry.traces': 'otlp',
    websockets: 'responses',
  },
  catalog: { 'providers.*.limits': 'budgets', 'providers.*.provider=simulator': 'simulator' },
  keys: under('keys.*', { ...OF_NODES, files: 'files', guards: 'guards', prompts: 'prompts' }),
  teams: { ...under('organizations.*', OF_NODES), ...under('teams.*', OF_NODES) },
  gateway: {
    'cache.embeddings': 'semantic-cache',
    'cache.mode=semantic': 'semantic-cache',
    'cache.threshold': 'semantic-cache',
    'cache.timeout': 'semantic-cache',
    after_request_hooks: 'guards',
    before_request_hooks: 'guards',
    guards: 'guards',
    input_guardrails: 'guards',
    output_guardrails: 'guards',
    prompts: 'prompts',
    'reply_headers.*=cost': 'budgets',
    'reply_headers.*=explain_id': 'explain',
  },
};

/** The message about a key, or a value, that the schemas of this build lack and an add-on would bring. Undefined: none would. */
export function absentAddOn(root: readonly Schema[], path: JsonPath, value?: unknown): string | undefined {
  const file = /\/([a-z]+)\.json$/.exec(String(root[0]?.['$id']))?.[1];
  const keys = Object.entries(ADD_ON_KEYS).find(([name]) => name === file)?.[1] ?? {};
  const own = file === 'gateway' ? outsideTargets(path) : path;
  const row = Object.entries(keys).find(([pattern]) => fits(pattern, own, value));
  return row && withoutAddOn(row[1]);
}

export const withoutAddOn = (addOn: string): string => `this build has no add-on ${addOn}`;

const outsideTargets = (path: JsonPath): JsonPath =>
  path[0] === 'targets' && path.length > 2 ? outsideTargets(path.slice(2)) : path;

function fits(pattern: string, path: JsonPath, value: unknown): boolean {
  const [place = '', wanted] = pattern.split('=');
  const steps = place.split('.');
  return (
    wanted === value &&
    steps.length === path.length &&
    steps.every((step, index) => step === '*' || step === path[index])
  );
}
