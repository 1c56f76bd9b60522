import { GatewayError } from '../../plugin/index.ts';
import type { Exchange, ResponseService } from '../../core/kernel/index.ts';
import type { ResponseLimits, ResponseStore } from '../../core/memory/ports.ts';

/** Part of the store that one response with its input may fill, so that a single one does not evict most others. */
const LARGEST_PART = 1 / 8;

/** The kept responses for requests: each key's own. The key decides here and not in a plugin, so that none can ask for another's. */
export function composeResponses(
  { maxBytes }: Pick<ResponseLimits, 'maxBytes'>,
  store: ResponseStore,
): ResponseService {
  return {
    maxBytes: Math.floor(maxBytes * LARGEST_PART),
    measure: (exchange, names) => orUnavailable(() => store.measure(ownerOf(exchange), names)),
    find: (exchange, id) => orUnavailable(() => store.find(ownerOf(exchange), id)),
    findItems: (exchange, ids) => orUnavailable(() => store.findItems(ownerOf(exchange), ids)),
    remove: (exchange, id) => orUnavailable(() => store.remove(ownerOf(exchange), id)),
    keep(exchange, kept) {
      const keeping = store.keep(ownerOf(exchange), kept);
      // A reply does not fail because it is not kept: only a later request that continues it does.
      return keeping instanceof Promise ? keeping.catch(() => {}) : undefined;
    },
  };
}

function ownerOf({ caller }: Exchange): string {
  if (!caller) throw new GatewayError('internal_error', 'Kept responses were asked for before the caller was known.');
  return caller.keyId;
}

function orUnavailable<T>(ask: () => T | Promise<T>): T | Promise<T> {
  const answer = ask();
  if (!(answer instanceof Promise)) return answer;
  return answer.catch((cause: unknown) => {
    // A limit, with its own code and message.
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('store_unavailable', 'The kept responses cannot be read at the moment.', { cause });
  });
}
