import { GatewayError, type GatewayContext } from '../plugin/index.ts';
import type { FilePart, FormReading } from './multipart.ts';

/**
 * Reads a file that is the whole body of its request, as it arrives. The client is not read while the store is busy. Throws
 * GatewayError.
 */
export async function readWholeBody(ctx: GatewayContext, part: FilePart, reading: FormReading): Promise<void> {
  const { req, exchange } = ctx;
  const { clock, idleMs, onBytes, onFile } = reading;
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  let bytes = 0;
  let stopTimer = (): void => {};
  const watch = (seen: number): void => {
    stopTimer = clock.after(idleMs, () => {
      if (bytes > seen) return watch(bytes);
      const message = `The client sent nothing of its file for ${idleMs} ms (files.idle_time).`;
      stopped.reject(new GatewayError('request_timeout', message));
    });
  };
  async function* pieces(): AsyncIterable<Buffer> {
    // The connection stays open after a refusal: its reply has to leave.
    const source = req.iterator({ destroyOnReturn: false });
    for (;;) {
      const next = await Promise.race([source.next().catch(clientGone), stopped.promise]);
      if (next.done) return;
      const piece = next.value as Buffer;
      bytes += piece.length;
      onBytes(bytes);
      yield piece;
    }
  }
  const stopListening = exchange.cancellation.onCancel(stopped.reject);
  // RFC 9110, section 10.1.1.
  if (req.headers.expect !== undefined) ctx.res.writeContinue();
  watch(0);
  try {
    await onFile(part, pieces());
  } finally {
    stopTimer();
    stopListening();
  }
}

function clientGone(cause: unknown): never {
  throw new GatewayError('client_closed', 'The client disconnected while it sent its body.', { cause });
}
