import type { JsonObject } from '../../../formats/conversation.ts';
import { encodeUsage, responseObject } from '../../../formats/openai-responses/response-object.ts';
import type { GatewayError } from '../../../plugin/index.ts';

/** The event of a failure, with the fields that clients read (docs/protocols/openai-responses.md#websocket). */
export function errorFrame(status: number, error: JsonObject): string {
  const { type = 'invalid_request_error', code = null, message = 'The request failed.', param = null } = error;
  return JSON.stringify({ type: 'error', status, error: { type, code, message, param } });
}

export const refusalFrame = ({ clientStatus, type, code, message, param }: GatewayError): string =>
  errorFrame(clientStatus, { type, code, message, param });

export const longStreamId = (most: number): string =>
  errorFrame(400, {
    code: 'invalid_value',
    message: `\`stream_id\` exceeds ${most} bytes: each event of the turn repeats it.`,
    param: 'stream_id',
  });

/** Codex connects again after this code. */
export const limitReached = (why: string): string =>
  errorFrame(400, { code: 'websocket_connection_limit_reached', message: `${why} Connect again.` });

export const steerFailed = (steer: JsonObject): string =>
  JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    steer,
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'The gateway cannot steer a response: send the input as the next turn.',
    },
  });

/** A client may name its turns; each event of a turn repeats the name. */
export const withStreamId = (text: string, id: string | undefined): string =>
  id === undefined ? text : `{"stream_id":${JSON.stringify(id)},${text.slice(1)}`;

/** The events of a turn that asks no model: its input begins a conversation. */
export function warmUpFrames(id: string, created: number, body: JsonObject): readonly string[] {
  const parts = { id, created, model: typeof body.model === 'string' ? body.model : '', echoed: body };
  const usage = encodeUsage({ input: 0, output: 0, total: 0 });
  const begun = responseObject({ ...parts, status: 'in_progress' });
  const ended = responseObject({ ...parts, status: 'completed', usage });
  return [
    JSON.stringify({ type: 'response.created', sequence_number: 0, response: begun }),
    JSON.stringify({ type: 'response.completed', sequence_number: 1, response: ended }),
  ];
}
