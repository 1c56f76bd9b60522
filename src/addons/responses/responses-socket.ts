import { openaiResponses } from '../../formats/openai-responses/index.ts';
import type { Operation } from '../../core/kernel/index.ts';

/** The WebSocket of Responses (docs/protocols/openai-responses.md#websocket). Each turn is a request of `responses`. */
export const responsesSocket: Operation = {
  id: 'responses.socket',
  method: 'GET',
  path: '/v1/responses',
  task: undefined,
  semconvName: 'open_socket',
  format: openaiResponses,
  validate: () => undefined,
};
