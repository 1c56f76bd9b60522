import type { IncomingMessage } from 'node:http';
import {
  definePlugin,
  GatewayError,
  RequestBody,
  type Exchange,
  type GatewayContext,
  type Operation,
  type RequestLimits,
} from '../../src/plugin/index.ts';

/**
 * Bodies up to this size are parsed and checked against the operation's whole schema here. Larger ones are scanned, which
 * costs a tenth of parsing; whoever must read one whole (translation, overrides) checks it whole then.
 */
const WHOLE_CHECK_BYTES = 64 * 1024;

export default definePlugin({
  name: 'body',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['limits'],
  requires: ['caller'],
  provides: ['body'],
  create({ host }) {
    const { limits } = host;
    return async function body(ctx, next) {
      const { exchange } = ctx;
      const { operation, request } = exchange;
      // Refused before it was heard, where no plugin before this one has told it so.
      if (exchange.error) throw exchange.error;
      if (operation && operation.method === 'POST') {
        checkMediaType(request.headers);
        const bytes = withoutMark(await readBytes(ctx, limits));
        request.bodyBytes = bytes.length;
        request.body = withPath(exchange, operation, RequestBody.read(bytes, limits.jsonDepth));
        request.bodyValidated = bytes.length <= WHOLE_CHECK_BYTES;
        if (request.bodyValidated) checkWhole(operation, request.body);
        else checkOutline(request.body);
      }
      await next();
    };
  },
});

function withPath({ request }: Exchange, { fieldsInPath }: Operation, body: RequestBody): RequestBody {
  const fields = fieldsInPath?.(request.params, body) ?? {};
  return body.edit(Object.entries(fields).map(([key, value]) => ({ path: [key], value, source: 'path' })));
}

function checkMediaType(headers: IncomingMessage['headers']): void {
  const type = headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new GatewayError(
      'unsupported_media_type',
      `Content-Type must be application/json, not ${type.slice(0, 100)}.`,
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type', `Content-Encoding ${encoding.slice(0, 100)} is not accepted.`);
  }
}

const MARK = Buffer.from('\ufeff');
/** A byte order mark says nothing in UTF-8; RFC 8259, section 8.1, lets a parser pass over it. */
const withoutMark = (bytes: Buffer): Buffer => (MARK.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes);

function tooLarge(limit: number): GatewayError {
  return new GatewayError('request_too_large', `The body exceeds ${limit} bytes (limits.body).`);
}

function noRoom(): GatewayError {
  const message = 'The bodies of the requests under way leave no room for this one (limits.in_flight_bytes).';
  return new GatewayError('busy', message, { retryAfterMs: 1000 });
}

/** Counts while it reads: `content-length` may be absent. Room is taken for what is announced at once, else as it comes. */
async function readBytes({ req, res, exchange }: GatewayContext, limits: RequestLimits): Promise<Buffer> {
  let room = Number(req.headers['content-length'] ?? 0);
  if (room > limits.body) throw tooLarge(limits.body);
  if (!limits.reserve(exchange, room)) throw noRoom();
  // RFC 9110, section 10.1.1: a client with a large body may wait to hear that it is wanted.
  if (req.headers.expect !== undefined) res.writeContinue();
  /** Why no more of it may come. */
  const refusal = (size: number): GatewayError | undefined => {
    if (size > limits.body) return tooLarge(limits.body);
    if (size <= room) return undefined;
    if (!limits.reserve(exchange, size - room)) return noRoom();
    room = size;
    return undefined;
  };
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let stopListening = (): void => {};
    const settle = (outcome: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('error', onGone);
      stopListening();
      outcome();
    };
    const onData = (piece: Buffer): void => {
      size += piece.length;
      const refused = refusal(size);
      if (!refused) return void pieces.push(piece);
      settle(() => {
        req.pause();
        reject(refused);
      });
    };
    const onEnd = (): void => settle(() => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
    const onGone = (): void =>
      settle(() => reject(new GatewayError('client_closed', 'The client left while it sent its body.')));
    req.on('data', onData).on('end', onEnd).on('error', onGone);
    // Calls at once for a client that has left already.
    stopListening = exchange.cancellation.onCancel((reason) => settle(() => reject(reason)));
  });
}

function checkWhole(operation: Operation, body: RequestBody): void {
  const fault = operation.validate(body.json());
  if (!fault) return;
  throw new GatewayError(fault.missing ? 'missing_required_parameter' : 'invalid_request', fault.message, {
    param: fault.param,
  });
}

/** The three keys that routing reads must have their types even where nobody reads the rest. */
function checkOutline(body: RequestBody): void {
  const wrong = (param: string, wanted: string): GatewayError =>
    new GatewayError('invalid_request', `\`${param}\` must be ${wanted}.`, { param });
  if (!body.has('model'))
    throw new GatewayError('missing_required_parameter', '`model` is required.', { param: 'model' });
  if (typeof body.value('model') !== 'string') throw wrong('model', 'a string');
  const stream = body.has('stream') ? body.value('stream') : null;
  if (stream !== null && typeof stream !== 'boolean') throw wrong('stream', 'true or false');
}
