import {
  CODINGS,
  codingOf,
  DecodeFault,
  decoderOf,
  type ContentDecoder,
  type GatewayContext,
  type InboundRequest,
} from '../../src/core/kernel/index.ts';
import { GatewayError, type Clock } from '../../src/plugin/index.ts';

/** The decoder of a request's body; undefined for one without a coding. Throws GatewayError for a coding that is not decoded. */
export function requestDecoder({ head }: Pick<InboundRequest, 'head'>): ContentDecoder | undefined {
  const coding = head.contentEncoding && codingOf(head.contentEncoding);
  if (!coding) return undefined;
  const decoder = decoderOf(coding);
  if (decoder) return decoder;
  throw new GatewayError(
    'unsupported_media_type',
    `Content-Encoding ${coding.slice(0, 100)} is not accepted: send one of ${CODINGS}, or none.`,
  );
}

/** The size of a request's body in bytes, where the client has announced it: `content-length` is that of the coded body. */
export function announcedBytes({ head }: Pick<InboundRequest, 'head'>): number | undefined {
  const { contentLength: length, contentEncoding } = head;
  return length === undefined || codingOf(contentEncoding) !== undefined ? undefined : Number(length);
}

/** The error of a body that breaks while it is read: the client has left, or its coding is at fault. */
export function brokenBody(cause: unknown): GatewayError {
  if (!(cause instanceof DecodeFault))
    return new GatewayError('client_closed', 'The client disconnected while it sent its body.', { cause });
  return new GatewayError(
    cause.kind === 'dense' ? 'request_too_large' : 'invalid_encoding',
    `The body ${cause.message}.`,
    { cause },
  );
}

interface PiecesSetup {
  readonly clock: Clock;
  /** A client from which nothing comes for this long, while it is read, is refused. */
  readonly idleMs: number;
  /** Name of the setting with that time. */
  readonly setting: string;
  /** The form or the file, in messages. */
  readonly what: string;
}

/** Reads and decodes a body on demand: the next piece, undefined at the end. Rejects with GatewayError. */
export function bodyPieces(
  { req, res, exchange }: GatewayContext,
  { clock, idleMs, setting, what }: PiecesSetup,
): () => Promise<Buffer | undefined> {
  if (exchange.request.head.expect !== undefined) res.writeContinue();
  // The error reply needs the connection, so the reader must not destroy the request.
  const decoder = requestDecoder(exchange.request);
  const pieces = (decoder ? req.pipe(decoder) : req).iterator({ destroyOnReturn: false });
  // A promise for each piece: one for the whole body would hold all of them in its reactions.
  return () => {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
    const stopTimer = clock.after(idleMs, () =>
      reject(
        new GatewayError(
          'request_timeout',
          `The client sent nothing more of its ${what} for ${idleMs} ms (${setting}).`,
        ),
      ),
    );
    const stopListening = exchange.cancellation.onCancel(reject);
    pieces.next().then(
      ({ done, value }) => resolve(done ? undefined : (value as Buffer)),
      (cause: unknown) => reject(brokenBody(cause)),
    );
    return promise.finally(() => {
      stopTimer();
      stopListening();
    });
  };
}

/** RFC 2046, section 5.1.1: at most 70 of these characters. */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70}))\s*(?:;|$)/i;

/** The boundary of a request's multipart form. Throws GatewayError for a body of another type. */
export function boundaryOf({ req: { headers } }: GatewayContext): string {
  const type = headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\s*;/i.test(type))
    throw new GatewayError('unsupported_media_type', 'Send the file and its fields as multipart/form-data.');
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new GatewayError('invalid_multipart', 'The Content-Type has no usable boundary.');
  return boundary;
}
