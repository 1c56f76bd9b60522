import type { ClientContext } from '../formats/format.ts';
import type { Attempt, Clock, Exchange, Operation, ResolvedTarget } from '../plugin/index.ts';

/** How the client wants its reply, by the API it speaks. */
export function clientContext(
  exchange: Exchange,
  { body, target }: Attempt,
  { operation, resolved, clock }: { operation: Operation; resolved: ResolvedTarget; clock: Clock },
): ClientContext {
  const asked = { id: exchange.id.replaceAll('-', ''), strict: exchange.strict ?? target.strict ?? true };
  return {
    ...operation.format.readClient(body, asked),
    created: Math.floor(clock.wall() / 1000),
    model: resolved.model,
  };
}
