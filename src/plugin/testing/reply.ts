import type { GatewayError } from '../errors.ts';
import { heldReply } from '../../core/kernel/reply.ts';
import type { ReplyWithForm, Reply, Sink, Source } from '../reply.ts';

/**
 * The source of a streamed reply, driven by the test: the test pushes bytes to the sink and reads the calls that the
 * source received.
 */
export interface TestSource extends Source {
  /** `open`, `pause`, `resume`, `cancel`, in order. */
  readonly calls: readonly string[];
  push(piece: string | Buffer): void;
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
    push: (piece) => sink?.push(Buffer.from(piece)),
    end: () => sink?.end(),
    fail: (error) => sink?.fail(error),
  };
}

/** Creates a reply: to a stream request when its body is a source, else to a plain one. */
export function createReply(body: string | Source, parts: Partial<Omit<Reply, 'body'>> = {}): ReplyWithForm {
  const stream = typeof body !== 'string';
  const headers = { 'content-type': stream ? 'text/event-stream' : 'application/json' };
  return heldReply({ status: 200, headers, body: stream ? body : Buffer.from(body), stream, ...parts });
}

/** Reads a body to its end as the server does; rejects with the error of a failed source. */
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
