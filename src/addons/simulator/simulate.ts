import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { answer, type Completion } from './answer.ts';
import {
  readBehaviour,
  plainScript,
  replyScript,
  streamScript,
  STREAM_HEADERS,
  type Behaviour,
  type ScriptStep,
} from './script.ts';
import { readChatRequest, SimulatorRefusal, type ChatRequest } from './chat-request.ts';
import { embeddingReply, readEmbeddingRequest } from './embedding.ts';
import { errorBody } from '../../core/dry-run/openai-error.ts';
import { plainReply, streamEvents, type ReplyHead } from './wire.ts';

/** Maximum number of bodies whose failures are counted. */
const MAX_FLAKY = 1_000;

/** Turns a request body into a script for the socket. Its only state is the counts of `sim-flaky-<n>`. */
export class Simulation {
  readonly #wall: () => number;
  readonly #failures = new LRUCache<string, number>({ max: MAX_FLAKY });

  constructor(wall: () => number) {
    this.#wall = wall;
  }

  /** Handles a request for chat completions. */
  run(body: Buffer): readonly ScriptStep[] {
    return withRefusals(() => this.#chat(body));
  }

  /** Handles a request for embeddings. */
  embed(body: Buffer): readonly ScriptStep[] {
    return withRefusals(() => {
      const request = readEmbeddingRequest(parse(body));
      const behaviour = readBehaviour(request.model);
      return this.#failure(behaviour, body, false) ?? replyScript(embeddingReply(request), behaviour);
    });
  }

  #chat(body: Buffer): readonly ScriptStep[] {
    const request = readChatRequest(parse(body));
    const behaviour = readBehaviour(request.model);
    if (behaviour.kind === 'fast') return fastScript(request, behaviour.writes);
    const failure = this.#failure(behaviour, body, request.stream);
    if (failure) return failure;
    const head = this.#head(body);
    const completion = answer(request);
    if (request.stream) return streamScript(streamEvents(request, completion, head), behaviour);
    return replyScript(plainReply(request, completion, head), behaviour);
  }

  /** The script of a simulated failure; undefined where the request succeeds. */
  #failure(behaviour: Behaviour, body: Buffer, stream: boolean): readonly ScriptStep[] | undefined {
    switch (behaviour.kind) {
      case 'error':
        return errorScript(behaviour.status, behaviour.retryAfterMs);
      case 'flaky':
        return this.#failsAgain(body, behaviour.failures) ? errorScript(503, undefined) : undefined;
      case 'error-midstream':
        return stream ? undefined : errorScript(500, undefined);
      default:
        return undefined;
    }
  }

  /** Counts failures by body, because a retry sends the same bytes. The count restarts after a success. */
  #failsAgain(body: Buffer, failures: number): boolean {
    const key = hash(body);
    const failed = this.#failures.get(key) ?? 0;
    if (failed >= failures) {
      this.#failures.delete(key);
      return false;
    }
    this.#failures.set(key, failed + 1);
    return true;
  }

  #head(body: Buffer): ReplyHead {
    const seed = hash(body);
    return {
      id: `chatcmpl-sim-${seed.slice(0, 24)}`,
      created: Math.floor(this.#wall() / 1_000),
      callId: (choice, call) => `call_${hash(`${seed} ${choice} ${call}`).slice(0, 24)}`,
    };
  }
}

function withRefusals(run: () => readonly ScriptStep[]): readonly ScriptStep[] {
  try {
    return run();
  } catch (error) {
    if (error instanceof SimulatorRefusal)
      return plainScript(error.status, errorBody(error.status, error.message, error.param));
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

function errorScript(status: number, retryAfterMs: number | undefined): ScriptStep[] {
  const headers = retryAfterMs === undefined ? {} : retryHeaders(retryAfterMs);
  return plainScript(status, errorBody(status, `Simulated error ${status}.`), headers);
}

/** `retry-after` has whole seconds only; OpenAI's SDK prefers `retry-after-ms`. */
function retryHeaders(ms: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(ms / 1_000)), 'retry-after-ms': String(ms) };
}

// Prebuilt replies for benchmarks, so that they measure the gateway rather than its upstream.

/** Events of the stream, `[DONE]` included. */
export const FAST_EVENTS = 200;
/** The number of words for a plain reply of about 1 KB. */
const FAST_WORDS = 110;

const HEAD: ReplyHead = { id: 'chatcmpl-sim-fast', created: 1_795_132_800, callId: () => '' };

interface Prebuilt {
  readonly plain: readonly ScriptStep[];
  readonly one: readonly ScriptStep[];
  readonly each: readonly ScriptStep[];
}

function completionOf(words: number): Completion {
  const pieces = Array.from({ length: words }, (_, at) => (at === 0 ? 'Word' : ` word ${at % 10}`));
  return { choices: [{ pieces, calls: [], finish: 'stop' }], promptTokens: 9, completionTokens: words };
}

/** Builds the plain reply, the stream in one write, and the stream in one write per event with an event loop turn between them. */
function build(includeUsage: boolean): Prebuilt {
  const request = { model: 'sim-fast', includeUsage };
  const body = Buffer.from(JSON.stringify(plainReply(request, completionOf(FAST_WORDS), HEAD)));
  // Role, finish, [DONE] and requested usage are events too.
  const words = FAST_EVENTS - (includeUsage ? 4 : 3);
  const events = streamEvents(request, completionOf(words), HEAD);
  const head = (headers: Readonly<Record<string, string>>): ScriptStep => ({ kind: 'head', status: 200, headers });
  return {
    plain: [
      head({ 'content-type': 'application/json', 'content-length': String(body.length) }),
      { kind: 'send', bytes: body },
      { kind: 'end' },
    ],
    one: [head(STREAM_HEADERS), { kind: 'send', bytes: Buffer.from(events.join('')) }, { kind: 'end' }],
    each: [
      head(STREAM_HEADERS),
      ...events.flatMap((bytes): ScriptStep[] => [
        { kind: 'send', bytes: Buffer.from(bytes) },
        { kind: 'wait', ms: 0 },
      ]),
      { kind: 'end' },
    ],
  };
}

let built: { readonly bare: Prebuilt; readonly withUsage: Prebuilt } | undefined;

function fastScript(request: ChatRequest, writes: 'one' | 'each'): readonly ScriptStep[] {
  built ??= { bare: build(false), withUsage: build(true) };
  const prebuilt = request.includeUsage ? built.withUsage : built.bare;
  return request.stream ? prebuilt[writes] : prebuilt.plain;
}
