import type { Server } from 'node:http';
import { Server as TcpServer, type AddressInfo } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** Says where it could not listen and why. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  /** This machine has no such address. */
  readonly unknownHost: string | undefined;

  constructor(
    message: string,
    { unknownHost, ...options }: ErrorOptions & { readonly unknownHost?: string | undefined } = {},
  ) {
    super(message, options);
    this.unknownHost = unknownHost;
  }
}

const UNKNOWN_HOST: ReadonlySet<string | undefined> = new Set(['EADDRNOTAVAIL', 'EAI_AGAIN', 'ENOTFOUND']);

export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Address> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message = `cannot listen on ${host}, port ${port} (${cause.code ?? cause.message})`;
      const unknownHost = UNKNOWN_HOST.has(cause.code) ? host : undefined;
      reject(new CannotListen(message, { cause, unknownHost }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      // A TCP server that listens has an AddressInfo; only pipes have a string.
      const address = server.address() as AddressInfo;
      const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      resolve({ host: address.address, port: address.port, url: `http://${shown}:${address.port}` });
    });
  });
}

/** Resolves when no connection has come for `quietMs`, just after the queue of connections was looked at, or after `limitMs`. */
export async function untilQuiet(
  server: Server,
  { quietMs, limitMs }: { readonly quietMs: number; readonly limitMs: number },
): Promise<void> {
  if (!server.listening) return;
  let count = 0;
  const onConnection = (): void => void (count += 1);
  server.on('connection', onConnection);
  const end = performance.now() + limitMs;
  for (let before = -1; count !== before && performance.now() < end;) {
    before = count;
    await setTimeout(quietMs);
    // Node looks for connections before it runs this.
    await setImmediate();
  }
  server.off('connection', onConnection);
}

/** Connections fall idle one by one: they are looked for this often. */
const IDLE_CHECK_MS = 50;

/**
 * Takes no more connections, and closes those it has as they fall idle. Resolves when there is none left.
 *
 * To node:http a connection is idle when its reply has been ended, though most of that may still wait for the client to read it:
 * `isBusy` says that there is such a reply, or another reason to wait, and until then nothing is closed. `close()` of node:http does
 * not ask.
 */
export function stopListening(server: Server, isBusy: () => boolean): Promise<void> {
  if (!server.listening) return Promise.resolve();
  const closeIdle = (): void => {
    if (!isBusy()) server.closeIdleConnections();
  };
  return new Promise((resolve) => {
    const checking = setInterval(closeIdle, IDLE_CHECK_MS);
    TcpServer.prototype.close.call(server, () => {
      clearInterval(checking);
      // What it checks by itself ends, too.
      server.close();
      resolve();
    });
    closeIdle();
  });
}

/** Stops at once, whatever is under way. */
export function close(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
