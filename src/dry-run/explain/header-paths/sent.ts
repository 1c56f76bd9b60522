import { GatewayError, Secret, type Exchange, type Operation, type Target } from '../../../plugin/index.ts';
import { HttpExchange } from '../../../gateway/exchange.ts';
import { HeaderNames } from '../../../gateway/header-names.ts';
import { placeOf } from '../../../translate/translation-job.ts';
import { inboundContext } from '../inbound.ts';
import { EVERY_HEADER, marksIn } from './marks.ts';
import type { UpstreamInput, Way } from './upstreams.ts';

/** A request of one operation that has every header there is, under one of the gateway's prefixes. */
export class MarkedRequests {
  readonly #known: UpstreamInput;
  readonly #exchanges = new Map<string, HttpExchange>();

  constructor(known: UpstreamInput) {
    this.#known = known;
  }

  get prefixes(): readonly string[] {
    return this.#known.server.headerPrefixes;
  }

  of(operation: Operation, prefix: string): HttpExchange {
    const key = `${prefix} ${operation.id}`;
    let exchange = this.#exchanges.get(key);
    if (!exchange) this.#exchanges.set(key, (exchange = this.#make(operation, prefix)));
    return exchange;
  }

  #make(operation: Operation, prefix: string): HttpExchange {
    const { settings, server, clock } = this.#known;
    const { method, path } = operation;
    const { req } = inboundContext({ method, path, headers: {}, body: Buffer.alloc(0) });
    req.headers = EVERY_HEADER;
    const snapshot = { hash: settings.hash, headerNames: new HeaderNames([prefix]), server };
    return new HttpExchange(req, { operation, clientFormat: operation.format, params: {}, snapshot, clock });
  }
}

/** A header of the request that is found in what leaves. */
export interface FoundMark {
  /** Name of the header it came in. */
  readonly mark: string;
  /** Header of the upstream; undefined: in the address. */
  readonly as: string | undefined;
}

/** What would be sent of a request's headers and of the caller's token, by the functions that send. */
export async function sentBy(
  exchange: Exchange,
  way: Pick<Way, 'resolved' | 'entry'>,
  { target, upstreamToken }: { target: Target; upstreamToken: string | undefined },
): Promise<readonly FoundMark[]> {
  const { headers, origin, path } = placeOf({ exchange, resolved: way.resolved, attempt: { target } }, undefined);
  const credentials = await credentialsOf(way, upstreamToken);
  // Written over one another as `send` does it.
  const sent = Object.entries({ ...headers, ...credentials });
  return [
    ...marksIn(origin + path).map((mark) => ({ mark, as: undefined })),
    ...sent.flatMap(([as, value]) => marksIn(value).map((mark) => ({ mark, as }))),
  ];
}

async function credentialsOf(
  { entry }: Pick<Way, 'entry'>,
  upstreamToken: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  try {
    const token = upstreamToken === undefined ? undefined : new Secret(upstreamToken, 'caller');
    return await entry.provider.authorize({ upstreamToken: token });
  } catch (error) {
    // Not opened, or nothing without the caller's own: then there is nothing to be seen.
    if (error instanceof GatewayError) return {};
    throw error;
  }
}
