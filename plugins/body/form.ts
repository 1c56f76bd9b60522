import {
  GatewayError,
  readForm,
  type Clock,
  type GatewayContext,
  type InboundForm,
  type RequestLimits,
} from '../../src/plugin/index.ts';

interface FormSetup {
  readonly limits: RequestLimits;
  readonly clock: Clock;
  /** Throws GatewayError for a text field that comes when the form is on its way. */
  readonly checkLater: (name: string) => void;
}

/** Reads a multipart form for a model until it can be sent. Throws GatewayError. */
export function readFormBody(ctx: GatewayContext, { limits, clock, checkLater }: FormSetup): Promise<InboundForm> {
  const { req, res, exchange } = ctx;
  const boundary = boundaryOf(req.headers['content-type']);
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new GatewayError('unsupported_media_type', `Content-Encoding ${encoding.slice(0, 100)} is not accepted.`);
  const length = req.headers['content-length'];
  const announced = length === undefined ? undefined : Number(length);
  if (announced !== undefined && announced > limits.form.bytes) throw tooLarge(limits.form.bytes);
  // RFC 9110, section 10.1.1: a client with a large body may wait for a 100 reply before it sends.
  if (req.headers.expect !== undefined) res.writeContinue();
  // The error reply needs the connection, so the reader must not destroy the request.
  const pieces = req.iterator({ destroyOnReturn: false });
  const hold = (bytes: number): void => {
    const refused = limits.reserve(exchange, bytes);
    if (refused) throw refused;
  };
  const read = async (): Promise<Buffer | undefined> => {
    const piece = await nextPiece(pieces, ctx, { clock, idleMs: limits.form.idleMs });
    if (!piece) return undefined;
    exchange.request.bodyBytes += piece.length;
    if (exchange.request.bodyBytes > limits.form.bytes) throw tooLarge(limits.form.bytes);
    return piece;
  };
  return readForm({ boundary, announced, read, mostHeld: limits.form.held, hold, checkLater });
}

/** The next piece; undefined at the end of the body. */
function nextPiece(
  pieces: AsyncIterator<unknown>,
  { exchange }: GatewayContext,
  { clock, idleMs }: { readonly clock: Clock; readonly idleMs: number },
): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  const stopTimer = clock.after(idleMs, () =>
    reject(
      new GatewayError(
        'request_timeout',
        `The client sent nothing more of its form for ${idleMs} ms (limits.form_idle_time).`,
      ),
    ),
  );
  const stopListening = exchange.cancellation.onCancel(reject);
  pieces.next().then(
    ({ done, value }) => resolve(done ? undefined : (value as Buffer)),
    (cause: unknown) =>
      reject(new GatewayError('client_closed', 'The client disconnected while it sent its body.', { cause })),
  );
  return promise.finally(() => {
    stopTimer();
    stopListening();
  });
}

/** RFC 2046, section 5.1.1: at most 70 of these characters. */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70}))\s*(?:;|$)/i;

function boundaryOf(type: string | undefined): string {
  if (type === undefined || !/^multipart\/form-data\s*;/i.test(type))
    throw new GatewayError('unsupported_media_type', 'Send the file and its fields as multipart/form-data.');
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new GatewayError('invalid_multipart', 'The Content-Type has no usable boundary.');
  return boundary;
}

const tooLarge = (limit: number): GatewayError =>
  new GatewayError('request_too_large', `The form exceeds ${limit} bytes (limits.form).`);
