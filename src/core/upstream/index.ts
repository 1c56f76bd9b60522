import { isDeepStrictEqual } from 'node:util';
import { GatewayError, UpstreamError, type Clock } from '../../plugin/index.ts';
import { newTry } from '../kernel/index.ts';
import type { Wire } from './connection.ts';
import { systemLookup, type Lookup } from './egress.ts';
import { MediaExchange, SmallExchange } from './exchanges.ts';
import { networkWire, OriginPool, PoolDirectory, type PoolContext } from './pool.ts';
import { createRoutes } from './route.ts';
import { Try } from './try.ts';
import type {
  CommittedReply,
  Download,
  DownloadRequest,
  OutboundWay,
  OutboundRequest,
  RefusedReply,
  SmallReply,
  SmallRequest,
  TryTimings,
  Upstream,
} from './types.ts';

export type { Wire } from './connection.ts';
export type { Lookup } from './egress.ts';
export type * from './types.ts';

export interface UpstreamOptions {
  readonly clock: Clock;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Additional trusted certificate authorities, PEM. */
  readonly ca?: readonly string[];
  /** Default: the network. */
  readonly wire?: Wire;
  /** Called with the change in the number of requests that wait in line for a connection. */
  readonly onWaiting?: (change: number) => void;
}

/** Token endpoints are called about once an hour; more concurrent calls mean that many entries refresh together. */
const SMALL_CONNECTIONS = 4;

/** Maximum number of pools for hosts that callers name; beyond it idle ones are closed. */
const MAX_CALLERS_POOLS = 64;

/** Not an UpstreamError, so that no other target is tried and the target's breaker ignores it. */
const CLOSING = new GatewayError('shutting_down', 'The gateway is closing its connections.');

/** The only way out of the gateway: every request to an upstream passes through it. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { clock, lookup = systemLookup, ca = [], wire, onWaiting } = options;
  let outbound: OutboundWay = { proxies: {}, noProxy: [], ca };
  /** With which new pools open connections. */
  let context: PoolContext = { clock, lookup, onWaiting, wire: wire ?? networkWire(ca) };
  const pools = new PoolDirectory(() => context);
  const callersPools = new PoolDirectory(() => context, MAX_CALLERS_POOLS);
  const directories = [pools, callersPools];
  const downloads = new Set<OriginPool>();

  function send(request: OutboundRequest, timings: TryTimings = newTry(0, 0)) {
    return new Promise<CommittedReply | RefusedReply>((resolve, reject) => {
      // undici accepts an absolute URL here and would send another host name to the upstream (RFC 9112, 3.2.2).
      if (!request.path.startsWith('/'))
        throw new GatewayError('internal_error', `The outbound path ${request.path} has no leading slash.`);
      const directory = request.origin.chosenByCaller ? callersPools : pools;
      const settle = { resolve, reject };
      new Try(directory.get(request.origin), request, { clock, timings, settle }).begin();
    });
  }

  function exchange(request: SmallRequest): Promise<SmallReply> {
    return new Promise((resolve, reject) => {
      const url = addressOf(request);
      const { allowInsecure, metadataServer = false, connections = SMALL_CONNECTIONS } = request;
      const pool = pools.get({ url: url.origin, allowInsecure, metadataServer, connections });
      new SmallExchange(pool, url.pathname + url.search, request, { resolve, reject }).begin(
        clock.after,
        request.cancellation,
      );
    });
  }

  /** Has its own connection, because such hosts would displace the upstreams' pools: each download checks its host. */
  async function download(request: DownloadRequest): Promise<Download> {
    const { url, allowInsecure } = request;
    const pool = new OriginPool({ url: url.origin, allowInsecure, connections: 1 }, context);
    downloads.add(pool);
    try {
      return await new Promise((resolve, reject) =>
        new MediaExchange(pool, request, { resolve, reject }).begin(clock.after, request.cancellation),
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
    stats: () => directories.flatMap((directory) => directory.all().map((pool) => pool.stats())),
    apply(next) {
      if (isDeepStrictEqual(plain(outbound), plain(next))) return;
      outbound = next;
      context = { ...context, wire: wire ?? networkWire(next.ca), routes: createRoutes(next) };
      for (const directory of directories) directory.networkChanged();
    },
    settingsChanged() {
      for (const directory of directories) directory.settingsChanged();
    },
    async close() {
      await Promise.all([...directories, ...downloads].map((one) => one.close(CLOSING)));
    },
  };
}

function addressOf(request: SmallRequest): URL {
  const url = URL.parse(request.url);
  if (url && !url.username && !url.password) return url;
  throw new UpstreamError('egress_refused', 'The address of this request is not a URL, or it contains credentials.');
}

const plain = ({ proxies: { https, http }, noProxy, ca }: OutboundWay) => [
  ...[https, http].map((proxy) => proxy && [proxy.url, proxy.credentials?.reveal()]),
  noProxy,
  ca,
];
