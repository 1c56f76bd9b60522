import type { JsonObject } from '../conversation.ts';
import { claimOf, sound, sumOfClaims } from '../counts.ts';
import { pricedTier, type Usage, type FinishReason } from '../events.ts';
import { isObject, objectOf, setField, listOf, stringOf } from '../json/object.ts';

interface Counts {
  readonly fresh: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h: number | undefined;
}

/**
 * The usage of one reply, which arrives in several steps. Counts of `message_delta` are totals and replace those of
 * `message_start`, unless they are null (measured: 13 of 193 recorded streams change them, all with server tools).
 * Lists and objects are summed when they arrive: with every later step costs the square of a reply's length.
 */
export class MessagesUsageReader {
  /** All fields reported so far, in the provider's format. */
  readonly raw: JsonObject = {};
  #ofRuns: Counts | undefined;
  #cacheParts: number | undefined;
  #ofAdvisors: Usage['otherModels'];

  /** Undefined while there is no count at all, so that "not reported" is never read as zero. */
  read(later: JsonObject): Usage | undefined {
    for (const key in later) {
      const value = Object.hasOwn(later, key) ? later[key] : undefined;
      if (value !== null && value !== undefined) setField(this.raw, key, value);
    }
    if (listOf(later.iterations)) {
      this.#ofRuns = countRuns(this.raw);
      this.#ofAdvisors = countAdvisors(this.raw);
    }
    if (objectOf(later.cache_creation)) this.#cacheParts = cacheParts(this.raw);
    const usage = normalise(this.#ofRuns ?? countRun(this.raw, this.#cacheParts), this.raw);
    return usage && this.#ofAdvisors ? { ...usage, otherModels: this.#ofAdvisors } : usage;
  }
}

/** Anthropic's `input_tokens` leaves cached tokens out; neutral input is the whole prompt (docs/protocols/replies.md#usage). */
function normalise(counts: Counts, raw: JsonObject): Usage | undefined {
  if (counts.fresh === undefined && counts.output === undefined) return undefined;
  const reasoning = claimOf(objectOf(raw.output_tokens_details)?.thinking_tokens);
  return sound({ ...tokensOf(counts), ...(reasoning !== undefined && { reasoning }), ...pricedBy(raw) });
}

function tokensOf({ fresh = 0, output = 0, cacheRead, cacheWrite, cacheWrite1h }: Counts): Usage {
  const input = fresh + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    input,
    output,
    total: input + output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    // Most writes are for 5 minutes.
    ...(cacheWrite1h && { cacheWrite1h }),
  };
}

/** Fields besides the counts on which prices depend. */
function pricedBy(raw: JsonObject): Pick<Usage, 'tier' | 'geo' | 'fast' | 'searches'> | undefined {
  const searches = claimOf(objectOf(raw.server_tool_use)?.web_search_requests);
  const isFast = raw.speed === 'fast';
  const place = placeOf(raw);
  if (!searches && !isFast) return place;
  return { ...(searches && { searches }), ...place, ...(isFast && { fast: true }) };
}

function placeOf(raw: JsonObject): Pick<Usage, 'tier' | 'geo'> | undefined {
  const tier = pricedTier(raw.service_tier);
  const isUs = raw.inference_geo === 'us';
  if (!tier && !isUs) return undefined;
  return { ...(tier && { tier }), ...(isUs && { geo: 'us' as const }) };
}

/**
 * The tokens of all runs, where the top level leaves some out. It leaves out the work of compaction, so the listed runs are summed; where
 * a fallback model answered, the top level is right (docs/protocols/anthropic-messages.md#usage-iterations).
 */
function countRuns(raw: JsonObject): Counts | undefined {
  const runs = (listOf(raw.iterations) ?? []).filter(isObject);
  const ran = (type: string): boolean => runs.some((run) => run.type === type);
  if (!ran('compaction') || ran('fallback_message')) return undefined;
  return runs
    .filter(({ type }) => type === 'message' || type === 'compaction')
    .map((run) => countRun(run, cacheParts(run)))
    .reduce(addCounts, NOTHING_COUNTED);
}

