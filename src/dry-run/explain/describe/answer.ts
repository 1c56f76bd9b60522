import type { AnswerExplanation } from '../../explanation/explanation.ts';
import type { GatewayError } from '../../../plugin/index.ts';
import type { Observation } from '../observation.ts';

/** The gateway's own reply; undefined when a target would be tried. */
export function describeAnswer({ exchange, attempts }: Observation): AnswerExplanation | undefined {
  if (attempts.some(({ supposed }) => supposed)) return undefined;
  if (exchange.error) return describeError(exchange.error);
  const { reply } = exchange;
  return reply && { status: reply.status, code: undefined, message: undefined, param: null };
}

export const describeError = ({ clientStatus, code, message, param }: GatewayError): AnswerExplanation => ({
  status: clientStatus,
  code,
  message,
  param,
});
