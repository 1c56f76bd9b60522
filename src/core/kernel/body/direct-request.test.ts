import { once } from 'node:events';
import { createServer, IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { DirectRequest, type BodySink } from './direct-request.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** The body plugin in small: takes the body where it may, else listens. */
class Reader implements BodySink {
  readonly pieces: Buffer[] = [];
  readonly events: string[] = [];
  isDirect = false;
  readonly #req: IncomingMessage;
  readonly begun = Promise.withResolvers<void>();
  readonly ended = Promise.withResolvers<void>();

  constructor(req: IncomingMessage) {
    this.#req = req;
  }

  begin(): void {
    this.isDirect = this.#req instanceof DirectRequest && this.#req.takeBody(this);
    if (!this.isDirect) this.leaveToStream();
  }

  leaveToStream(): void {
    this.#req
      .on('data', (piece: Buffer) => this.takePiece(piece))
      .on('end', () => this.endBody())
      .on('error', (cause) => this.breakBody(cause));
  }

  takePiece(piece: Buffer): void {
    this.pieces.push(piece);
    this.begun.resolve();
  }

  endBody(): void {
    this.events.push('end');
    this.ended.resolve();
  }

  breakBody(cause: Error | null): void {
    this.events.push(`broken: ${cause?.message}`);
    this.ended.resolve();
  }
}

interface Arrived {
  readonly req: IncomingMessage;
  readonly reader: Reader;
  readonly client: Socket;
}

/** A request whose head has arrived. */
async function arrive(requests: typeof IncomingMessage, head: string): Promise<Arrived> {
  const server = createServer({ IncomingMessage: requests });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const request = once(server, 'request');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  client.write(head);
  const [req] = (await request) as [IncomingMessage];
  return { req, reader: new Reader(req), client };
}

const HEAD = 'POST / HTTP/1.1\r\nhost: a\r\n';
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;

/** Longer than anything takes that needs no more bytes. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

const sink = (): Writable => new Writable({ write: (_, __, done) => done() });

/** Ways in which a plugin may read the request. */
const READERS: Readonly<Record<string, (req: IncomingMessage) => unknown>> = {
  'does nothing': () => undefined,
  'collects the data': (req) =>
    new Promise((resolve) => {
      let size = 0;
      req.on('data', (piece: Buffer) => (size += piece.length)).on('end', () => resolve(size));
    }),
  'reads it as a text': (req) => text(req),
  'sends it through a pipeline': (req) => pipeline(req, sink()).then(() => 'through'),
  'waits until it has finished': (req) => finished(req).then(() => 'finished'),
  'listens for end': (req) => once(req, 'end').then(() => 'ended'),
  'listens for close': (req) => once(req, 'close').then(() => 'closed'),
  'listens for readable': (req) => {
    req.on('readable', () => req.read());
    return once(req, 'end').then(() => 'read');
  },
  pauses: async (req) => {
    req.pause();
    await settled();
    req.resume();
  },
  resumes: (req) => void req.resume(),
};

const MOMENTS = ['before the body is read', 'within the body', 'after the body'] as const;

/** All that a plugin and the gateway can see of a request that someone else uses, too. */
async function seen(requests: typeof IncomingMessage, name: string, moment: (typeof MOMENTS)[number]) {
  const { req, reader, client } = await arrive(requests, CHUNKED);
  let outcome: Promise<unknown> = Promise.resolve();
  const use = (): void => void (outcome = Promise.resolve(READERS[name]!(req)));
  if (moment === MOMENTS[0]) use();
  reader.begin();
  client.write('4\r\nabcd\r\n');
  // A plugin that reads before may keep it from the gateway.
  if (moment !== MOMENTS[0]) await reader.begun.promise;
  if (moment === MOMENTS[1]) use();
  client.write('3\r\nefg\r\n0\r\nx-sum: 7\r\n\r\n');
  while (!req.complete) await settled();
  await settled();
  if (moment === MOMENTS[2]) use();
  const got = await Promise.race([outcome, settled().then(() => 'waits')]);
  return {
    got,
    body: Buffer.concat(reader.pieces).toString(),
    events: reader.events,
    trailers: req.trailers,
    ended: req.readableEnded,
    destroyed: req.destroyed,
    closed: req.closed,
    errored: req.errored,
  };
}

describe('a request whose body passes by the stream', () => {
  it.each(MOMENTS.flatMap((moment) => Object.keys(READERS).map((name) => [name, moment] as const)))(
    'is node:http’s own for a plugin that %s %s',
    async (name, moment) => {
      const own = await seen(IncomingMessage, name, moment);
      expect(await seen(DirectRequest, name, moment)).toEqual(own);
    },
  );

  it('gives all bytes of a body in their order, however it is cut and framed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40_000 }), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (pieces, isChunked) => {
          const whole = Buffer.concat(pieces);
          const { reader, client } = await arrive(
            DirectRequest,
            isChunked ? CHUNKED : `${HEAD}content-length: ${whole.length}\r\n\r\n`,
          );
          reader.begin();
          expect(reader.isDirect).toBe(true);
          for (const piece of pieces) {
            if (isChunked) client.write(`${piece.length.toString(16)}\r\n`);
            client.write(piece);
            if (isChunked) client.write('\r\n');
            await new Promise(setImmediate);
          }
          if (isChunked) client.write('0\r\n\r\n');
          await reader.ended.promise;
          expect(Buffer.concat(reader.pieces).equals(whole)).toBe(true);
          expect(reader.events).toEqual(['end']);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('breaks once if its client leaves within the body', async () => {
    const { req, reader, client } = await arrive(DirectRequest, CHUNKED);
    reader.begin();
    client.write('4\r\nabcd\r\n');
    await reader.begun.promise;
    client.destroy();
    await reader.ended.promise;
    expect([reader.events, req.aborted, req.destroyed]).toEqual([['broken: aborted'], true, true]);
  });

  it('holds the rest back in its stream, and stops its client, once the body is returned', async () => {
    const { req, reader, client } = await arrive(DirectRequest, `${HEAD}content-length: 100000000\r\n\r\n`);
    reader.begin();
    client.write(Buffer.alloc(1000));
    await reader.begun.promise;
    if (req instanceof DirectRequest) req.returnBody();
    const held = reader.pieces.length;
    client.write(Buffer.alloc(40_000_000));
    while (!req.socket.isPaused() && req.readableLength < req.readableHighWaterMark) await settled();
    await settled();
    expect(reader.pieces).toHaveLength(held);
    expect(req.readableLength).toBeLessThan(1_000_000);
    expect(client.writableLength).toBeGreaterThan(0);
  });

  it('is not taken once it has begun to arrive, or has a reader', async () => {
    const { req, reader } = await arrive(DirectRequest, `${HEAD}content-length: 2\r\n\r\nab`);
    await settled();
    expect(req instanceof DirectRequest && req.takeBody(reader)).toBe(false);
    reader.begin();
    await reader.ended.promise;
    expect(Buffer.concat(reader.pieces).toString()).toBe('ab');
  });
});
