import { knownModel } from '../../catalog/model-table/model-table.ts';
import { objectOf } from '../../formats/json/object.ts';
import type { Attempt, Exchange, ModelTask, Outbound, ResolvedTarget } from '../../plugin/index.ts';
import type { FormatName } from '../../formats/conversation.ts';
import type { RequestSize } from '../../prices/reserve.ts';
import type { PriceTier } from '../../prices/rates.ts';

/** The bounds of the usage of an attempt, read from the request before it is sent. */
export interface AttemptSize {
  readonly request: RequestSize;
  /** The client set no length of the answer: the gateway chose one, or there is none. */
  readonly openEnded: boolean;
  /** Media may be among the bytes, which then say little about tokens. */
  readonly hasMedia: boolean;
}

/**
 * The fields that bound an answer, by the format of the client. A field of another format would bound nothing: an upstream may ignore
 * it. A body with several has the largest.
 */
const OUTPUT_FIELDS: Readonly<Record<FormatName, readonly string[]>> = {
  'openai-chat': ['max_tokens', 'max_completion_tokens'],
  'openai-responses': ['max_output_tokens'],
  'anthropic-messages': ['max_tokens'],
  gemini: [],
};
const GEMINI_OUTPUT = ['maxOutputTokens', 'max_output_tokens'];
const ANSWERS = ['n', 'best_of'];
const GEMINI_ANSWERS = ['candidateCount', 'candidate_count'];
const WITHOUT_OUTPUT: ReadonlySet<ModelTask | undefined> = new Set(['embeddings']);
const TIERS: ReadonlySet<unknown> = new Set<PriceTier>(['batch', 'flex', 'priority']);
const PICTURES: ReadonlySet<ModelTask | undefined> = new Set(['images', 'image_edits', 'image_variations']);
const SOUNDS: ReadonlySet<ModelTask | undefined> = new Set(['transcriptions', 'translations']);
/** Speech has 1,000 bytes a second or more. */
const SOUND_BYTES_PER_SECOND = 1000;

/** Reads the fields of the body that decide the cost, and nothing else: the body is not parsed whole. */
export function readRequestSize(
  { operation, request }: Exchange,
  attempt: Attempt,
  resolved: ResolvedTarget,
  outbound: Outbound,
): AttemptSize {
  const { body } = attempt;
  const task = operation?.task;
  const format = operation?.format.name ?? 'openai-chat';
  const isGemini = format === 'gemini';
  const generation =
    (isGemini && (objectOf(body.value('generationConfig')) ?? objectOf(body.value('generation_config')))) || {};
  const given = counts([
    ...OUTPUT_FIELDS[format].map((name) => body.value(name)),
    ...GEMINI_OUTPUT.map((name) => generation[name]),
  ]);
  const chosen = attempt.defaulted?.find(({ param }) => OUTPUT_FIELDS[format].includes(param))?.value;
  const known = knownModel(resolved.provider, resolved.model);
  const answers = counts([
    ...ANSWERS.map((name) => body.value(name)),
    ...GEMINI_ANSWERS.map((name) => generation[name]),
  ]);
  const tier = body.value('service_tier');
  const isSilent = WITHOUT_OUTPUT.has(task);
  const size: RequestSize = {
    textBytes: bytesOf(outbound),
    maxOutput: isSilent ? 0 : given.length > 0 ? Math.max(...given) : chosen,
    tableOutput: known?.maxOutput,
    window: known?.context,
    cacheWrite: cacheWriteOf(outbound),
    tier: isTier(tier) ? tier : undefined,
    fast: body.value('speed') === 'fast' ? true : undefined,
    ...(PICTURES.has(task) ? { images: Math.max(1, ...answers) } : { answers: Math.max(1, ...answers) }),
    ...(SOUNDS.has(task) && { seconds: secondsOf(request) }),
  };
  return { request: size, openEnded: !isSilent && given.length === 0, hasMedia: hasMedia(outbound) };
}

const counts = (values: readonly unknown[]): readonly number[] =>
  values.filter((value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0);

const isTier = (value: unknown): value is PriceTier => TIERS.has(value);

/** A mark for a cache may be written with escapes, so that a body with any may have one. */
function cacheWriteOf({ body }: Outbound): RequestSize['cacheWrite'] {
  if (body.includes('\\u')) return '1h';
  if (!body.includes('cache_control')) return undefined;
  return body.includes('1h') ? '1h' : '5m';
}

/** A form is sent on as it arrives, so its length is that of the client's content-length. */
function secondsOf({ bodyBytes, headers }: Exchange['request']): number {
  const announced = Number(headers['content-length'] ?? 0);
  return Math.ceil(Math.max(bodyBytes, Number.isSafeInteger(announced) ? announced : 0) / SOUND_BYTES_PER_SECOND);
}

/** Longer bodies are not searched: what is learned of prompts needs ordinary ones only. */
const SEARCHED_BYTES = 64 * 1024;
const MEDIA = ['base64', 'inlineData', 'inline_data', 'file_data', 'fileData'];

function hasMedia({ body, form, batch }: Outbound): boolean {
  if (form || batch || body.length > SEARCHED_BYTES) return true;
  return MEDIA.some((word) => body.includes(word));
}

/** The bytes that leave, of all calls of a batch: prompts and media that the gateway has put in are among them. */
function bytesOf({ body, batch }: Outbound): number {
  if (!batch) return Buffer.byteLength(body);
  return batch.bodies.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
}
