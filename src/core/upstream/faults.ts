import { errors } from 'undici';
import { GatewayError, UpstreamError, type ErrorCode } from '../../plugin/index.ts';
import { RETRY_AFTER_MS } from './limits.ts';

/** Errors of a connection that was closed between two requests, or while one was being written. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);

/** undici refuses to send the request: a fault of the gateway, which another target would not cure. */
const UNSENDABLE = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']);

/** The gateway's own host has run out of a resource, so that no connection can be opened. */
const LOCAL = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

const CLOSING = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** ` (ECONNREFUSED)`, for the end of a message; empty without a code. */
export function causeOf(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? '' : ` (${code})`;
}

export function isConnectionClosed(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && CLOSED.has(code);
}

/** The error where the gateway's host has run out of sockets; undefined for any other error. */
export function outOfSockets(error: unknown, host: string): UpstreamError | undefined {
  const code = codeOf(error);
  if (code === undefined || !LOCAL.has(code)) return undefined;
  const message = `The gateway's host has no free socket for a connection to ${host} (${code}).`;
  return new UpstreamError('sockets_exhausted', message, { cause: error, retryAfterMs: RETRY_AFTER_MS });
}

/** Turns an error of undici or of a socket into a gateway error. @param headersSeen the reply had begun */
export function toTransportError(error: unknown, host: string, headersSeen: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  // undici leaves the code of parser errors empty where its table has no entry for the number.
  const code = codeOf(error) ?? (error instanceof errors.HTTPParserError ? 'HPE' : undefined);
  if (code === undefined || UNSENDABLE.has(code)) {
    return new GatewayError('internal_error', 'The gateway failed to send this request.', { cause: error });
  }
  if (CLOSING.has(code))
    return new GatewayError('shutting_down', 'The gateway is closing its connections.', { cause: error });
  const failed = (of: ErrorCode, message: string): UpstreamError => new UpstreamError(of, message, { cause: error });
  if (headersSeen)
    return failed('stream_interrupted', `The connection to ${host} broke before the reply was complete (${code}).`);
  if (code.startsWith('HPE') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return failed('upstream_error', `The answer of ${host} is not readable HTTP/1.1 (${code}).`);
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return toTlsError(error, host);
  return failed('connection_failed', `The connection to ${host} broke before a reply (${code}).`);
}

export function toTlsError(error: unknown, host: string): UpstreamError {
  const reason = error instanceof Error ? `: ${error.message}` : '';
  return new UpstreamError('tls_failed', `TLS with ${host} failed${causeOf(error)}${reason}`, { cause: error });
}
