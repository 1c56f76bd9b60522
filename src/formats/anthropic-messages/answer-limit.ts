import type { Conversation, DefaultedParam, MediaPart, Part } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject } from '../json/object.ts';

/** For a model whose limits are unknown: every model with this API allows it. */
const UNKNOWN_MODEL = 4096;

/**
 * The smallest default while the context window seems full. The size of the input is an estimate, so the upstream
 * decides whether the request fits; a smaller limit would cut the answer of a request that does.
 */
const SMALLEST = 4096;

/** `max_tokens`, which this API demands (docs/protocols/requests.md#default-max-tokens). The caller's limit stays. */
export class AnswerLimit {
  #tokens: number;
  readonly #highest: number;
  readonly #reason: string | undefined;

  /** Throws RequestFault for a request without a limit at a target that refuses it. */
  constructor(conversation: Conversation, target: RequestTarget) {
    const { maxTokens } = conversation;
    const { defaultMaxTokens: setting = 'refuse', limits } = target;
    this.#highest = limits?.output ?? Number.POSITIVE_INFINITY;
    if (maxTokens !== undefined) this.#tokens = maxTokens;
    else if (setting === 'refuse') throw missing();
    else if (setting !== 'model') {
      this.#tokens = Math.min(setting, this.#highest);
      this.#reason = 'default_max_tokens of the settings';
    } else if (limits) {
      const room = Math.max(limits.context - estimateInput(conversation), SMALLEST);
      this.#tokens = Math.min(limits.output, room);
      this.#reason = room < limits.output ? 'the rest of the context window (estimated)' : 'the limit of the model';
    } else {
      this.#tokens = UNKNOWN_MODEL;
      this.#reason = 'the limit of this model is unknown';
    }
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Raises a default above a thinking budget, which is part of the limit. */
  makeRoomFor(budget: number): void {
    if (this.#reason !== undefined && budget >= this.#tokens)
      this.#tokens = Math.min(this.#highest, budget + this.#tokens);
  }

  get defaulted(): readonly DefaultedParam[] {
    return this.#reason === undefined ? [] : [{ param: 'max_tokens', value: this.#tokens, reason: this.#reason }];
  }
}

const missing = (): RequestFault =>
  new RequestFault(
    'missing_required_parameter',
    'Claude needs a limit for its answer: send `max_tokens` (or `max_completion_tokens`).',
    'max_tokens',
  );

/** Text in UTF-8: fewer bytes per token than in English prose, so that the estimate is rather too high. */
const BYTES_PER_TOKEN = 3;
/** Rather too high as well (docs/protocols/requests.md#default-max-tokens). */
const IMAGE_TOKENS = 5000;
const PAGE_TOKENS = 3000;
const PAGE_BASE64 = 100_000;

/** Tokens of the turns, tools and schemas. Linear in their size. */
function estimateInput({ turns, tools, responseFormat }: Conversation): number {
  let tokens = bytesOf(tools) + bytesOf(responseFormat);
  tokens /= BYTES_PER_TOKEN;
  for (const { parts } of turns) for (const part of parts) tokens += tokensOf(part);
  return Math.ceil(tokens);
}

function tokensOf(part: Part): number {
  if (part.type === 'media') return mediaTokens(part);
  if (part.type === 'tool_result') return part.content.reduce((sum, one) => sum + tokensOf(one), 0);
  return bytesOf(part) / BYTES_PER_TOKEN;
}

function mediaTokens({ media, source }: MediaPart): number {
  if (source.kind === 'text') return Buffer.byteLength(source.text) / BYTES_PER_TOKEN;
  if (media === 'image') return IMAGE_TOKENS;
  return source.kind === 'data' ? PAGE_TOKENS * Math.ceil(source.data.length / PAGE_BASE64) : PAGE_TOKENS;
}

/** Bytes of all texts and keys of a JSON value. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number' || typeof value === 'boolean') return 4;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + bytesOf(item), 0);
  if (!isObject(value)) return 0;
  let sum = 0;
  for (const key of Object.keys(value)) sum += Buffer.byteLength(key) + bytesOf(value[key]);
  return sum;
}
