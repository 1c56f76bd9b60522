import type { ClientError } from '../../formats/client-error.ts';
import type { Format } from '../../formats/format.ts';
import type { GatewayError } from '../../plugin/errors.ts';
import type { Reply, ReplyForm, ReplyWithForm } from '../../plugin/reply.ts';

const EVENTS = /^\s*text\/event-stream\s*(?:;|$)/i;
const JSON_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i;

export function replyForm({ headers, stream }: Pick<Reply, 'headers' | 'stream'>): ReplyForm {
  const type = headers['content-type'] ?? '';
  if (EVENTS.test(type)) return 'sse';
  if (!JSON_TYPE.test(type)) return 'bytes';
  return stream ? 'json-array' : 'json';
}

/** Completes a reply in place: who made it may keep and change it. */
export function heldReply(reply: Reply): ReplyWithForm {
  // A plugin may have made a reply without headers, which is reported later, or one that is frozen.
  if (reply.form === undefined) Reflect.set(reply, 'form', replyForm({ ...reply, headers: reply.headers ?? {} }));
  return reply as ReplyWithForm;
}

export function cancelReply(reply: Reply | undefined, reason: GatewayError): void {
  if (reply && !Buffer.isBuffer(reply.body)) reply.body.cancel(reason);
}

/** The fields of an error that the client sees. */
export function toClientError(error: GatewayError, requestId: string, replyId?: string): ClientError {
  const { clientStatus: status, message, type, param, limit, retryAfterMs } = error;
  const code = error.upstreamCode ?? error.ownCode ?? error.code;
  const client = {
    status,
    message,
    type,
    code,
    param,
    requestId,
    ...(replyId !== undefined && { replyId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(error.upstreamDetails && { upstreamDetails: error.upstreamDetails }),
  };
  return limit ? { ...client, limit: { counts: limit.limit, retryAfterMs: retryAfterMs ?? 0 } } : client;
}

/** A reply of the gateway's own, in the content type of the client's format. */
export function jsonReply(body: object, format: Format | undefined): Reply {
  const type = format?.contentType.body ?? 'application/json';
  return { status: 200, headers: { 'content-type': type }, body: Buffer.from(JSON.stringify(body)), stream: false };
}

/** The reply to a failed request. The client's format maps the status: an overload may be 503 or 529. */
export function errorReply(error: GatewayError, format: Format, requestId: string): Reply {
  const { status, body: encoded } = format.encodeError(toClientError(error, requestId));
  const body = Buffer.from(JSON.stringify(encoded));
  const headers = { 'content-type': format.contentType.body, 'content-length': String(body.length) };
  return { status, headers, body, stream: false };
}
