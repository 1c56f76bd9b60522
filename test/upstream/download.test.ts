import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Cancellation, GatewayError } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { createUpstream, type DownloadRequest, type Upstream } from '../../src/core/upstream/index.ts';
import { answer, startUpstream, type Script, type ScriptedUpstream } from './scripted-upstream.ts';
import { rejection } from './try-kit.ts';

const pem = (name: string): string => readFileSync(join(import.meta.dirname, `model-test.${name}.pem`), 'utf8');
/** The name in the certificate. */
const HOST = 'model.test';

let server: ScriptedUpstream | undefined;
let upstream: Upstream | undefined;
afterEach(async () => {
  await upstream?.close();
  await server?.close();
});

/** A media server and the way there; `answers` of the resolver in order, the last one for ever. */
async function serve(script: Script, answers: readonly string[][] = [['127.0.0.1']], secure = false) {
  let asked = 0;
  server = await startUpstream(script, secure ? { cert: pem('cert'), key: pem('key') } : undefined);
  const lookup = async () => answers[Math.min(asked++, answers.length - 1)]!;
  upstream = createUpstream({ clock: systemClock, lookup, ca: [pem('cert')] });
  return { server, upstream, asked: () => asked };
}

const request = (url: string, more: Partial<DownloadRequest> = {}): DownloadRequest => ({
  url: new URL(url),
  headers: { accept: 'image/png' },
  allowInsecure: true,
  timeoutMs: 5000,
  cancellation: new Cancellation(),
  room: () => 1000,
  admit: () => true,
  ...more,
});

describe('a download', () => {
  it('comes over TLS for the name that was asked for, from the address that was checked', async () => {
    const { server: media, upstream: way } = await serve(({ socket }) => answer(socket, 200, 'bytes'), undefined, true);
    const { status, body } = await way.download(request(`https://${HOST}:${media.port}/a.png?x=1`));
    expect([status, body.toString()]).toEqual([200, 'bytes']);
    expect(media.requests[0]!.head).toMatch(/^GET \/a\.png\?x=1 HTTP\/1\.1\r\nhost: model\.test:/i);
  });

  it('is looked up anew each time: a name that has come to lead inside is refused', async () => {
    const {
      server: media,
      upstream: way,
      asked,
    } = await serve(({ socket }) => answer(socket, 200, 'bytes'), [['127.0.0.1'], ['169.254.169.254']]);
    const url = `http://${HOST}:${media.port}/`;
    expect((await way.download(request(url))).status).toBe(200);
    expect((await rejection(way.download(request(url)))).code).toBe('egress_refused');
    expect([asked(), media.connections]).toEqual([2, 1]);
  });

  it.each([
    ['a private address', 'https', [['10.0.0.1']]],
    ['plain http', 'http', [['8.8.8.8']]],
  ])('is refused for %s where nothing allows it', async (_, scheme, answers) => {
    const { server: media, upstream: way } = await serve(({ socket }) => answer(socket, 200, 'x'), answers);
    const refused = rejection(way.download(request(`${scheme}://${HOST}:${media.port}/`, { allowInsecure: false })));
    expect((await refused).code).toBe('egress_refused');
    expect(media.connections).toBe(0);
  });

  it('leaves no connection behind, and none among those to upstreams', async () => {
    const { server: media, upstream: way } = await serve(({ socket }) => answer(socket, 200, 'bytes'));
    await way.download(request(media.url));
    await expect.poll(() => media.open.size).toBe(0);
    expect(way.stats()).toEqual([]);
  });

  it('reads nothing of an answer that is not 200', async () => {
    const { server: media, upstream: way } = await serve(
      ({ socket }) => void socket.write('HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 1000000\r\n\r\nabc'),
    );
    const reply = await way.download(request(media.url));
    expect([reply.status, reply.headers['location'], reply.body.length]).toEqual([302, '/b', 0]);
    await expect.poll(() => media.open.size).toBe(0);
  });

  it('that is announced larger than there is room is not read', async () => {
    let admitted = 0;
    const { server: media, upstream: way } = await serve(
      ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\nabc'),
    );
    const admit = (bytes: number) => ((admitted += bytes), true);
    expect((await rejection(way.download(request(media.url, { admit })))).code).toBe('reply_too_large');
    expect(admitted).toBe(0);
    await expect.poll(() => media.open.size).toBe(0);
  });

  it('that becomes too large is given up there', async () => {
    const { server: media, upstream: way } = await serve(({ socket }) => answer(socket, 200, 'x'.repeat(500)));
    const admit = (bytes: number) => bytes < 100;
    expect((await rejection(way.download(request(media.url, { admit })))).code).toBe('reply_too_large');
  });

  it('is given up in time, and with the request it is for, even before it has begun', async () => {
    const { server: media, upstream: way } = await serve(() => {});
    const late = await rejection(way.download(request(media.url, { timeoutMs: 20 })));
    expect(late.code).toBe('timeout_total');
    const cancellation = new Cancellation();
    cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
    const before = media.connections;
    expect((await rejection(way.download(request(media.url, { cancellation })))).code).toBe('client_closed');
    expect(media.connections).toBe(before);
  });

  it('ends when the gateway closes', async () => {
    const { server: media, upstream: way } = await serve(() => {});
    const ended = rejection(way.download(request(media.url)));
    await expect.poll(() => media.requests.length).toBe(1);
    await way.close();
    expect((await ended).code).toBe('shutting_down');
    await expect.poll(() => media.open.size).toBe(0);
  });
});
