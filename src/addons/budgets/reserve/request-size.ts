import { furtherModelsIn, type FurtherModel } from '../../../core/catalog/check-models.ts';
import { knownModel } from '../../../core/catalog/model-table/model-table.ts';
import { objectOf } from '../../../formats/json/object.ts';
import type { Attempt, Exchange, Outbound, ResolvedTarget } from '../../../core/kernel/index.ts';
import type { ModelTask } from '../../../plugin/index.ts';
import type { FormatName } from '../../../formats/conversation.ts';
import { asNumber } from '../../../formats/gemini/wire.ts';
import type { RequestSize, PromptMedium } from '../prices/reserve.ts';
import type { PriceTier } from '../prices/rates.ts';
import { namedMedia } from './prompt-media.ts';

export interface AttemptSize {
  readonly request: RequestSize;
  /** Models that the upstream may call in place of the target's, and as its tools. */
  readonly furtherModels: readonly FurtherModel[];
  /** The client set no length of the answer: the gateway chose one, or there is none. */
  readonly openEnded: boolean;
  /** Media may be among the bytes, which then say little about tokens. */
  readonly hasMedia: boolean;
}

/** The fields that bound an answer, by the format of the client. A field of another format would bound nothing: an upstream may ignore it. */
const OUTPUT_FIELDS: Readonly<Record<FormatName, readonly string[]>> = {
  'openai-chat': ['max_tokens', 'max_completion_tokens'],
  'openai-responses': ['max_output_tokens'],
  'anthropic-messages': ['max_tokens'],
  gemini: ['maxOutputTokens', 'max_output_tokens'],
};
const WITH_LIMIT: ReadonlySet<ModelTask | undefined> = new Set(['generate', 'completions']);
/** A config may write these fields, the tiers and the caches into requests of every API. */
const GENERATION_CONFIG = ['generationConfig', 'generation_config'];
const TIER_FIELDS = ['service_tier', 'serviceTier'];
const CACHES = ['cachedContent', 'cached_content'];
const ANSWERS = ['n', 'best_of', 'candidateCount', 'candidate_count'];
/** A prompt, conversation or cache that the vendor keeps: the prompt is longer than the body. */
const STORED: Readonly<Record<FormatName, readonly string[]>> = {
  'openai-chat': [],
  'openai-responses': ['previous_response_id', 'conversation', 'prompt'],
  'anthropic-messages': [],
  gemini: [],
};
const WITHOUT_OUTPUT: ReadonlySet<ModelTask | undefined> = new Set(['embeddings']);
/** A request of these may have a list of prompts, in `prompt`, `input` or `requests`. */
const LISTS: ReadonlySet<ModelTask | undefined> = new Set(['embeddings', 'completions', 'moderations']);
/** OpenAI makes no more pictures of one request (https://platform.openai.com/docs/api-reference/images/createEdit). */
const MOST_PICTURES = 10;
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
  const objects = objectsOf(body, format, operation?.fields?.lifted ?? []);
  const { given, output } = outputOf(objects, format, attempt);
  const asked = countsIn([...objects, ...generationConfigs(body)], ANSWERS);
  const tiers = TIER_FIELDS.map((name) => body.value(name)).filter(isTier);
  const isSilent = WITHOUT_OUTPUT.has(task);
  const media = mediaOf(outbound, hasStored(body, format));
  const size: RequestSize = {
    textBytes: bytesOf(outbound),
    ...(media.length > 0 && { media }),
    ...(LISTS.has(task) && { isList: true }),
    maxOutput: isSilent ? 0 : output,
    ...limitsOf(resolved.provider, resolved.model),
    cacheWrite: cacheWriteOf(outbound),
    tier: tiers.find((tier) => tier === 'priority') ?? tiers[0],
    fast: body.value('speed') === 'fast' ? true : undefined,
    geo: body.string('inference_geo'),
    ...(PICTURES.has(task)
      ? { images: picturesOf(outbound, asked) }
      : { answers: Math.max(1, ...asked) * (task === 'completions' ? promptsIn(body.value('prompt')) : 1) }),
    ...(SOUNDS.has(task) && { seconds: secondsOf(request) }),
  };
  return {
    request: size,
    furtherModels: furtherModelsIn(body, operation?.fields),
    openEnded: !isSilent && !given,
    hasMedia: media.length > 0 || hasMedia(outbound),
  };
}

