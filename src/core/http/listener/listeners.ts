import type { Server } from 'node:http';
import { Server as TcpServer, type AddressInfo } from 'node:net';
import { setImmediate as nextIteration, setTimeout } from 'node:timers/promises';
import { isSecure } from './secure-server.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** Thrown when a listener cannot be opened. The message has the address and the reason. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  /** Set if this machine does not have the address. */
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
      const reason =
        cause.code === 'EADDRINUSE' ? 'EADDRINUSE: another process uses it' : (cause.code ?? cause.message);
      const message = `cannot listen on ${host}, port ${port} (${reason})`;
      const unknownHost = UNKNOWN_HOST.has(cause.code) ? host : undefined;
      reject(new CannotListen(message, { cause, unknownHost }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      // A listening TCP server has an AddressInfo; only pipes have a string.
      const address = server.address() as AddressInfo;
      const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      const scheme = isSecure(server) ? 'https' : 'http';
      resolve({ host: address.address, port: address.port, url: `${scheme}://${shown}:${address.port}` });
    });
  });
}

/** The accept queue counts as empty after `quietMs` without a connection; at most `limitMs` are waited for. */
const QUIET = { quietMs: 25, limitMs: 700 };
/** In a longer iteration of the event loop connections may have arrived since it checked for them. */
const SHORT_ITERATION_MS = 1;

/**
 * Resolves just after a check found the accept queue empty; under a flood, after twice the limit.
 * @param accepted the number of connections that the listener has ever accepted
 */
export async function untilQuiet(accepted: () => number): Promise<void> {
  const end = performance.now() + QUIET.limitMs;
  for (let isQuiet = false; !isQuiet && performance.now() < end + QUIET.limitMs;) {
    const before = accepted();
    if (performance.now() < end) await setTimeout(QUIET.quietMs);
    const from = performance.now();
    // Node accepts one connection per iteration of its event loop, before it runs this.
    await nextIteration();
    isQuiet = accepted() === before && performance.now() - from < SHORT_ITERATION_MS;
  }
}

export function countConnections(server: Server): { readonly accepted: () => number; stop(): void } {
  let count = 0;
  const onConnection = (): void => void (count += 1);
  server.on('connection', onConnection);
  return { accepted: () => count, stop: () => void server.off('connection', onConnection) };
}

/** How often idle connections are looked for: they become idle one by one. */
const IDLE_CHECK_MS = 50;

/**
 * Stops accepting connections and closes the existing ones as they become idle. node:http calls a connection idle once
 * its reply has ended, even if the client has not read it: while `isBusy` reports one, nothing is closed.
 */
export function stopListening(server: Server, isBusy: () => boolean): Promise<void> {
  if (!server.listening) return Promise.resolve();
  const closeIdle = (): void => {
    // Node reads its connections before it runs this, so a request that waits in the socket of an idle connection is
    // served.
    setImmediate(() => {
      if (!isBusy()) server.closeIdleConnections();
    });
  };
  return new Promise((resolve) => {
    const checking = setInterval(closeIdle, IDLE_CHECK_MS);
    TcpServer.prototype.close.call(server, () => {
      clearInterval(checking);
      // Ends node:http's own checks as well.
      server.close();
      resolve();
    });
    closeIdle();
  });
}

export function close(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
