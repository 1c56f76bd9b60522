import { createNetworkTest } from './networks.ts';

const isLoopbackAddress = createNetworkTest(['127.0.0.0/8', '::1/128']);

/** An address by which a machine reaches itself and nobody else reaches it, or the name of one; without brackets. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}