/** An advisor is a model of its own, whose runs the top level leaves out (docs/protocols/anthropic-messages.md#usage-iterations). */
function countAdvisors(raw: JsonObject): Usage['otherModels'] {
  const byModel = new Map<string | undefined, Counts>();
  for (const run of (listOf(raw.iterations) ?? []).filter(isObject)) {
    if (run.type !== 'advisor_message') continue;
    const model = stringOf(run.model);
    byModel.set(model, addCounts(byModel.get(model) ?? NOTHING_COUNTED, countRun(run, cacheParts(run))));
  }
  if (byModel.size === 0) return undefined;
  return [...byModel].map(([model, counts]) => ({ model, usage: sound({ ...tokensOf(counts), ...placeOf(raw) }) }));
}

const NOTHING_COUNTED: Counts = {
  fresh: undefined,
  output: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  cacheWrite1h: undefined,
};

function addCounts(a: Counts, b: Counts): Counts {
  return {
    fresh: add(a.fresh, b.fresh),
    output: add(a.output, b.output),
    cacheRead: add(a.cacheRead, b.cacheRead),
    cacheWrite: add(a.cacheWrite, b.cacheWrite),
    cacheWrite1h: add(a.cacheWrite1h, b.cacheWrite1h),
  };
}

const add = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : sumOfClaims(a, b);

/** The cache tokens that were written: the total, or the sum of its parts where only those are given. */
function countRun(run: JsonObject, parts: number | undefined): Counts {
  return {
    fresh: claimOf(run.input_tokens),
    output: claimOf(run.output_tokens),
    cacheRead: claimOf(run.cache_read_input_tokens),
    cacheWrite: claimOf(run.cache_creation_input_tokens) ?? parts,
    cacheWrite1h: claimOf(objectOf(run.cache_creation)?.ephemeral_1h_input_tokens),
  };
}

/** By time to live: `ephemeral_5m_input_tokens`. */
function cacheParts(run: JsonObject): number | undefined {
  const parts = Object.values(objectOf(run.cache_creation) ?? {}).filter((value) => typeof value === 'number');
  return parts.length > 0 ? parts.reduce((whole, part) => sumOfClaims(whole, part), 0) : undefined;
}

/** Every key of the usage, null where unknown: typed SDKs read them. `own`: the provider's own object. */
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

/** Facts about the whole request: sent once, in `message_start` (docs/protocols/anthropic-messages.md#message-start). */
const AT_START = ['cache_creation', 'service_tier', 'inference_geo', 'speed'];

/** The usage of `message_delta`: counts only. */
export function fromUsageDelta(usage: Usage | undefined, own?: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fromUsage(usage, own)).filter(([key]) => !AT_START.includes(key)));
}

/** Stop reasons (docs/protocols/replies.md#finish-reasons). `compaction` is beta. */
const TO_NEUTRAL: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['compaction', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

const FROM_NEUTRAL: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

interface CallsSeen {
  /** Calls that the client must answer. */
  readonly calls: number;
  /** Uses of the forced tool of a JSON answer: an ordinary stop (docs/protocols/requests.md#the-json-tool). */
  readonly jsonAnswers: number;
}

/** An unknown or missing stop reason still means `tool_calls` when the reply has calls. */
export function toFinish(stopReason: string | undefined, seen: CallsSeen): FinishReason {
  if (stopReason === 'tool_use' && seen.calls === 0 && seen.jsonAnswers > 0) return 'stop';
  // GLM's word for its filter, which is none of Anthropic's.
  if (stopReason === 'sensitive') return 'content_filter';
  const known = stopReason === undefined ? undefined : TO_NEUTRAL.get(stopReason);
  return known ?? (seen.calls > 0 ? 'tool_calls' : 'stop');
}

/** The provider's own stop reason, if it is one of Anthropic's: `pause_turn` and `stop_sequence` stay. */
export function fromFinish(reason: FinishReason | undefined, native: string | undefined): string {
  if (native !== undefined && TO_NEUTRAL.get(native) === reason) return native;
  return FROM_NEUTRAL[reason ?? 'stop'];
}
