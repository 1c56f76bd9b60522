import type { Server } from 'node:http';
import { Server as TcpServer, type AddressInfo } from 'node:net';
import { setImmediate as nextRound, setTimeout } from 'node:timers/promises';

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

/** The queue of connections counts as empty after `quietMs` without one. Clients that go on opening some have no more than `limitMs`. */
const QUIET = { quietMs: 25, limitMs: 700 };
/** A round of the event loop that takes longer has served requests, and connections may have come since it looked for them. */
const SHORT_ROUND_MS = 1;

/**
 * Resolves just after a look at the queue of connections that found it empty. In a flood of connections no look does: then it
 * resolves after twice the limit.
 *
 * @param accepted how many connections the listener has taken, ever
 */
export async function untilQuiet(accepted: () => number): Promise<void> {
  const end = performance.now() + QUIET.limitMs;
  for (let isQuiet = false; !isQuiet && performance.now() < end + QUIET.limitMs;) {
    const before = accepted();
    if (performance.now() < end) await setTimeout(QUIET.quietMs);
    const from = performance.now();
    // Node accepts one connection in each round of its event loop, before it runs this.
    await nextRound();
    isQuiet = accepted() === before && performance.now() - from < SHORT_ROUND_MS;
  }
}

/** How many connections a server takes from now on. */
export function countConnections(server: Server): { readonly accepted: () => number; stop(): void } {
  let count = 0;
  const onConnection = (): void => void (count += 1);
  server.on('connection', onConnection);
  return { accepted: () => count, stop: () => void server.off('connection', onConnection) };
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
    // Node reads its connections before it runs this: a request that waits in the socket of an idle one is served.
    setImmediate(() => {
      if (!isBusy()) server.closeIdleConnections();
    });
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
