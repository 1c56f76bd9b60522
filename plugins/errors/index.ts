import type { IncomingMessage } from 'node:http';
import {
  definePlugin,
  errorReply,
  retriesOf,
  toGatewayError,
  UpstreamError,
  type Attempt,
  type Exchange,
  type GatewayError,
} from '../../src/plugin/index.ts';

/** Renders every failure of the chain in the client's own format. */
export default definePlugin({
  name: 'errors',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['defaultFormat'],
  provides: ['errors'],
  explain({ exchange: { error, operation, clientFormat } }) {
    // An upstream's failure is another time's: nobody has been asked yet.
    if (!error || error instanceof UpstreamError) return undefined;
    const format = operation?.format ?? clientFormat;
    return { does: `answers ${error.code} (${error.clientStatus})${format ? ` as ${format.name} says it` : ''}` };
  },
  create({ host }) {
    return async function errors(ctx, next) {
      const { exchange } = ctx;
      try {
        // A path or method the gateway does not serve has its error from the start: no key, no body is asked for.
        if (exchange.error) throw exchange.error;
        await next();
      } catch (thrown) {
        const error = toGatewayError(thrown);
        // The chain has already logged faults of outside plugins, under the plugin's name.
        if (error.code === 'internal_error' && error.plugin === undefined)
          host.log.error({ err: thrown, request_id: exchange.id }, 'request failed inside the gateway');
        exchange.error = error;
        const format = exchange.operation?.format ?? exchange.clientFormat ?? host.defaultFormat;
        const reply = errorReply(error, format, exchange.id);
        Object.assign(reply.headers, retryHeaders(exchange, error), connectionHeader(ctx.req, error));
        exchange.reply = reply;
      }
    };
  },
});

/** What a client should know before it tries again. */
function retryHeaders(exchange: Exchange, error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterMs !== undefined) {
    headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000));
    headers['retry-after-ms'] = String(Math.ceil(error.retryAfterMs));
  }
  const shouldRetry = mayRetry(exchange, error);
  if (shouldRetry !== undefined) headers['x-should-retry'] = String(shouldRetry);
  return headers;
}

/** undefined: the gateway says nothing, and SDKs go by the status. */
function mayRetry(exchange: Exchange, error: GatewayError): boolean | undefined {
  // A request that comes again while this gateway stops reaches another one.
  if (error.code === 'shutting_down') return error.shouldRetry;
  // The SDKs of OpenAI and Anthropic retry 408, 409, 429 and 5xx by themselves: after retries of the gateway that would multiply them.
  if (hasTriedAgain(exchange)) return false;
  return isFinal(error) ? false : error.shouldRetry;
}

/** An upstream's own 401 or 403 keeps its `x-should-retry`. */
const isFinal = (error: GatewayError): boolean =>
  error.final && (!(error instanceof UpstreamError) || error.code === 'upstream_credentials_refused');

/** An unread body up to this size is read and forgotten, so that its connection can be used again. */
const FORGOTTEN_BYTES = 1024 * 1024;

/** What is left of a refused request's body costs more than a new connection. */
function connectionHeader({ headers }: IncomingMessage, { code }: GatewayError): Record<string, string> {
  const unread =
    code === 'request_too_large' ||
    code === 'request_timeout' ||
    code === 'body_too_slow' ||
    (code === 'busy' &&
      (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > FORGOTTEN_BYTES));
  return unread ? { connection: 'close' } : {};
}

/** What the gateway itself refused has asked nobody. */
const hasAsked = ({ tries, error }: Attempt): boolean => tries.length > 0 || error instanceof UpstreamError;

const hasTriedAgain = ({ attempts }: Exchange): boolean =>
  attempts.filter(hasAsked).length > 1 || attempts.some((attempt) => retriesOf(attempt.tries) > 0);
