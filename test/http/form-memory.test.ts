import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { forms } from '../../src/core/operations/openai.ts';
import { KEY, startTestGateway } from '../support/gateway.ts';

const MEGABYTE = 1024 * 1024;
const FORM_MEGABYTES = 96;
/** Buffers of four sockets of loopback and of their streams, with room: a fraction of the form. */
const MOST_ON_THE_WAY = 24 * MEGABYTE;

/** The memory is read, without garbage, each time that the client has written so much. */
const SAMPLED_MEGABYTES = 8;
/** Client, gateway and upstream share this process. Measured: 8 MB where the collector ran every few milliseconds, 27 MB on a busy machine. */
const MOST_IN_MEMORY = 40 * MEGABYTE;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const BOUNDARY = 'x'.repeat(30);
const HEAD =
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\n@openai/m\r\n` +
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;

const REPLIES: Readonly<Record<string, string>> = {
  transcription: '{"text":"Hi"}',
  translation: '{"text":"Hi"}',
  image_edit: '{"created":1,"data":[{"b64_json":"AAAA"}]}',
  image_variation: '{"created":1,"data":[{"b64_json":"AAAA"}]}',
};
const DOORS = forms.map(({ path, semconvName }) => [path, REPLIES[semconvName]!] as const);

it.each(DOORS)(
  '%s: a form over `limits.form_held` is never in memory, and a slow upstream slows its client down',
  async (path, answer) => {
    const { promise: arrival, resolve: arrived } = Promise.withResolvers<IncomingMessage>();
    let received = 0;
    const upstream = createServer((req, res) => {
      req.on('data', (piece: Buffer) => (received += piece.length)).pause();
      req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(answer));
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
    const client = httpRequest(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        'x-gateway-api-key': KEY,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'content-length': length,
      },
    });
    client.on('response', resolve).on('error', reject);
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const sample = (): void => {
      collectGarbage();
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    };
    let written = 0;
    const write = async (): Promise<void> => {
      client.write(HEAD);
      for (let at = 0; at < FORM_MEGABYTES; at += 1) {
        const room = client.write(piece);
        written += piece.length;
        if (at % SAMPLED_MEGABYTES === 0) sample();
        if (!room) await new Promise((drained) => client.once('drain', drained));
      }
      client.end(TAIL);
    };
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
    expect([answered.statusCode, await textOf(answered)]).toEqual([200, answer]);
    expect(received).toBe(length - '@openai/'.length);
    expect(peak).toBeLessThan(MOST_IN_MEMORY);
  },
  60_000,
);
