import type { JsonObject } from '../conversation.ts';
import type { Usage } from '../events.ts';
import { isObject, listOf, numberOf, objectOf } from './json.ts';

/**
 * Anthropic's `input_tokens` leaves cached tokens out; neutral input holds all of the prompt (wire.md D11). Undefined where
 * the object has no count at all, so that "not reported" is never read as zero.
 */
export function toUsage(raw: JsonObject): Usage | undefined {
  const runs = billed(raw);
  const fresh = sum(runs, (run) => numberOf(run.input_tokens));
  const output = sum(runs, (run) => numberOf(run.output_tokens));
  if (fresh === undefined && output === undefined) return undefined;
  const cacheRead = sum(runs, (run) => numberOf(run.cache_read_input_tokens));
  const cacheWrite = sum(runs, cacheCreation);
  const reasoning = numberOf(objectOf(raw.output_tokens_details)?.thinking_tokens);
  const input = (fresh ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    input,
    output: output ?? 0,
    total: input + (output ?? 0),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/**
 * What was really run. The top level leaves the work of compaction out, so the runs it names are added then; where a fallback
 * model answered, the top level is right again (B5).
 */
function billed(raw: JsonObject): readonly JsonObject[] {
  const runs = (listOf(raw.iterations) ?? []).filter(isObject);
  const ran = (type: string): boolean => runs.some((run) => run.type === type);
  if (!ran('compaction') || ran('fallback_message')) return [raw];
  return runs.filter(({ type }) => type === 'message' || type === 'compaction');
}

function sum(runs: readonly JsonObject[], count: (run: JsonObject) => number | undefined): number | undefined {
  const counts = runs.map(count).filter((value) => value !== undefined);
  return counts.length > 0 ? counts.reduce((total, value) => total + value, 0) : undefined;
}

/** The total, or the sum of its parts by time to live (`ephemeral_5m_input_tokens`) where only those are given. */
function cacheCreation(run: JsonObject): number | undefined {
  const parts = Object.values(objectOf(run.cache_creation) ?? {}).filter((value) => typeof value === 'number');
  const total = parts.length > 0 ? parts.reduce((whole, part) => whole + part, 0) : undefined;
  return numberOf(run.cache_creation_input_tokens) ?? total;
}

/**
 * `message_delta` counts are totals, and where they are not null they replace those of `message_start` (measured: 13 of 193
 * recorded streams change them, all with server tools).
 */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(said) };
}

/** Every key of B5, null where unknown: typed SDKs read them. `own`: the provider's own object, where it is in this format. */
export function fromUsage(usage: Usage | undefined, own: JsonObject = {}): JsonObject {
  const cacheRead = usage?.cacheRead ?? 0;
  const cacheWrite = usage?.cacheWrite ?? 0;
  return {
    input_tokens: Math.max(0, (usage?.input ?? 0) - cacheRead - cacheWrite),
    output_tokens: usage?.output ?? 0,
    cache_creation_input_tokens: usage?.cacheWrite ?? null,
    cache_read_input_tokens: usage?.cacheRead ?? null,
    cache_creation: null,
    output_tokens_details: usage?.reasoning === undefined ? null : { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
    ...own,
  };
}

/** Fields of the request as a whole: told once, in `message_start` (B6). */
const AT_START = ['cache_creation', 'service_tier', 'inference_geo', 'speed'];

/** The same as `message_delta` carries it: counts only. */
export function fromUsageDelta(usage: Usage | undefined, own?: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fromUsage(usage, own)).filter(([key]) => !AT_START.includes(key)));
}
