import { GatewayError, type Clock, type GatewayContext } from '../plugin/index.ts';

export interface BodyReading {
  readonly clock: Clock;
  /** A client that sends nothing for this long is disconnected. */
  readonly idleMs: number;
  /** Receives the bytes. The client is not read while the promise is pending. */
  readonly onBody: (pieces: AsyncIterable<Buffer>) => Promise<void>;
  /** Called with the number of bytes so far. */
  readonly onBytes: (bytes: number) => void;
}

/** Reads the body of a request as it arrives, for as long as its client makes progress. Throws GatewayError. */
export async function readWholeBody(ctx: GatewayContext, reading: BodyReading): Promise<void> {
  const { req, exchange } = ctx;
  const { clock, idleMs, onBytes, onBody } = reading;
  let bytes = 0;
  let failure: GatewayError | undefined;
  let interrupt = (_: GatewayError): void => {};
  const fail = (error: GatewayError): void => {
    failure ??= error;
    interrupt(failure);
  };
  let stopTimer = (): void => {};
  const watch = (seen: number): void => {
    stopTimer = clock.after(idleMs, () => {
      if (bytes > seen) return watch(bytes);
      fail(
        new GatewayError('request_timeout', `The client sent nothing of its file for ${idleMs} ms (files.idle_time).`),
      );
    });
  };
  async function* pieces(): AsyncIterable<Buffer> {
    // The connection stays open after a refusal: its reply has to leave.
    const source = req.iterator({ destroyOnReturn: false });
    for (;;) {
      // No `Promise.race` with one promise of the whole request: that promise would hold every piece.
      const next = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        interrupt = reject;
        if (failure) return reject(failure);
        source.next().then(resolve, (cause: unknown) => reject(clientGone(cause)));
      });
      if (next.done) return;
      bytes += next.value.length;
      onBytes(bytes);
      yield next.value;
    }
  }
  const stopListening = exchange.cancellation.onCancel(fail);
  // RFC 9110, section 10.1.1.
  if (req.headers.expect !== undefined) ctx.res.writeContinue();
  watch(0);
  try {
    await onBody(pieces());
  } finally {
    stopTimer();
    stopListening();
  }
}

const clientGone = (cause: unknown): GatewayError =>
  new GatewayError('client_closed', 'The client disconnected while it sent its body.', { cause });
