import type { AnswerExplanation } from '../../explanation/explanation.ts';
import type { GatewayError } from '../../../plugin/index.ts';
import type { Observation } from '../observation.ts';

/** The gateway's own reply; undefined when a target would be tried. */
export function describeAnswer({ record, exchange, attempts }: Observation): AnswerExplanation | undefined {
  if (attempts.some(({ supposed }) => supposed)) return undefined;
  const { message, param = null } = exchange.error ?? {};
  return { status: record.status, code: record.errorCode, message, param };
}

export const describeError = ({ clientStatus, code, message, param }: GatewayError): AnswerExplanation => ({
  status: clientStatus,
  code,
  message,
  param,
});
