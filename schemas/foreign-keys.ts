/**
 * The keys of other gateways' configs, and what becomes of each here: from the schemas, from the advice that `gatehouse validate`
 * gives and from the reasons that `gatehouse import` reports. A key without an answer is an error, so that no page promises what the diagnostics do not know.
 */
import { DEPLOYMENT, GENERAL, KEY, LITELLM, ROUTER, TEAM } from '../src/addons/import/litellm-reasons.ts';
import type { Reasons } from '../src/addons/import/source.ts';
import { adviceOnKey } from '../src/core/settings/problems/foreign-words.ts';
import type { Place } from './places.ts';

/** Keys of an object: its path in the other gateway's config, the path and the title of the object here. */
interface Keys {
  readonly at: string;
  readonly path: string;
  readonly title: string;
  readonly names: readonly string[];
}

/** https://portkey.ai/docs/api-reference/inference-api/config-object */
const PORTKEY: readonly Keys[] = [
  {
    at: '',
    path: '',
    title: 'GatewayFile',
    names: [
      'strategy',
      'targets',
      'provider',
      'virtual_key',
      'override_params',
      'request_timeout',
      'retry',
      'cache',
      'forward_headers',
      'strict_open_ai_compliance',
      'custom_host',
      'vertex_project_id',
      'vertex_region',
      'vertex_service_account_json',
      'before_request_hooks',
      'after_request_hooks',
      'input_guardrails',
      'output_guardrails',
    ],
  },
  { at: 'targets[].', path: 'targets[]', title: 'Target', names: ['name', 'weight'] },
  {
    at: 'strategy.',
    path: 'strategy',
    title: 'Strategy',
    names: ['mode', 'on_status_codes', 'conditions', 'default', 'cb_config', 'sticky_session'],
  },
  {
    at: 'strategy.conditions[].',
    path: 'strategy.conditions[]',
    title: 'Condition',
    names: ['query', 'then'],
  },
  {
    at: 'strategy.cb_config.',
    path: 'circuit_breaker',
    title: 'CircuitBreaker',
    names: [
      'failure_threshold',
      'failure_threshold_percentage',
      'minimum_requests',
      'cooldown_interval',
      'failure_status_codes',
    ],
  },
  { at: 'retry.', path: 'retry', title: 'Retry', names: ['attempts', 'on_status_codes', 'use_retry_after_header'] },
  { at: 'cache.', path: 'cache', title: 'Cache', names: ['mode', 'max_age'] },
];

/** Rows of a table: the key there, what to write here. */
export function portkeyRows(places: readonly Place[]): readonly (readonly [string, string])[] {
  return PORTKEY.flatMap(({ at, path, title, names }) =>
    names.map((name): readonly [string, string] => [
      `\`${at}${name}\``,
      answerTo({ name, path: path === '' ? name : `${path}.${name}`, title }, places),
    ]),
  );
}

/** Values that the gateway rewrites (src/core/settings/read/spellings.ts). */
const NOTES: Readonly<Record<string, string>> = {
  'cache.mode': '`simple` works, with a warning: write `exact`; `semantic` needs `embeddings`',
};

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly title: string;
}

function answerTo({ name, path, title }: Asked, places: readonly Place[]): string {
  const place = places.find((one) => one.path === path);
  if (place?.deprecated) return `works, with a warning: ${String(place.schema['description'])}`;
  const advice = adviceOnKey(title, name);
  if (advice !== undefined) return advice;
  if (!place) throw new Error(`neither the schema nor the diagnostics know ${path}`);
  return NOTES[path] ?? 'works as it is';
}

const LITELLM_PARTS: readonly (readonly [title: string, reasons: Reasons])[] = [
  ['`model_list[].litellm_params`', DEPLOYMENT],
  ['`litellm_settings`', LITELLM],
  ['`router_settings`', ROUTER],
  ['`general_settings`', GENERAL],
  ['Keys', KEY],
  ['Teams', Object.fromEntries(Object.entries(TEAM).filter(([key, reason]) => KEY[key] !== reason))],
];

/** Tables of the keys that the import leaves out, by the part of LiteLLM's files that has them: one row for each reason. */
export function litellmTables(): readonly (readonly [title: string, rows: readonly (readonly [string, string])[]])[] {
  return LITELLM_PARTS.map(([title, reasons]) => {
    const byReason = Map.groupBy(Object.entries(reasons), ([, { reason }]) => reason);
    return [title, [...byReason].map(([reason, keys]) => [keys.map(([key]) => `\`${key}\``).join(', '), reason])];
  });
}
