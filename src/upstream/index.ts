import { GatewayError, UpstreamError, type Clock } from '../plugin/index.ts';
import { systemLookup, type Lookup } from './egress.ts';
import { PoolDirectory } from './pool.ts';
import { SmallExchange } from './small-exchange.ts';
import { Try } from './try.ts';
import type {
  CommittedReply,
  OutboundRequest,
  RefusedReply,
  SmallReply,
  SmallRequest,
  TryTimings,
  Upstream,
} from './types.ts';

export type { Lookup } from './egress.ts';
export type * from './types.ts';

export interface UpstreamOptions {
  readonly clock: Clock;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Certificate authorities to trust beside the usual ones, PEM. */
  readonly ca?: readonly string[];
}

/** Token endpoints are asked once an hour; more at a time than this means that many entries refresh together. */
const SMALL_CONNECTIONS = 4;

/** Everything that leaves the gateway for an upstream goes through one of these. */
export function createUpstream({ clock, lookup = systemLookup, ca }: UpstreamOptions): Upstream {
  const pools = new PoolDirectory({ clock, lookup, ca });

  function send(request: OutboundRequest, timings: TryTimings = createTimings()) {
    return new Promise<CommittedReply | RefusedReply>((resolve, reject) => {
      // undici takes an absolute URL here and would name another host to the upstream (RFC 9112, 3.2.2).
      if (!request.path.startsWith('/'))
        throw new GatewayError('internal_error', `The outbound path ${request.path} has no leading slash.`);
      new Try(pools.get(request.origin), request, { clock, timings, settle: { resolve, reject } }).begin();
    });
  }

  function exchange(request: SmallRequest): Promise<SmallReply> {
    return new Promise((resolve, reject) => {
      const url = URL.parse(request.url);
      if (!url || url.username || url.password) {
        throw new UpstreamError('egress_refused', 'The address of this request is not a URL, or it holds credentials.');
      }
      const { allowInsecure, metadataServer = false } = request;
      const pool = pools.get({ url: url.origin, allowInsecure, metadataServer, connections: SMALL_CONNECTIONS });
      new SmallExchange(pool, url.pathname + url.search, request, { resolve, reject }).begin(clock.after);
    });
  }

  return {
    send,
    exchange,
    stats: () => pools.all().map((pool) => pool.stats()),
    settingsChanged: () => pools.settingsChanged(),
    close: () => pools.close(new UpstreamError('connection_failed', 'The gateway is closing its connections.')),
  };
}

function createTimings(): TryTimings {
  return {
    startedAt: 0,
    firstByteAt: undefined,
    firstContentAt: undefined,
    endedAt: undefined,
    bytesIn: 0,
    resent: false,
  };
}
