import type { GatewayError } from '../errors.ts';
import type { Reply, Sink, Source } from '../reply.ts';

/** The source of a streamed reply, in the test's hands: it says what reaches the sink and remembers what was asked of it. */
export interface TestSource extends Source {
  /** `open`, `pause`, `resume`, `cancel`, in order. */
  readonly calls: readonly string[];
  push(text: string): void;
  end(): void;
  fail(error: GatewayError): void;
}

export function createSource(): TestSource {
  const calls: string[] = [];
  let sink: Sink | undefined;
  return {
    calls,
    open(to) {
      calls.push('open');
      sink = to;
    },
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    cancel() {
      calls.push('cancel');
      sink = undefined;
    },
    push: (text) => sink?.push(Buffer.from(text)),
    end: () => sink?.end(),
    fail: (error) => sink?.fail(error),
  };
}

/** A reply to a stream request when its body is a source, else a plain one. */
export function createReply(body: string | Source, parts: Partial<Omit<Reply, 'body'>> = {}): Reply {
  const stream = typeof body !== 'string';
  const headers = { 'content-type': stream ? 'text/event-stream' : 'application/json' };
  return { status: 200, headers, body: stream ? body : Buffer.from(body), stream, ...parts };
}

/** Reads a body to its end as the server would; rejects with the error a source fails with. */
export function readBody(body: Buffer | Source): Promise<string> {
  if (Buffer.isBuffer(body)) return Promise.resolve(body.toString());
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    body.open({
      push: (bytes) => void pieces.push(bytes),
      end: () => resolve(Buffer.concat(pieces).toString()),
      fail: reject,
    });
  });
}
