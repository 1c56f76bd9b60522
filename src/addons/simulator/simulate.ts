import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { errorBody } from '../../formats/openai-chat/error-body.ts';
import { answer, type Completion, type SimulatedCall, type SimulatedChoice } from './answer.ts';
import { readChatRequest, readModel, SimulatorRefusal, type ChatRequest } from './chat-request.ts';
import { plainScript, readBehaviour, replyScript, streamScript, type Behaviour, type ScriptStep } from './script.ts';
import type { JsonObject } from '../../formats/conversation.ts';

const MAX_FLAKY = 1_000;

/** Turns a request body into a script for the socket. Its only state is the counts of `sim-flaky-<n>`. */
export class Simulation {
  readonly #failures = new LRUCache<string, number>({ max: MAX_FLAKY });

  run(body: Buffer): readonly ScriptStep[] {
    return withRefusals(() => {
      const request = readChatRequest(parse(body));
      const behaviour = readBehaviour(request.model);
      if (behaviour.kind === 'fast' || behaviour.kind === 'fast-each') return fastScript(request, behaviour);
      const failure = this.#failure(behaviour, body, request.stream);
      return failure ?? chatScript(request, { ...answer(request), ...headOf(body) }, behaviour);
    });
  }

  embed(body: Buffer): readonly ScriptStep[] {
    return withRefusals(() => {
      const request = readModel(parse(body));
      const behaviour = readBehaviour(request.model);
      return this.#failure(behaviour, body, false) ?? replyScript(embeddingReply(request), behaviour);
    });
  }

  /** The script of a simulated failure; undefined where the request succeeds. */
  #failure({ kind, number, retryAfterMs }: Behaviour, body: Buffer, stream: boolean): ScriptStep[] | undefined {
    if (kind === 'error') return errorScript(number, retryAfterMs);
    if (kind === 'flaky') return this.#failsAgain(body, number) ? errorScript(503) : undefined;
    return kind === 'error-midstream' && !stream ? errorScript(500) : undefined;
  }

  /** Counts failures by body, because a retry sends the same bytes. The count restarts after a success. */
  #failsAgain(body: Buffer, failures: number): boolean {
    const key = hash(body);
    const failed = this.#failures.get(key) ?? 0;
    if (failed < failures) this.#failures.set(key, failed + 1);
    else this.#failures.delete(key);
    return failed < failures;
  }
}

function chatScript(request: ChatRequest, reply: SimulatedReply, behaviour: Behaviour): ScriptStep[] {
  if (request.stream) return streamScript(streamEvents(request, reply), behaviour);
  return replyScript(plainReply(request, reply), behaviour);
}

function headOf(body: Buffer): ReplyHead {
  const seed = hash(body);
  return {
    id: `chatcmpl-sim-${seed.slice(0, 24)}`,
    created: Math.floor(Date.now() / 1_000),
    callId: (choice, call) => `call_${hash(`${seed} ${choice} ${call}`).slice(0, 24)}`,
  };
}

function withRefusals(run: () => readonly ScriptStep[]): readonly ScriptStep[] {
  try {
    return run();
  } catch (error) {
    if (error instanceof SimulatorRefusal) return plainScript(400, errorBody(400, error.message, error.param));
    throw error;
  }
}

const hash = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new SimulatorRefusal('The body is not valid JSON.', null);
  }
}

/** `retry-after` has whole seconds only; OpenAI's SDK prefers `retry-after-ms`. */
function errorScript(status: number, retryAfterMs?: number): ScriptStep[] {
  const headers = retryAfterMs !== undefined && {
    'retry-after': String(Math.ceil(retryAfterMs / 1_000)),
    'retry-after-ms': String(retryAfterMs),
  };
  return plainScript(status, errorBody(status, `Simulated error ${status}.`), headers || {});
}

/** Events of a stream of `sim-fast`, `[DONE]` included. */
export const FAST_EVENTS = 200;
/** The number of words for a plain reply of about 1 KB. */
const FAST_WORDS = 110;

/** Prebuilt replies for benchmarks, so that they measure the gateway rather than its upstream. */
const prebuilt = new Map<string, readonly ScriptStep[]>();

function fastScript(request: ChatRequest, behaviour: Behaviour): readonly ScriptStep[] {
  const { stream, includeUsage } = request;
  const key = `${behaviour.kind} ${stream} ${includeUsage}`;
  // Role, finish, [DONE] and requested usage are events too.
  const words = stream ? FAST_EVENTS - (includeUsage ? 4 : 3) : FAST_WORDS;
  const script = prebuilt.get(key) ?? chatScript(request, replyOf(words), behaviour);
  prebuilt.set(key, script);
  return script;
}

function replyOf(words: number): SimulatedReply {
  const pieces = Array.from({ length: words }, (_, at) => (at === 0 ? 'Word' : ` word ${at % 10}`));
  const head = { id: 'chatcmpl-sim-fast', created: 1_795_132_800, callId: () => '' };
  return { ...head, choices: [{ pieces, calls: [], finish: 'stop' }], promptTokens: 9, completionTokens: words };
}

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;
/** OpenAI's limit (docs/protocols/embeddings.md#openai-request). */
const MAX_INPUTS = 2_048;

