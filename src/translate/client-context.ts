import type { ClientContext } from '../formats/format.ts';
import type { Attempt, Clock, Exchange, Operation, ResolvedTarget } from '../plugin/index.ts';

/** The client's options for its reply, read as its API defines them. */
export function clientContext(
  exchange: Exchange,
  { body, target }: Attempt,
  { operation, resolved, clock }: { operation: Operation; resolved: ResolvedTarget; clock: Clock },
): ClientContext {
  const fromRequest = { id: exchange.id.replaceAll('-', ''), strict: exchange.strict ?? target.strict ?? true };
  return {
    ...operation.format.readClient(body, fromRequest),
    created: Math.floor(clock.wall() / 1000),
    model: resolved.model,
  };
}
