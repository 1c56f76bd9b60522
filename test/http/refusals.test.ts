import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** What no HTTP library would send, on a bare socket. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ server: { limits: { header: '2KiB', body: '1KiB' } } });
});
afterAll(() => gateway.close());

/** All that comes back; `react` may write more when it has seen something. */
function talk(text: string, react: (soFar: string, write: (more: string) => void) => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port, host } = gateway.gateway.data;
    const socket = connect(port, host, () => socket.write(text));
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
      react(received, (more) => void socket.write(more));
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

const errorIn = (text: string): unknown => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
const head = (more: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\nconnection: close\r\n${more}`;

describe('what node:http refuses before the gateway sees it', () => {
  it.each([
    ['headers beyond the limit', head(`x-long: ${'a'.repeat(4000)}\r\n\r\n`), 431, 'headers_too_large', '2048 bytes'],
    ['a method that is none', 'BLAH / HTTP/1.1\r\n\r\n', 400, 'malformed_request', 'Invalid method'],
    [
      'two lengths for one body (request smuggling)',
      head('content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n'),
      400,
      'malformed_request',
      'Transfer-Encoding',
    ],
    [
      'a chunk whose size is no number',
      head(`x-gateway-api-key: ${KEY}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`),
      400,
      'malformed_request',
      'chunk size',
    ],
  ])('gets OpenAI’s error shape: %s', async (_, text, status, code, message) => {
    const reply = await talk(text);
    expect(reply).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
    expect(reply).toContain('connection: close\r\n');
    expect(errorIn(reply)).toMatchObject({ error: { code, message: expect.stringContaining(message) } });
  });
});

describe('a head that two readers could read differently', () => {
  const CHAT = JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'hi' }] });
  const PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1beta/models/m:generateContent', '/v1/no'];
  const KEYED = `host: gateway\r\nx-gateway-api-key: ${KEY}\r\ncontent-type: application/json\r\n`;
  const SIZED = `content-length: ${CHAT.length}\r\n\r\n${CHAT}`;
  const CHUNKED = `\r\n${CHAT.length.toString(16)}\r\n${CHAT}\r\n0\r\n\r\n`;
  const HEADS: readonly (readonly [string, string, RegExp])[] = [
    ['a coding beside chunked', `transfer-encoding: gzip, chunked\r\n${CHUNKED}`, /transfer.(?:en)?coding/i],
    ['chunked twice', `transfer-encoding: chunked, chunked\r\n${CHUNKED}`, /transfer.(?:en)?coding/i],
    [
      'codings in two headers',
      `Transfer-Encoding: gzip\r\ntransfer-encoding: chunked\r\n${CHUNKED}`,
      /transfer.(?:en)?coding/i,
    ],
    ['chunked in TE', `te: gzip, chunked\r\n${SIZED}`, /TE/],
    ['two Host headers', `Host: other\r\n${SIZED}`, /two headers host/],
    ['the same Host twice', `host: gateway\r\n${SIZED}`, /two headers host/],
    [
      'two Authorization headers',
      `authorization: Bearer a\r\nAUTHORIZATION: Bearer b\r\n${SIZED}`,
      /two headers authorization/,
    ],
  ];

  it.each(PATHS.flatMap((path) => HEADS.map((row) => [path, ...row] as const)))(
    'is refused at %s: %s',
    async (path, _, more, message) => {
      const reply = await talk(`POST ${path} HTTP/1.1\r\n${KEYED}${more}`);
      expect(reply).toMatch(/^HTTP\/1.1 400 /);
      expect(reply).toMatch(/^connection: close\r$/im);
      expect(reply).toMatch(message);
      expect(reply.match(/^HTTP\/1.1/gm)).toHaveLength(1);
    },
  );

  it.each(HEADS.slice(3))('opens no WebSocket: %s', async (_, more) => {
    const upgrade =
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    const [lines] = more.split('content-length');
    expect(await talk(`GET /v1/responses HTTP/1.1\r\n${KEYED}${upgrade}${lines}\r\n`)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('has a record with its code', async () => {
    const before = gateway.logs.filter((line) => line['error_code'] === 'malformed_request').length;
    await talk(`POST /v1/messages HTTP/1.1\r\n${KEYED}Host: other\r\n${SIZED}`);
    expect(gateway.logs.filter((line) => line['error_code'] === 'malformed_request')).toHaveLength(before + 1);
  });

  it.each(['GET / HTTP/1.1', 'GET /health HTTP/1.1', 'GET /v1/models HTTP/1.1'])('is refused for %s', async (line) => {
    expect(await talk(`${line}\r\n${KEYED}host: b\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
  });

  it.each(['transfer-encoding: Chunked', 'transfer-encoding:  chunked '])('is none with %s', async (line) => {
    const text = `POST /v1/chat/completions HTTP/1.1\r\n${KEYED}te: trailers, gzip;q=0.5\r\nconnection: close\r\n${line}\r\n${CHUNKED}`;
    expect(await talk(text)).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('a client that waits for a go-ahead before it sends its body', () => {
  const body = JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'hi' }] });
  const expecting = (key: string, length = Buffer.byteLength(body)): string =>
    head(`x-gateway-api-key: ${key}\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\n\r\n`);

  it('gets it once its key is known, and its answer after', async () => {
    let sent = false;
    const reply = await talk(expecting(KEY), (soFar, write) => {
      if (sent || !soFar.startsWith('HTTP/1.1 100 Continue\r\n')) return;
      sent = true;
      write(body);
    });
    expect(sent).toBe(true);
    expect(reply).toContain('HTTP/1.1 200 OK\r\n');
  });

  it.each([
    ['an unknown key', expecting('nobody'), 401, 'invalid_api_key'],
    ['a body that is announced too large', expecting(KEY, 5000), 413, 'request_too_large'],
  ])('is refused at once with %s', async (_, text, status, code) => {
    const reply = await talk(text);
    expect(reply).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(reply).toContain(`"code":"${code}"`);
  });
});

it('a byte order mark before the JSON is passed over', async () => {
  const body = `\ufeff${JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'hi' }] })}`;
  const reply = await talk(
    head(`x-gateway-api-key: ${KEY}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`) + body,
  );
  expect(reply).toMatch(/^HTTP\/1.1 200 /);
});
