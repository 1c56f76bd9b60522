import {
  announcedBytes,
  bodyPieces,
  boundaryOf,
  readForm,
  type GatewayContext,
  type InboundForm,
  type InboundFormReading,
  type RequestLimits,
} from '../../src/core/kernel/index.ts';
import { GatewayError, type Clock } from '../../src/plugin/index.ts';

interface FormSetup {
  readonly limits: RequestLimits;
  readonly clock: Clock;
  /** Throws GatewayError for a part that comes when the form is on its way. */
  readonly checkLater: InboundFormReading['checkLater'];
}

/** Reads a multipart form for a model until it can be sent. Throws GatewayError. */
export async function readFormBody(
  ctx: GatewayContext,
  { limits, clock, checkLater }: FormSetup,
): Promise<InboundForm> {
  const { req, exchange } = ctx;
  const boundary = boundaryOf(ctx);
  const announced = announcedBytes(req);
  if (announced !== undefined && announced > limits.form.bytes) throw tooLarge(limits.form.bytes);
  const hold = (bytes: number): void => {
    const refused = limits.reserve(exchange, bytes);
    if (refused) throw refused;
  };
  const next = bodyPieces(ctx, { clock, idleMs: limits.form.idleMs, setting: 'limits.form_idle_time', what: 'form' });
  const read = async (): Promise<Buffer | undefined> => {
    const piece = await next();
    if (!piece) return undefined;
    exchange.request.bodyBytes += piece.length;
    if (exchange.request.bodyBytes > limits.form.bytes) throw tooLarge(limits.form.bytes);
    return piece;
  };
  return readForm({ boundary, announced, read, mostHeld: limits.form.held, hold, checkLater });
}

const tooLarge = (limit: number): GatewayError =>
  new GatewayError('request_too_large', `The form exceeds ${limit} bytes (limits.form).`);
