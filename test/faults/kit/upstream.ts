import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dialectOf, type Dialect } from './dialects.ts';

/** One request as the upstream saw it. Times are `performance.now()`. */
export interface Visit {
  /** When its body was there. */
  readonly at: number;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly body: string;
  /** When the client has the first bytes of a reply; at once where it will get none before the end. */
  readonly heard: Promise<void>;
  /** When the connection closed under a reply that had not ended. */
  abortedAt: number | undefined;
  /** When the reply had been written whole, or cut on purpose. */
  endedAt: number | undefined;
}

/** What an upstream does with a request. `turn` counts from 0 since it forgot. */
export type Deed = (visit: Visit, res: ServerResponse, turn: number) => void | Promise<void>;

export interface FaultyUpstream {
  readonly url: string;
  readonly visits: readonly Visit[];
  /** What it does from now on. */
  does(deed: Deed): void;
  /** Begins to count anew. */
  forget(): void;
  /** Sets `heard` of the next requests. */
  setHeard(heard: Promise<void>): void;
  close(): Promise<void>;
}

/** An upstream on loopback that speaks every dialect, told by the path it is asked at. */
export async function startFaultyUpstream(first: Deed): Promise<FaultyUpstream> {
  let deed = first;
  let visits: Visit[] = [];
  let heard = Promise.resolve();
  const server = createServer((req, res) => void serve(req, res));
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of req) pieces.push(piece as Buffer);
    } catch {
      return;
    }
    const url = req.url ?? '';
    const body = Buffer.concat(pieces).toString();
    const visit: Visit = {
      at: performance.now(),
      dialect: dialectOf(url),
      stream: url.includes(':streamGenerateContent') || body.includes('"stream":true'),
      body,
      heard,
      abortedAt: undefined,
      endedAt: undefined,
    };
    res.on('close', () => {
      if (res.writableFinished) visit.endedAt ??= performance.now();
      else if (visit.endedAt === undefined) visit.abortedAt = performance.now();
    });
    // A kept-alive connection that breaks is a story of its own: here every fault meets a fresh one.
    res.setHeader('connection', 'close');
    await deed(visit, res, visits.push(visit) - 1);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get visits() {
      return visits;
    },
    does(next) {
      deed = next;
    },
    forget() {
      visits = [];
    },
    setHeard(next) {
      heard = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A closed port. */
export async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** Ends the connection as a crash does (RST), or as a close in the middle does. */
export function cut(visit: Visit, { socket }: ServerResponse, how: 'reset' | 'close' = 'close'): void {
  visit.endedAt = performance.now();
  if (how === 'reset') socket?.resetAndDestroy();
  else socket?.destroySoon();
}
