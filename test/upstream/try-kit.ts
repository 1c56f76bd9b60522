import { createSignals } from '../../src/formats/events.ts';
import { readSse, SseCutter } from '../../src/formats/sse/event-stream.ts';
import { Cancellation, type GatewayError, type Source } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { ReplyReaderLike } from '../../src/core/kernel/index.ts';
import { createUpstream, type OutboundRequest, type UpstreamOptions } from '../../src/core/upstream/index.ts';

/**
 * A small format of its own, so that these tests say what the transport does and no more: `{"text":…}` is content,
 * `{"start":true}` is progress, `{"begin":true}` begins an item, `{"ping":true}` is neither, `{"error":status}` is the provider's failure, `[DONE]` the end.
 */
export function streamReader(): ReplyReaderLike {
  const signals = createSignals();
  const cutter = new SseCutter();
  return {
    signals,
    push(bytes) {
      const whole = cutter.push(bytes);
      for (const { data } of whole ? readSse(whole) : []) {
        if (data === '[DONE]') signals.ended = true;
        else {
          const event = JSON.parse(data) as { text?: string; begin?: boolean; ping?: boolean; error?: number };
          if (event.error) signals.failure = { status: event.error, message: 'busy', kind: 'overloaded_error' };
          if (event.text) signals.content = true;
          if (event.begin) signals.begun = true;
          if (!event.ping) signals.progress += 1;
        }
      }
      return whole;
    },
    end() {
      if (!signals.ended && !signals.failure)
        signals.failure = { status: 502, message: 'cut', kind: 'stream_interrupted' };
      return undefined;
    },
  };
}

/** A plain reply as it is: bytes go through. */
export function plainReader(): ReplyReaderLike {
  const signals = createSignals();
  return {
    signals,
    push(bytes) {
      signals.content = true;
      return bytes;
    },
    end() {
      signals.ended = true;
      return undefined;
    },
  };
}

/** A plain reply that is translated: nothing comes out until all is in. */
export function translatingReader(): ReplyReaderLike {
  const signals = createSignals();
  const pieces: Buffer[] = [];
  return {
    signals,
    push(bytes) {
      pieces.push(bytes);
      return undefined;
    },
    end() {
      const body: unknown = JSON.parse(Buffer.concat(pieces).toString());
      signals.content = signals.ended = true;
      return Buffer.from(JSON.stringify({ translated: body }));
    },
  };
}

export const event = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

export const DONE = event('[DONE]');

/** Upstreams on loopback, which the guard lets through only for entries that say so. */
export function createLocalUpstream(options: Partial<UpstreamOptions> = {}) {
  return createUpstream({ clock: systemClock, ...options });
}

type Changes = Partial<Omit<OutboundRequest, 'timeouts'>> & {
  timeouts?: Partial<OutboundRequest['timeouts']>;
  url?: string;
  connections?: number;
};

/** A request with limits that no test meets unless it sets them. */
export function outbound(url: string, changes: Changes = {}): OutboundRequest {
  const timeouts = {
    connect: 20_000,
    firstByte: 20_000,
    firstContent: 20_000,
    idle: 20_000,
    total: 20_000,
    ...changes.timeouts,
  };
  const stream = changes.stream ?? true;
  return {
    origin: { url, allowInsecure: true, connections: changes.connections ?? 8 },
    method: 'POST',
    path: '/v1/x?alt=sse',
    headers: { 'content-type': 'application/json' },
    body: '{"model":"m"}',
    hold: { bytes: 1024 * 1024, ms: 20_000 },
    deadlineOf: 'total',
    requestMs: 60_000,
    commit: 'first_content',
    maxReplyBytes: 64 * 1024 * 1024,
    cancellation: new Cancellation(),
    openReader: stream ? streamReader : plainReader,
    ...changes,
    stream,
    timeouts,
    deadline: changes.deadline ?? systemClock.now() + timeouts.total,
  };
}

export interface Collected {
  text: string;
  pushes: number;
  ended: boolean;
  error: GatewayError | undefined;
}

/** Opens a source and gathers what comes, until it ends either way. */
export function collect(source: Buffer | Source): Promise<Collected> {
  const collected: Collected = { text: '', pushes: 0, ended: false, error: undefined };
  if (Buffer.isBuffer(source)) return Promise.resolve({ ...collected, text: source.toString(), ended: true });
  return new Promise((resolve) => {
    source.open({
      push(bytes) {
        collected.text += bytes.toString();
        collected.pushes += 1;
      },
      end() {
        collected.ended = true;
        resolve(collected);
      },
      fail(error) {
        collected.error = error;
        resolve(collected);
      },
    });
  });
}

export async function rejection(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise;
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('expected a rejection');
}

/** Waits for a condition that I/O will bring about. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await systemClock.sleep(5);
}
