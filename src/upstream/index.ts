import { GatewayError, UpstreamError, type Clock } from '../plugin/index.ts';
import type { Wire } from './dial.ts';
import { systemLookup, type Lookup } from './egress.ts';
import { MediaExchange } from './media-exchange.ts';
import { OriginPool, PoolDirectory } from './pool.ts';
import { SmallExchange } from './small-exchange.ts';
import { Try } from './try.ts';
import type {
  CommittedReply,
  Download,
  DownloadRequest,
  OutboundRequest,
  RefusedReply,
  SmallReply,
  SmallRequest,
  TryTimings,
  Upstream,
} from './types.ts';

export type { Wire } from './dial.ts';
export type { Lookup } from './egress.ts';
export type * from './types.ts';

export interface UpstreamOptions {
  readonly clock: Clock;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Certificate authorities to trust beside the usual ones, PEM. */
  readonly ca?: readonly string[];
  /** Default: the network. */
  readonly wire?: Wire;
  /** So many more, or with a negative number fewer, requests wait in line for a connection. */
  readonly onWaiting?: (change: number) => void;
}

/** Token endpoints are asked once an hour; more at a time than this means that many entries refresh together. */
const SMALL_CONNECTIONS = 4;

/** Hosts that callers name, at once; beyond it those without work give up their connections. */
const MAX_CALLERS_POOLS = 64;

/** No UpstreamError: no other target is tried, and the breaker of this one ignores it. */
const CLOSING = new GatewayError('shutting_down', 'The gateway is closing its connections.');

/** Everything that leaves the gateway for an upstream goes through one of these. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { clock, lookup = systemLookup, ca, wire, onWaiting } = options;
  const context = { clock, lookup, ca, wire, onWaiting };
  const pools = new PoolDirectory(context);
  const callersPools = new PoolDirectory(context, MAX_CALLERS_POOLS);
  const downloads = new Set<OriginPool>();

  function send(request: OutboundRequest, timings: TryTimings = createTimings()) {
    return new Promise<CommittedReply | RefusedReply>((resolve, reject) => {
      // undici takes an absolute URL here and would name another host to the upstream (RFC 9112, 3.2.2).
      if (!request.path.startsWith('/'))
        throw new GatewayError('internal_error', `The outbound path ${request.path} has no leading slash.`);
      const directory = request.origin.chosenByCaller ? callersPools : pools;
      new Try(directory.get(request.origin), request, { clock, timings, settle: { resolve, reject } }).begin();
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

  /**
   * A connection of its own, closed behind it: callers name these hosts, and would crowd the upstreams' out of the directory. So
   * every download is looked up and checked anew, whatever the name has answered before.
   */
  async function download(request: DownloadRequest): Promise<Download> {
    const { url, allowInsecure } = request;
    const pool = new OriginPool({ url: url.origin, allowInsecure, connections: 1 }, context);
    downloads.add(pool);
    try {
      return await new Promise((resolve, reject) =>
        new MediaExchange(pool, request, { resolve, reject }).begin(clock.after),
      );
    } finally {
      downloads.delete(pool);
      void pool.close(CLOSING);
    }
  }

  return {
    send,
    exchange,
    download,
    stats: () => [...pools.all(), ...callersPools.all()].map((pool) => pool.stats()),
    settingsChanged() {
      pools.settingsChanged();
      callersPools.settingsChanged();
    },
    async close() {
      await Promise.all([
        pools.close(CLOSING),
        callersPools.close(CLOSING),
        ...[...downloads].map((pool) => pool.close(CLOSING)),
      ]);
    },
  };
}

function createTimings(): TryTimings {
  return {
    startedAt: 0,
    sentAt: undefined,
    firstByteAt: undefined,
    firstContentAt: undefined,
    endedAt: undefined,
    bytesIn: 0,
    resent: false,
  };
}
