import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ server: { limits: { body: '64KiB' } } });
});
afterAll(() => gateway.close());

const PIECE = Buffer.alloc(16 * 1024, 'a');
const PIECES = { small: 13, large: 320 } as const;

interface Door {
  readonly path: string;
  readonly type: string;
  readonly key: string;
  readonly status: number;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data; boundary=xyz';
const DOORS: readonly (readonly [string, Door])[] = [
  ['a chat without a known key', { path: '/v1/chat/completions', type: JSON_TYPE, key: 'no', status: 401 }],
  ['a chat that is too large', { path: '/v1/chat/completions', type: JSON_TYPE, key: KEY, status: 413 }],
  ['a chat of another type', { path: '/v1/chat/completions', type: 'text/plain', key: KEY, status: 415 }],
  ['a form that is none', { path: '/v1/audio/transcriptions', type: FORM_TYPE, key: KEY, status: 400 }],
  ['a form without a known key', { path: '/v1/audio/transcriptions', type: FORM_TYPE, key: 'no', status: 401 }],
  ['a file for a gateway without files', { path: '/v1/files', type: FORM_TYPE, key: KEY, status: 404 }],
  ['a path of no operation', { path: '/v1/nothing', type: JSON_TYPE, key: KEY, status: 404 }],
  ['Gemini without a known key', { path: '/v1beta/models/m:generateContent', type: JSON_TYPE, key: 'no', status: 401 }],
];

/** Pieces with pauses, as a client that reads a file. */
const arriving = (pieces: number): ReadableStream<Uint8Array> => {
  let sent = 0;
  return new ReadableStream({
    async pull(to) {
      if (sent === pieces) return to.close();
      sent += 1;
      await new Promise((resume) => setTimeout(resume, 2));
      to.enqueue(PIECE);
    },
  });
};

/** A client that reads its reply only when it has written all of its body, as Python's do. */
function writeAllFirst({ path, type, key }: Door, pieces: number, length?: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { port, host } = gateway.gateway.data;
  const size = length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`;
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nx-gateway-api-key: ${key}\r\ncontent-type: ${type}\r\n${size}\r\n\r\n`;
  const socket: Socket = connect({ port, host, allowHalfOpen: true });
  const write = (bytes: string | Buffer): Promise<void> =>
    new Promise((done, fail) => socket.write(bytes, (error) => (error ? fail(error) : done())));
  const send = async (): Promise<void> => {
    await write(head);
    for (let at = 0; at < pieces; at += 1) {
      if (length === undefined) await write(`${PIECE.length.toString(16)}\r\n`);
      await write(PIECE);
      if (length === undefined) await write('\r\n');
    }
    if (length === undefined) await write('0\r\n\r\n');
    socket.on('data', (bytes) => resolve(bytes.toString())).once('end', () => resolve('the end'));
    socket.resume();
  };
  send().catch(reject);
  socket.pause().on('error', reject);
  return promise.finally(() => socket.destroy());
}

describe.each(DOORS)('%s is refused while its client still writes, and the client gets the reply', (_, door) => {
  const headers = { 'x-gateway-api-key': door.key, 'content-type': door.type };

  it.each(Object.entries(PIECES))('to a %s stream of fetch', async (_name, pieces) => {
    for (let time = 0; time < 3; time += 1) {
      const body = arriving(pieces);
      const reply = await fetch(gateway.url + door.path, {
        method: 'POST',
        headers,
        body,
        duplex: 'half',
      });
      expect([reply.status, await reply.json()]).toEqual([door.status, expect.any(Object)]);
    }
  });

  it.each(Object.entries(PIECES))(
    'to a %s stream of a client that writes all before it reads',
    async (_name, pieces) => {
      expect(await writeAllFirst(door, pieces)).toMatch(new RegExp(`^HTTP/1.1 ${door.status} `));
      expect(await writeAllFirst(door, pieces, pieces * PIECE.length)).toMatch(new RegExp(`^HTTP/1.1 ${door.status} `));
    },
  );
});

it('a small announced body is dropped, and its connection serves the next request', async () => {
  const { port, host } = gateway.gateway.data;
  const socket = connect(port, host);
  let text = '';
  socket.on('data', (bytes) => (text += bytes.toString()));
  const head = (key: string, length: number): string =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-gateway-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  socket.write(`${head('no', 100_000)}a`);
  await until(() => text.includes('HTTP/1.1 401'), 'the refusal');
  socket.write('a'.repeat(99_999));
  const next = JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'hi' }] });
  socket.write(head(KEY, next.length) + next);
  await until(() => text.includes('HTTP/1.1 200'), 'the next reply');
  socket.destroy();
});

it('a client that goes on writing has no place, and its connection ends', async () => {
  const body = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': JSON_TYPE },
  });
  let closed = false;
  body
    .on('response', (reply) => reply.resume())
    .on('close', () => (closed = true))
    .on('error', () => {});
  let written = 0;
  const write = (): void => {
    for (let room = true; room && !body.destroyed; written += PIECE.length) room = body.write(PIECE);
  };
  body.on('drain', write);
  write();
  await until(() => closed, 'the connection has ended');
  expect(written).toBeGreaterThan(0);
  const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  expect(metrics).toMatch(/^gatehouse_requests_in_flight\{route="\/v1\/chat\/completions"\} 0$/m);
});

describe('a client without a known key loses its socket 5 s after its refusal, however slowly it writes', () => {
  const clock = createFakeClock();
  let slow: TestGateway;
  beforeAll(async () => {
    slow = await startTestGateway({}, { clock });
  });
  afterAll(() => slow.close());

  /** Half of the connection ends with the refusal: only a write shows that all of it has ended. */
  const writesInVain = (socket: Socket, piece: string): boolean => {
    socket.write(piece);
    return socket.destroyed;
  };

  const AUTH = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1beta/models/m:generateContent'];
  const SIZES = ['content-length: 100000', 'content-length: 5000000', 'transfer-encoding: chunked'];
  const rows = [...AUTH, '/v1/nothing'].flatMap((path) => SIZES.map((size) => [path, size] as const));

  it.each(rows)('at %s with %s', async (path, size) => {
    const { port, host } = slow.gateway.data;
    const socket = connect({ port, host, allowHalfOpen: true });
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString())).on('error', () => {});
    const headers = `host: a\r\nx-gateway-api-key: no\r\ncontent-type: ${JSON_TYPE}\r\n${size}`;
    socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n`);
    await until(() => /^HTTP\/1.1 40[14] /.test(text), 'the refusal');
    const piece = size.includes('chunked') ? '1\r\na\r\n' : 'a';
    for (let second = 0; second < 5; second += 1) {
      socket.write(piece);
      await clock.advance(1000);
    }
    await until(() => writesInVain(socket, piece), 'the connection has ended');
  });

  it('after a refused WebSocket too', async () => {
    const { port, host } = slow.gateway.data;
    const socket = connect({ port, host, allowHalfOpen: true });
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString())).on('error', () => {});
    const upgrade =
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(`GET /v1/responses HTTP/1.1\r\nhost: a\r\nx-gateway-api-key: no\r\n${upgrade}\r\n\r\n`);
    await until(() => text.startsWith('HTTP/1.1 401 '), 'the refusal');
    await clock.advance(5000);
    await until(() => writesInVain(socket, 'a'), 'the connection has ended');
  });
});
