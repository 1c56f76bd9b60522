import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { errorBody } from '../../formats/openai-chat/error-body.ts';
import { answer } from './answer.ts';
import { readChatRequest, readModel, SimulatorRefusal, type ChatRequest } from './chat-request.ts';
import { embeddingReply } from './embedding.ts';
import { plainScript, readBehaviour, replyScript, streamScript, type Behaviour, type ScriptStep } from './script.ts';
import { plainReply, streamEvents, type ReplyHead, type SimulatedReply } from './wire.ts';

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
