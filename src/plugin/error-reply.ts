import type { ClientError, Format } from '../formats/format.ts';
import type { GatewayError } from './errors.ts';
import type { Reply } from './reply.ts';

/** The fields of an error that the client sees. */
export function toClientError(error: GatewayError, requestId: string): ClientError {
  const { clientStatus: status, message, type, param } = error;
  return { status, message, type, code: error.upstreamCode ?? error.code, param, requestId };
}

/**
 * The reply to a failed request, in the client's format. The format maps the status: an overload is 503 to one API and
 * 529 to another.
 */
export function errorReply(error: GatewayError, format: Format, requestId: string): Reply {
  const { status, body: encoded } = format.encodeError(toClientError(error, requestId));
  const body = Buffer.from(JSON.stringify(encoded));
  const headers = { 'content-type': format.contentType.body, 'content-length': String(body.length) };
  return { status, headers, body, stream: false };
}
