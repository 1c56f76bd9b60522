import type { Loss } from '../formats/conversation.ts';
import type { Exchange, ResolvedTarget, Target } from '../plugin/index.ts';
import { namesIn } from './outbound-headers.ts';

const BETA = 'anthropic-beta';
const VERSION = 'anthropic-version';

/** Under the gateway's own prefix; `familya` is the neutral name of the Claude family (service.md, section 2.2). */
const GATEWAY_BETAS = ['anthropic-beta', 'familya-beta'];

/** The betas a caller asks for: in the API's own header, or in the gateway's (service.md, section 4.2). */
function betasOf({ request }: Exchange): readonly string[] {
  const lists = [request.headers[BETA], ...GATEWAY_BETAS.map((name) => request.header(name))];
  return namesIn(lists.flat().filter((list) => list !== undefined));
}

/**
 * What a caller says to Claude in headers. Betas count on every route: they name features of the model. The version is the one
 * the body was written for, so it travels with bodies that were written for this API and with no other; Vertex has it in the
 * body instead and refuses the header (wire.md C3).
 */
export function anthropicHeaders(
  exchange: Exchange,
  { format, host }: Pick<ResolvedTarget, 'format' | 'host'>,
): Readonly<Record<string, string>> {
  if (format !== 'anthropic-messages') return {};
  const betas = betasOf(exchange);
  const version = host === 'direct' && exchange.operation?.format.name === format && exchange.request.headers[VERSION];
  return {
    ...(betas.length > 0 && { [BETA]: betas.join(',') }),
    ...(typeof version === 'string' && version !== '' && { [VERSION]: version }),
  };
}

/**
 * Betas that go nowhere because the target is not Claude: wire.md D13 counts them among the losses, header or not, for a caller who
 * asks for a longer context must be told that there is none. Nothing is lost where the config forwards the header itself.
 */
export function lostBetas(
  exchange: Exchange,
  { forwardHeaders }: Pick<Target, 'forwardHeaders'>,
  { format }: Pick<ResolvedTarget, 'format'>,
): readonly Loss[] {
  if (format === 'anthropic-messages' || forwardHeaders.includes(BETA)) return [];
  return betasOf(exchange).map((name) => lostBeta(name, 'Only Claude has betas'));
}

export const lostBeta = (name: string, reason: string): Loss => ({
  param: `${BETA}: ${name}`,
  action: 'dropped',
  reason,
});
