import type { Exchange, KeptResponse, ResponseService, MaybePromise } from '../../../core/kernel/index.ts';

/** The kept responses and items that a served request found. */
export interface FrozenResponses {
  readonly responses: ReadonlyMap<string, KeptResponse | undefined>;
  readonly items: ReadonlyMap<string, string>;
}

interface ReadOnlySetup {
  /** The finds of the served request. Undefined: the responses that are kept now decide. */
  readonly before: () => FrozenResponses | undefined;
  readonly runOf: (exchange: Exchange) => { readonly notes: string[] };
  /** False in a command beside the gateway, which cannot read the gateway's memory. */
  readonly known: boolean;
}

/** The kept responses of a gateway, which explain reads and does not change. */
export function readOnlyResponses(service: ResponseService, { before, runOf, known }: ReadOnlySetup): ResponseService {
  const find: ResponseService['find'] = (exchange, id) => {
    const frozen = before();
    if (frozen) return frozen.responses.get(id);
    if (!known) noteUnknown(runOf(exchange), service);
    return service.find(exchange, id);
  };
  return {
    maxBytes: service.maxBytes,
    measure: (exchange, names) => (before() ? 0 : service.measure(exchange, names)),
    find,
    findItems(exchange, ids): MaybePromise<ReadonlyMap<string, string>> {
      const frozen = before();
      if (frozen) return frozen.items;
      if (!known) noteUnknown(runOf(exchange), service);
      return service.findItems(exchange, ids);
    },
    keep() {},
    remove: async (exchange, id) => (await find(exchange, id)) !== undefined,
  };
}

const UNKNOWN =
  'explain does not know the responses that a gateway keeps: the request is explained as if none were kept';

function noteUnknown({ notes }: { readonly notes: string[] }, { maxBytes }: ResponseService): void {
  if (maxBytes > 0 && !notes.includes(UNKNOWN)) notes.push(UNKNOWN);
}
