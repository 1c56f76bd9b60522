import type { IncomingMessage } from 'node:http';
import {
  definePlugin,
  errorReply,
  retriesOf,
  toGatewayError,
  type Attempt,
  type Exchange,
} from '../../src/core/kernel/index.ts';
import { UpstreamError, type GatewayError } from '../../src/plugin/index.ts';

/** Renders every failure of the chain in the client's own format. */
export default definePlugin({
  name: 'errors',
  level: 'entry',
  needs: ['defaultFormat'],
  provides: ['errors'],
  explain({ exchange: { error, operation, clientFormat } }) {
    // Explain sends nothing, so an upstream failure here is only assumed and not described.
    if (!error || error instanceof UpstreamError) return undefined;
    const format = operation?.format ?? clientFormat;
    return { does: `answers ${error.code} (${error.clientStatus})${format ? ` in the format ${format.name}` : ''}` };
  },
  create({ host }) {
    return function errors(ctx, next) {
      const { exchange } = ctx;
      const render = (thrown: unknown): void => {
        const error = toGatewayError(thrown);
        // The chain has already logged faults of external plugins, under the plugin's name.
        if (error.code === 'internal_error' && error.plugin === undefined)
          host.log.error({ err: thrown, request_id: exchange.id }, 'request failed inside the gateway');
        exchange.error = error;
        const format = exchange.operation?.format ?? exchange.clientFormat ?? host.defaultFormat;
        const reply = errorReply(error, format, exchange.id);
        Object.assign(reply.headers, error.limitHeaders, retryHeaders(exchange, error), upgradeHeader(ctx.req, error));
        exchange.reply = reply;
      };
      try {
        // An unserved path or method has its error from the start: neither key nor body is needed.
        if (exchange.error) throw exchange.error;
        return next().catch(render);
      } catch (thrown) {
        return Promise.reject(thrown).catch(render);
      }
    };
  },
});

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

/** Undefined: no header; SDKs decide by the status. */
function mayRetry(exchange: Exchange, error: GatewayError): boolean | undefined {
  // While this gateway stops, a retry reaches another one.
  if (error.code === 'shutting_down') return error.shouldRetry;
  // SDKs retry 408, 409, 429 and 5xx themselves, which would multiply the gateway's own retries.
  if (hasRetried(exchange)) return false;
  // Agents would repeat a refused credential for minutes (docs/protocols/claude-code.md#refusals).
  return error.final ? false : error.shouldRetry;
}

/** The protocol that the client must use in place of its own (RFC 9110, section 15.5.22). */
function upgradeHeader({ headers }: IncomingMessage, { code }: GatewayError): Record<string, string> {
  if (code !== 'upgrade_required') return {};
  return { upgrade: headers.upgrade === undefined ? 'websocket' : 'HTTP/1.1' };
}

/** An attempt that the gateway itself refused has sent nothing. */
const hasSent = ({ tries, error }: Attempt): boolean => tries.length > 0 || error instanceof UpstreamError;

const hasRetried = ({ attempts }: Exchange): boolean =>
  attempts.filter(hasSent).length > 1 || attempts.some((attempt) => retriesOf(attempt.tries) > 0);
