import { openaiResponses } from '../../formats/openai-responses/index.ts';
import type { Operation } from '../../core/kernel/index.ts';

/**
 * The WebSocket form of OpenAI's Responses (docs/protocols/openai-responses.md#websocket). The request opens the socket.
 * Each turn on it is a request of the operation `responses`.
 */
export const responsesSocket: Operation = {
  id: 'responses.socket',
  method: 'GET',
  path: '/v1/responses',
  task: undefined,
  semconvName: 'open_socket',
  format: openaiResponses,
  validate: () => undefined,
};