/** A reply with vectors (docs/protocols/embeddings.md#openai-request). Throws SimulatorRefusal. */
export function embeddingReply(body: JsonObject): JsonObject {
  const encoding = body['encoding_format'] ?? 'float';
  if (encoding !== 'base64' && encoding !== 'float')
    throw new SimulatorRefusal('`encoding_format` must be float or base64.', 'encoding_format');
  const dimensions = Number(body['dimensions'] ?? DEFAULT_DIMENSIONS);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_DIMENSIONS)
    throw new SimulatorRefusal(`\`dimensions\` must be a whole number from 1 to ${MAX_DIMENSIONS}.`, 'dimensions');
  const texts = readInput(body['input']);
  const tokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  return {
    object: 'list',
    data: texts.map((text, index) => {
      const vector = vectorOf(text, dimensions);
      const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
      return { object: 'embedding', index, embedding };
    }),
    model: body['model'],
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** A text, a list of texts, a list of tokens, or a list of such lists. */
function readInput(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) && !isTokens(value) ? value : [value];
  if (list.length === 0 || list.length > MAX_INPUTS)
    throw new SimulatorRefusal(`\`input\` must have 1 to ${MAX_INPUTS} items.`, 'input');
  return list.map((item) => {
    if (typeof item === 'string' && item !== '') return item;
    if (isTokens(item)) return item.join(' ');
    throw new SimulatorRefusal('`input` must be a text, tokens, or a list of texts or of tokens.', 'input');
  });
}

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token));

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];

/** The sum of one pseudo-random direction per word, so that texts with common words are near each other. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const word of wordsOf(text)) {
    const next = noise(word);
    for (let at = 0; at < dimensions; at += 1) sum[at]! += next();
  }
  // Unit length, as OpenAI's vectors have.
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}

/** Pseudo-random numbers between -1 and 1, seeded by the word: xorshift32, https://www.jstatsoft.org/article/view/v008i14. */
function noise(word: string): () => number {
  // xorshift never leaves a zero state.
  let state = createHash('sha256').update(word).digest().readInt32LE() || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2 ** 31;
  };
}

interface ReplyHead {
  readonly id: string;
  readonly created: number;
  /** The id of a call: 24 characters of `[a-z0-9]`. */
  readonly callId: (choice: number, call: number) => string;
}

type SimulatedReply = Completion & ReplyHead;

/** A plain reply (docs/protocols/openai-chat.md#reply). */
const plainReply = ({ model }: ChatRequest, reply: SimulatedReply): JsonObject => ({
  id: reply.id,
  object: 'chat.completion',
  created: reply.created,
  model,
  choices: reply.choices.map((choice, index) => plainChoice(choice, index, reply)),
  usage: usageOf(reply),
});

function plainChoice({ pieces, calls, finish }: SimulatedChoice, index: number, head: ReplyHead): JsonObject {
  const content = calls.length > 0 ? null : pieces.join('');
  const toolCalls = calls.map((call, at) => wireCall(call, head.callId(index, at)));
  const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: toolCalls }) };
  return { index, message, logprobs: null, finish_reason: finish };
}

function wireCall({ tool, input }: SimulatedCall, id: string): JsonObject {
  if (tool.kind === 'custom') return { id, type: 'custom', custom: { name: tool.name, input } };
  return { id, type: 'function', function: { name: tool.name, arguments: input } };
}

const usageOf = ({ promptTokens, completionTokens }: Completion): JsonObject => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
});

/** The events of a stream, in order (docs/protocols/openai-chat.md#stream): one element for each event, `[DONE]` last. */
function streamEvents({ model, includeUsage }: ChatRequest, reply: SimulatedReply): string[] {
  const { id, created } = reply;
  const base = { id, object: 'chat.completion.chunk', created, model, ...(includeUsage && { usage: null }) };
  const choices = reply.choices.flatMap((choice, index) => choiceDeltas(choice, index, reply));
  const chunks: JsonObject[] = choices.map((choice) => ({ ...base, choices: [choice] }));
  if (includeUsage) chunks.push({ ...base, choices: [], usage: usageOf(reply) });
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

function choiceDeltas(choice: SimulatedChoice, index: number, head: ReplyHead): JsonObject[] {
  const content = choice.calls.length > 0 ? null : '';
  const parts: JsonObject[] = [{ role: 'assistant', content, refusal: null }];
  for (const piece of choice.pieces) parts.push({ content: piece });
  for (const [at, call] of choice.calls.entries()) {
    for (const part of callDeltas(call, head.callId(index, at))) parts.push({ tool_calls: [{ index: at, ...part }] });
  }
  const deltas = parts.map((delta): JsonObject => ({ index, delta, finish_reason: null }));
  return [...deltas, { index, delta: {}, finish_reason: choice.finish }];
}

/** The name first, then the input split at arbitrary points, as OpenAI sends it. */
function callDeltas({ tool, input }: SimulatedCall, id: string): JsonObject[] {
  const key = tool.kind === 'custom' ? 'input' : 'arguments';
  const start = { id, type: tool.kind, [tool.kind]: { name: tool.name, [key]: '' } };
  return [start, ...(input.match(/.{1,12}/gsu) ?? []).map((piece) => ({ [tool.kind]: { [key]: piece } }))];
}
