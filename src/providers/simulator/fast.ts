import type { ChatRequest } from './chat-request.ts';
import type { Completion } from './answer.ts';
import { STREAM_HEADERS, type ScriptStep } from './script.ts';
import { plainReply, streamEvents, type ReplyHead } from './wire.ts';

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
  const body = Buffer.from(JSON.stringify(plainReply(fastRequest(request), completionOf(FAST_WORDS), HEAD)));
  // Role, finish, [DONE] and requested usage are events too.
  const words = FAST_EVENTS - (includeUsage ? 4 : 3);
  const events = streamEvents(fastRequest(request), completionOf(words), HEAD);
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

function fastRequest({ model, includeUsage }: { model: string; includeUsage: boolean }): ChatRequest {
  return {
    model,
    includeUsage,
    stream: true,
    n: 1,
    maxTokens: Infinity,
    stops: [],
    texts: [],
    lastRole: 'user',
    lastUserText: '',
    toolResults: [],
    tools: [],
    toolChoice: 'auto',
    parallel: true,
    jsonSchema: undefined,
  };
}

let built: { readonly bare: Prebuilt; readonly withUsage: Prebuilt } | undefined;

export function fastScript(request: ChatRequest, writes: 'one' | 'each'): readonly ScriptStep[] {
  built ??= { bare: build(false), withUsage: build(true) };
  const prebuilt = request.includeUsage ? built.withUsage : built.bare;
  return request.stream ? prebuilt[writes] : prebuilt.plain;
}
