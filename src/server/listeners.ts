import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../plugin/index.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Address> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // A TCP server that listens has an AddressInfo; only pipes have a string.
      const address = server.address() as AddressInfo;
      const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      resolve({ host: address.address, port: address.port, url: `http://${shown}:${address.port}` });
    });
  });
}

/** Stops accepting; running replies have `graceMs` to end, then their connections are cut. */
export function close(server: Server, graceMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(graceMs, () => server.closeAllConnections());
    server.close(() => {
      stop();
      resolve();
    });
    server.closeIdleConnections();
    if (!server.listening) resolve();
  });
}
