import type { PromptPrefixes } from '../../../core/kernel/prompt-prefixes.ts';

/** Why the cache of a provider had nothing of a prompt, as far as the requests before it say. */
export const MISS_CAUSES = [
  'first',
  'short',
  'target',
  'key_order',
  'tools',
  'system',
  'pause',
  'messages',
  'unwritten',
  'unknown',
  'other',
] as const;
export type MissCause = (typeof MISS_CAUSES)[number];

interface CountedTokens {
  readonly input?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly cache_write_1h?: number;
}

/** A line of the list of requests. */
export interface CachedRequest {
  readonly request_id: string;
  readonly time: string;
  readonly key_id?: string;
  readonly alias?: string;
  readonly provider?: string;
  readonly request_model?: string;
  readonly target?: string;
  readonly tokens?: CountedTokens;
  readonly prefixes?: PromptPrefixes;
}

export interface Miss {
  readonly cause: MissCause;
  /** Bytes of the tools, the system prompt or the messages that were still the same, at least. */
  readonly after?: number;
}

/** Vendors cache no shorter prompt. */
const LEAST_TOKENS = 1024;
/** Anthropic and OpenAI keep a prompt for 5 minutes after its last use, or for an hour where a request has paid for that. */
const TTL_MS = 300_000;
const LONG_TTL_MS = 3_600_000;

/** @param before the request before it of the same key and model; undefined: it is the first one that is kept */
export function missOf(request: CachedRequest, before: CachedRequest | undefined): Miss {
  const { input = 0 } = request.tokens ?? {};
  if (input < LEAST_TOKENS) return { cause: 'short' };
  if (!before) return { cause: 'first' };
  if (request.provider !== before.provider || request.target !== before.target) return { cause: 'target' };
  const [now, then] = [request.prefixes, before.prefixes];
  const comparable = now !== undefined && then !== undefined && now.by === then.by;
  const changed = comparable ? changeOf(now, then) : undefined;
  if (changed && changed.cause !== 'messages') return changed;
  const { tokens = {} } = before;
  const pause = Date.parse(request.time) - Date.parse(before.time);
  if (pause > ((tokens.cache_write_1h ?? 0) > 0 ? LONG_TTL_MS : TTL_MS)) return { cause: 'pause' };
  if (changed) return changed;
  if (tokens.cache_write === 0 && !tokens.cache_read) return { cause: 'unwritten' };
  return { cause: comparable ? 'other' : 'unknown' };
}

type Hashes = ReadonlyMap<number, string>;

/** Undefined: nothing has changed up to the last length that both have. */
function changeOf(now: PromptPrefixes, then: PromptPrefixes): Miss | undefined {
  const [ofNow, ofThen]: [Hashes, Hashes] = [new Map(now.prefixes), new Map(then.prefixes)];
  const same = Math.max(0, ...[...ofNow].flatMap(([length, hash]) => (ofThen.get(length) === hash ? [length] : [])));
  const isSame = (end: number, other: number): boolean => end === other && (end === 0 || end <= same);
  const [head, otherHead] = [now.tools + now.system, then.tools + then.system];
  const hasTools = isSame(now.tools, then.tools);
  if (!hasTools || !isSame(head, otherHead)) {
    if (now.sorted !== '' && now.sorted === then.sorted) return { cause: 'key_order' };
    return hasTools ? { cause: 'system', after: Math.max(0, same - now.tools) } : { cause: 'tools', after: same };
  }
  // The text behind the longest equal prefix was in both prompts, and is another one now.
  const differs = [...ofNow].some(
    ([length, hash]) => length > same && ofThen.has(length) && ofThen.get(length) !== hash,
  );
  return differs ? { cause: 'messages', after: Math.max(0, same - head) } : undefined;
}

export interface CacheRow {
  readonly key: string;
  readonly model: string;
  readonly requests: number;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  /** Requests of which nothing was read from the cache. */
  readonly misses: number;
  readonly causes: Partial<Record<MissCause, number>>;
  /** The latest miss of each cause. */
  readonly examples: readonly {
    readonly cause: MissCause;
    readonly request_id: string;
    readonly after: number | null;
  }[];
}

/** @param requests in any order. Those without tokens, and of providers that do not tell what they read from a cache, are left out */
export function cacheRows(requests: readonly CachedRequest[]): readonly CacheRow[] {
  const told = requests.filter(({ tokens }) => (tokens?.input ?? 0) > 0 && tokens?.cache_read !== undefined);
  const groups = Map.groupBy(told, (one) => JSON.stringify([one.key_id ?? '', one.alias ?? one.request_model ?? '']));
  return [...groups.values()].map(rowOf).toSorted((one, other) => other.input - one.input);
}

function rowOf(group: readonly CachedRequest[]): CacheRow {
  const requests = group.toSorted((one, other) => (one.time < other.time ? -1 : 1));
  const [{ key_id: key = '', alias, request_model: model = '' }] = requests as [CachedRequest];
  const sum = (name: keyof CountedTokens): number =>
    requests.reduce((all, { tokens }) => all + (tokens?.[name] ?? 0), 0);
  const causes: Partial<Record<MissCause, number>> = {};
  const examples = new Map<MissCause, CacheRow['examples'][number]>();
  let misses = 0;
  requests.forEach((request, index) => {
    if ((request.tokens?.cache_read ?? 0) > 0) return;
    const { cause, after = null } = missOf(request, requests[index - 1]);
    misses += 1;
    causes[cause] = (causes[cause] ?? 0) + 1;
    examples.set(cause, { cause, request_id: request.request_id, after });
  });
  return {
    key,
    model: alias ?? model,
    requests: requests.length,
    input: sum('input'),
    cache_read: sum('cache_read'),
    cache_write: sum('cache_write'),
    misses,
    causes,
    examples: [...examples.values()],
  };
}
