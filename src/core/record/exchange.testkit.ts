import { type Signals, createSignals } from '../../formats/events.ts';
import { Cancellation, type Clock, type ReplyEnd } from '../../plugin/index.ts';
import { heldReply } from '../kernel/reply.ts';
import { readHead } from '../kernel/request-head.ts';
import {
  RequestBody,
  type Attempt,
  type Exchange,
  type Operation,
  type ResolvedTarget,
  type TryRecord,
} from '../kernel/index.ts';
import type { ReplyWithForm } from '../../plugin/reply.ts';
import { createCaller, createConfig, createTarget } from '../../plugin/testing/index.ts';

/** 2026-01-01T00:00:00Z, far enough from zero that spans take it for wall time. */
export const WALL = 1_767_225_600_000;

/** A clock with a fixed time. Timers never run: nothing here waits. */
export function createStillClock(now = 0): Clock & { now: () => number; set(ms: number): void } {
  let current = now;
  return {
    now: () => current,
    wall: () => WALL + current,
    after: () => () => {},
    sleep: () => new Promise(() => {}),
    set(ms) {
      current = ms;
    },
  };
}

const chat: Operation = {
  id: 'chat.completions',
  method: 'POST',
  path: '/v1/chat/completions',
  task: 'generate',
  semconvName: 'chat',
  // Telemetry never reads it.
  format: {} as Operation['format'],
  validate: () => undefined,
};

export function exchangeOf(
  parts: Partial<Exchange> & { headers?: Record<string, string>; json?: object } = {},
): Exchange {
  const { headers = {}, json, ...rest } = parts;
  const bytes = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  return {
    id: 'req-1',
    replyId: 'req1',
    startedAt: 0,
    deadline: 900_000,
    skipped: [],
    conditions: [],
    draws: undefined,
    explainId: undefined,
    settingsHash: '0123456789abcdef',
    operation: chat,
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      params: {},
      headers,
      head: readHead(headers, []),
      remoteAddress: '127.0.0.1',
      body: bytes && RequestBody.read(bytes, 64),
      bodyBytes: bytes?.length ?? 0,
      bodyValidated: bytes !== undefined,
      header: () => undefined,
      headerName: (name) => `x-gateway-${name}`,
    },
    trace: { traceId: '0af7651916cd43dd8448eb211c80319c' },
    cancellation: new Cancellation(),
    caller: createCaller({ keyId: 'team-search' }),
    upstreamToken: undefined,
    config: undefined,
    strict: undefined,
    strictParams: false,
    metadata: {},
    labels: {},
    attempts: [],
    reply: undefined,
    error: undefined,
    onEnd: () => {},
    ...rest,
  };
}

const EMPTY = RequestBody.read(Buffer.from('{}'), 64);

export const vertex: ResolvedTarget = {
  slug: 'vertex-eu',
  provider: 'vertex-ai',
  semconvName: 'gcp.vertex_ai',
  model: 'gemini-2.5-pro',
  modelLabel: 'gemini-2.5-pro',
  origin: 'https://europe-west1-aiplatform.googleapis.com',
  path: '/v1/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  headers: {},
  format: 'gemini',
  host: 'vertex',
  timeouts: {},
};

export const anthropic: ResolvedTarget = {
  ...vertex,
  slug: 'claude',
  provider: 'anthropic',
  semconvName: 'anthropic',
  model: 'claude-sonnet-4-5',
  modelLabel: 'claude-sonnet-4-5',
  origin: 'http://127.0.0.1:9999',
  path: '/v1/messages',
  format: 'anthropic-messages',
  host: 'direct',
};

/** As in the server, which releases the sent body. */
export function attemptOf(parts: Partial<Attempt> = {}): Attempt {
  return {
    number: 0,
    target: createTarget({ path: 'config.targets[0]', provider: '@vertex-eu' }),
    choice: { reason: 'only', fallsThrough: () => false },
    startedAt: 2,
    timeouts: { connect: 1, firstByte: 1, firstContent: 1, idle: 1, total: 1 },
    deadline: 600_000,
    cancellation: new Cancellation(),
    body: EMPTY,
    resolved: vertex,
    outbound: undefined,
    losses: [],
    tries: [],
    cache: undefined,
    semantic: undefined,
    wait: undefined,
    signals: undefined,
    reply: undefined,
    error: undefined,
    ...parts,
  };
}

export function tryOf(startedAt: number, endedAt: number | undefined, parts: Partial<TryRecord> = {}): TryRecord {
  return {
    call: 0,
    startedAt,
    endedAt,
    sentAt: undefined,
    firstByteAt: undefined,
    firstContentAt: undefined,
    status: 200,
    error: undefined,
    resent: false,
    delivered: false,
    bytesIn: 0,
    ...parts,
  };
}

export const signalsOf = (parts: Partial<Signals>): Signals => ({ ...createSignals(), ...parts });

export const replyOf = (stream: boolean): ReplyWithForm =>
  heldReply({ status: 200, headers: {}, body: Buffer.alloc(0), stream });

export const endOf = (parts: Partial<ReplyEnd> = {}): ReplyEnd => ({
  state: 'complete',
  status: 200,
  bytes: 100,
  error: undefined,
  ...parts,
});

/**
 * A successful stream: 5 ms until the upstream request, first content after 300 ms more, complete at 1300 ms, sent at
 * 1305 ms.
 */
export function streamedExchange(): Exchange {
  const exchange = exchangeOf({
    json: { model: '@vertex-eu/gemini-2.5-pro', stream: true, temperature: 0.5, messages: [] },
    config: createConfig({ id: 'prod' }),
    reply: replyOf(true),
  });
  exchange.attempts.push(
    attemptOf({
      reply: replyOf(true),
      losses: [
        { param: 'messages[2].content[0]', action: 'downgraded', reason: 'no such part' },
        { param: 'my_own_idea', action: 'dropped', reason: 'unknown' },
      ],
      tries: [tryOf(5, 1300, { firstByteAt: 200, firstContentAt: 305 })],
      signals: signalsOf({
        usage: { input: 1000, output: 200, total: 1200, cacheRead: 600, reasoning: 50 },
        finish: 'stop',
        model: 'gemini-2.5-pro-002',
        ended: true,
      }),
    }),
  );
  return exchange;
}
