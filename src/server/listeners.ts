import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../plugin/index.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** Says where it could not listen and why. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Address> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(new CannotListen(`cannot listen on ${host}, port ${port} (${cause.code ?? cause.message})`, { cause })),
    );
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      // A TCP server that listens has an AddressInfo; only pipes have a string.
      const address = server.address() as AddressInfo;
      const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      resolve({ host: address.address, port: address.port, url: `http://${shown}:${address.port}` });
    });
  });
}

/** Node closes the connections that are idle now, and not those that become idle later: they are looked for this often. */
const IDLE_CHECK_MS = 50;

/** Stops accepting; running replies have `graceMs` to end, then their connections are cut. */
export function close(server: Server, graceMs: number, clock: Clock): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const cut = clock.after(graceMs, () => server.closeAllConnections());
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      cut();
      clearInterval(idle);
      resolve();
    });
  });
}
