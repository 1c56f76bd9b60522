import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { KEY, startTestGateway } from '../support/gateway.ts';

const MEGABYTE = 1024 * 1024;
const FORM_MEGABYTES = 256;
/** Buffers of four sockets of loopback and of their streams, with room: a fraction of the form. */
const MOST_ON_THE_WAY = 24 * MEGABYTE;

const BOUNDARY = 'x'.repeat(30);
const HEAD =
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\n@openai/m\r\n` +
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;

it('a form over `limits.form_held` is never in memory, and a slow upstream slows its client down', async () => {
  const { promise: arrival, resolve: arrived } = Promise.withResolvers<IncomingMessage>();
  let received = 0;
  const upstream = createServer((req, res) => {
    req.on('data', (piece: Buffer) => (received += piece.length)).pause();
    req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Hi"}'));
    arrived(req);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void upstream.close());
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const gateway = await startTestGateway({
    catalog: { providers: [{ slug: 'openai', provider: 'openai', base_url, allow_insecure: true }] },
  });
  onTestFinished(() => gateway.close());

  const piece = Buffer.alloc(MEGABYTE, 'a');
  const length = HEAD.length + FORM_MEGABYTES * MEGABYTE + TAIL.length;
  const { promise: reply, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const client = httpRequest(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: {
      'x-gateway-api-key': KEY,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': length,
    },
  });
  client.on('response', resolve).on('error', reject);
  let written = 0;
  const write = async (): Promise<void> => {
    client.write(HEAD);
    for (let at = 0; at < FORM_MEGABYTES; at += 1) {
      const room = client.write(piece);
      written += piece.length;
      if (!room) await new Promise((drained) => client.once('drain', drained));
    }
    client.end(TAIL);
  };
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)), 5);
  onTestFinished(() => clearInterval(watch));
  const writing = write();
  const held = await arrival;

  // The upstream reads nothing: the client soon writes nothing more.
  let last = -1;
  while (written !== last) {
    last = written;
    await new Promise((later) => setTimeout(later, 200));
  }
  expect(written).toBeLessThan(MOST_ON_THE_WAY);
  expect(received).toBe(0);

  held.resume();
  await writing;
  const answered = await reply;
  expect([answered.statusCode, await textOf(answered)]).toEqual([200, '{"text":"Hi"}']);
  expect(received).toBe(length - '@openai/'.length);
  // V8 collects buffers after some tens of megabytes; client, gateway and upstream share this process.
  expect(peak).toBeLessThan(FORM_MEGABYTES * 0.75 * MEGABYTE);
}, 60_000);
