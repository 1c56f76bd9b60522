import type { BuiltinTool, FormatName, JsonObject } from './conversation.ts';
import { objectOf } from './json/object.ts';

interface SearchLimit {
  readonly kind: BuiltinTool['kind'];
  /** Names of the setting in the APIs, as paths in the tool. */
  readonly settings: readonly (readonly string[])[];
  /** The value that limits. Default: a list that is not empty. */
  readonly value?: boolean;
  /** The APIs with a setting for the limit. In any other, the tool is left out. */
  readonly keptBy: readonly FormatName[];
}

const ALLOWED = ['allowed_domains'];
const BLOCKED = ['blocked_domains'];

/**
 * Settings by which a caller says where a provider's own search may not go, and which APIs have them
 * (docs/protocols/requests.md#search-limits). Without its limit a tool would go where the caller forbids; without the tool the model
 * answers from what it knows.
 */
export const SEARCH_LIMITS: readonly SearchLimit[] = [
  { kind: 'web_search', settings: [['external_web_access']], value: false, keptBy: ['openai-responses'] },
  { kind: 'web_search', settings: [['indexed_web_access']], value: true, keptBy: ['openai-responses'] },
  {
    kind: 'web_search',
    settings: [ALLOWED, ['filters', ...ALLOWED]],
    keptBy: ['openai-responses', 'anthropic-messages'],
  },
  {
    kind: 'web_search',
    settings: [BLOCKED, ['filters', ...BLOCKED], ['excludeDomains'], ['exclude_domains']],
    keptBy: ['anthropic-messages', 'gemini'],
  },
  { kind: 'url_context', settings: [ALLOWED, BLOCKED], keptBy: [] },
];

/** The reason why a tool is left out for an API: it cannot keep to a limit of the caller. Undefined: the tool has no such limit. */
export function brokenLimit(kind: BuiltinTool['kind'], options: JsonObject, format: FormatName): string | undefined {
  for (const limit of SEARCH_LIMITS) {
    if (limit.kind !== kind || limit.keptBy.includes(format)) continue;
    const path = limit.settings.find((setting) => limits(valueAt(options, setting), limit.value));
    if (path) return `this target cannot keep to \`${path.join('.')}\`, and would go where the caller forbids`;
  }
  return undefined;
}

const valueAt = (options: JsonObject, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => objectOf(value)?.[key], options);

const limits = (value: unknown, one: boolean | undefined): boolean =>
  one === undefined ? Array.isArray(value) && value.length > 0 : value === one;
