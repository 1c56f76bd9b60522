import type { Readable } from 'node:stream';
import { Stream } from 'node:stream';
import type Koa from 'koa';
import { GatewayError, type Reply, type Sink, type Source } from '../plugin/index.ts';

/** The reply a plugin made the Koa way, with `ctx.status` and `ctx.body`; undefined when it set no body. */
export function toReply(response: Koa.Response): Reply | undefined {
  const body: unknown = response.body;
  if (body === undefined || body === null) return undefined;
  const headers: Record<string, string> = {};
  const type = response.get('content-type');
  if (type) headers['content-type'] = type;
  return { status: response.status, headers, body: toBody(body), stream: type.includes('event-stream') };
}

function toBody(body: unknown): Buffer | Source {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Stream) return new ReadableSource(body as Readable);
  return Buffer.from(JSON.stringify(body));
}

/** A Node stream as a source. */
class ReadableSource implements Source {
  readonly #stream: Readable;
  #cancelled = false;

  constructor(stream: Readable) {
    this.#stream = stream;
    // Without a listener, an error before the reply is opened would end the process.
    stream.on('error', () => {});
  }

  open(sink: Sink): void {
    const stream = this.#stream;
    const fail = (cause: unknown): void => {
      if (!this.#cancelled) sink.fail(new GatewayError('internal_error', 'The reply broke off.', { cause }));
    };
    if (stream.errored) return fail(stream.errored);
    stream.on('data', (piece: Buffer | string) => sink.push(Buffer.from(piece)));
    stream.once('end', () => sink.end());
    stream.once('error', fail);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#cancelled = true;
    this.#stream.destroy();
  }
}
