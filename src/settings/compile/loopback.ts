import { createNetworkTest } from './networks.ts';

const isLoopbackAddress = createNetworkTest(['127.0.0.0/8', '::1/128']);

/** True for a loopback address or `localhost`. @param host without brackets */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}
