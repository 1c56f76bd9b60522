import { definePlugin, toGatewayError, type Exchange, type GatewayError, type Reply } from '../../src/plugin/index.ts';

/** Renders every failure of the chain in the client's own format. */
export default definePlugin({
  name: 'errors',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['defaultFormat'],
  provides: ['errors'],
  create({ host }) {
    return async function errors(ctx, next) {
      const { exchange } = ctx;
      try {
        // A path or method the gateway does not serve has its error from the start: no key, no body is asked for.
        if (exchange.error) throw exchange.error;
        await next();
      } catch (thrown) {
        const error = toGatewayError(thrown);
        if (error.code === 'internal_error')
          host.log.error({ err: thrown, request_id: exchange.id }, 'request failed inside the gateway');
        exchange.error = error;
        exchange.reply = renderError(exchange, error, exchange.operation?.format ?? host.defaultFormat);
      }
    };
  },
});

function renderError(
  exchange: Exchange,
  error: GatewayError,
  format: NonNullable<Exchange['operation']>['format'],
): Reply {
  const { status, message, type, code, param } = error;
  // The status is the format's: an overload is 503 to one API and 529 to another.
  const encoded = format.encodeError({ status, message, type, code, param, requestId: exchange.id });
  const body = Buffer.from(JSON.stringify(encoded.body));
  return {
    status: encoded.status,
    headers: errorHeaders(exchange, error, format.contentType.body, body.length),
    body,
    stream: false,
  };
}

function errorHeaders(
  exchange: Exchange,
  error: GatewayError,
  contentType: string,
  length: number,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType, 'content-length': String(length) };
  if (error.retryAfterMs !== undefined) {
    headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000));
    headers['retry-after-ms'] = String(Math.ceil(error.retryAfterMs));
  }
  // The SDKs try 408, 409, 429 and 5xx again on their own (wire.md A1); where the gateway has done so, that would multiply.
  if (exchange.attempts.length > 1 || exchange.attempts.some((attempt) => attempt.tries.length > 1))
    headers['x-should-retry'] = 'false';
  // The body of a refused request may be unread: the connection cannot be used again.
  if (error.code === 'request_too_large') headers['connection'] = 'close';
  return headers;
}
