import { UpstreamError, type Clock } from '../../plugin/index.ts';
import { openOnce } from './connection.ts';
import { checkOrigin, systemLookup, type Lookup } from './egress.ts';
import { networkWire } from './pool.ts';
import { createRoutes } from './route.ts';
import type { Origin, OutboundWay } from './types.ts';

export interface ProbeSetup {
  readonly clock: Clock;
  readonly outbound: OutboundWay;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  readonly timeoutMs: number;
}

/** Connects as requests would, through the guard, the proxy and TLS, and closes at once. Sends nothing. */
export function createProbe({ clock, outbound, lookup = systemLookup, timeoutMs }: ProbeSetup) {
  const wire = networkWire(outbound.ca);
  const routes = createRoutes(outbound);
  /** Rejects with GatewayError. `isProxied`: of an http upstream only the proxy was reached. */
  return async (origin: Pick<Origin, 'url' | 'allowInsecure'>): Promise<{ readonly isProxied: boolean }> => {
    const { allowInsecure } = origin;
    const url = checkOrigin({ ...origin, connections: 1 });
    const proxy = routes.proxyFor(url);
    const context = { clock, lookup, wire, proxy, allowInsecure, metadataServer: false, chosenByCaller: false };
    const { opened, abandon } = openOnce(context, url);
    const stop = clock.after(timeoutMs, () =>
      abandon(new UpstreamError('timeout_connect', `${url.host} did not answer within ${timeoutMs} ms.`)),
    );
    try {
      const socket = await opened;
      socket.on('error', () => {}).destroy();
      return { isProxied: proxy !== undefined };
    } finally {
      stop();
    }
  };
}
