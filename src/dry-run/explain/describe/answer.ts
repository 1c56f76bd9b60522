import type { AnswerTold } from '../../explanation/explanation.ts';
import type { GatewayError } from '../../../plugin/index.ts';
import type { Observation } from '../observation.ts';

/** What the gateway itself would answer; undefined where some target would be asked. */
export function tellAnswer({ exchange, attempts }: Observation): AnswerTold | undefined {
  if (attempts.some(({ supposed }) => supposed)) return undefined;
  if (exchange.error) return tellError(exchange.error);
  const { reply } = exchange;
  return reply && { status: reply.status, code: undefined, message: undefined, param: null };
}

export const tellError = ({ clientStatus, code, message, param }: GatewayError): AnswerTold => ({
  status: clientStatus,
  code,
  message,
  param,
});