const EVERY_OUTPUT_FIELD: ReadonlySet<string> = new Set(Object.values(OUTPUT_FIELDS).flat());

/** The limit that the gateway has set, under the name that the target's API has for it. */
const chosenIn = (defaulted: Attempt['defaulted']) => defaulted?.find(({ param }) => EVERY_OUTPUT_FIELD.has(param));

/** The field with which a client limits its answers, and the setting that does where it sends none. Undefined: the API has no such field. */
export function answerLimitOf({ operation }: Exchange, { defaulted }: Attempt) {
  if (!operation || !WITH_LIMIT.has(operation.task)) return undefined;
  const names = OUTPUT_FIELDS[operation.format.name];
  const field = operation.format.name === 'gemini' ? `generationConfig.${names[0]}` : names[0]!;
  return { field, setting: chosenIn(defaulted) ? 'default_max_tokens' : 'default_params' };
}

type ReadField = (name: string) => unknown;

/** The objects whose fields bound the answers. Some upstreams read the second and later ones as if they stood in the first. */
function objectsOf(body: Attempt['body'], format: FormatName, lifted: readonly string[]): readonly ReadField[] {
  if (format === 'gemini') return generationConfigs(body);
  return [(name) => body.value(name), ...lifted.flatMap((name) => within(body, name))];
}

const generationConfigs = (body: Attempt['body']): readonly ReadField[] =>
  GENERATION_CONFIG.flatMap((name) => within(body, name));

function within(body: Attempt['body'], name: string): readonly ReadField[] {
  const object = objectOf(body.value(name));
  return object ? [(field) => object[field]] : [];
}

/** A limit of the first object counts; those of others raise it only, because an upstream may ignore them. */
function outputOf(
  [first, ...others]: readonly ReadField[],
  format: FormatName,
  { defaulted }: Attempt,
): { readonly given: boolean; readonly output: number | undefined } {
  const names = OUTPUT_FIELDS[format];
  const own = first ? countsIn([first], names) : [];
  const chosen = chosenIn(defaulted)?.value;
  const limits = own.length > 0 || chosen === undefined ? own : [chosen];
  const output = limits.length > 0 ? Math.max(...limits, ...countsIn(others, names)) : undefined;
  return { given: own.length > 0, output };
}

/** Servers that read numbers from texts, such as those of protobuf's JSON and of forms, take `"8"` for 8. */
const countsIn = (objects: readonly ReadField[], names: readonly string[]): readonly number[] =>
  objects
    .flatMap((read) => names.map(read))
    .map(asNumber)
    .filter((value): value is number => value !== undefined && Number.isSafeInteger(value) && value > 0);

const hasStored = (body: Attempt['body'], format: FormatName): boolean =>
  [...STORED[format], ...CACHES].some((name) => (body.value(name) ?? undefined) !== undefined);

export function limitsOf(provider: string, model: string): Pick<RequestSize, 'tableOutput' | 'window'> {
  const known = knownModel(provider, model);
  return { tableOutput: known?.maxOutput, window: known?.context };
}

/** A list of texts, or of lists of tokens, has an answer for each. */
const promptsIn = (prompt: unknown): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;

/** The number may stand behind the files of a form, of which this process has read the beginning only. */
const picturesOf = ({ form }: Outbound, asked: readonly number[]): number =>
  asked.length === 0 && form && !form.held ? MOST_PICTURES : Math.max(1, ...asked);

function mediaOf({ body, form, batch }: Outbound, isStored: boolean): readonly PromptMedium[] {
  const named = form ? [] : (batch?.bodies ?? [body]).flatMap(namedMedia);
  return isStored ? [...named, { kind: 'document' }] : named;
}

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

const hasMedia = ({ body, form, batch }: Outbound): boolean =>
  form || batch || body.length > SEARCHED_BYTES ? true : MEDIA.some((word) => body.includes(word));

/** The bytes that leave, of all calls of a batch: prompts and media that the gateway has put in are among them. */
const bytesOf = ({ body, batch }: Outbound): number =>
  !batch ? Buffer.byteLength(body) : batch.bodies.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
