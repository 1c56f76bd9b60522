import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/plugin/index.ts';
import { createUpstream, type Upstream } from '../../src/upstream/index.ts';
import { answer, startUpstream, type ScriptedUpstream } from './scripted-upstream.ts';
import { outbound, rejection } from './try-kit.ts';

let server: ScriptedUpstream;
let upstream: Upstream;

/** A resolver that counts, and gives each answer once; the last one for ever. */
function scriptedLookup(...answers: string[][]) {
  const asked: string[] = [];
  const lookup = async (hostname: string): Promise<string[]> => {
    asked.push(hostname);
    return answers[Math.min(asked.length, answers.length) - 1]!;
  };
  return { asked, lookup };
}

async function serve(lookup: (hostname: string) => Promise<string[]>): Promise<void> {
  server = await startUpstream(({ socket }) => answer(socket, 200, '{}'));
  upstream = createUpstream({ clock: systemClock, lookup });
}

afterEach(async () => {
  await upstream.close();
  await server.close();
});

const guarded = (url: string) =>
  outbound(url, { stream: false, origin: { url, allowInsecure: false, connections: 4 } });
const trusted = (url: string) => outbound(url, { stream: false });

describe('the egress guard', () => {
  it('refuses plain http, and connects to nothing', async () => {
    const { asked, lookup } = scriptedLookup(['127.0.0.1']);
    await serve(lookup);
    const error = await rejection(upstream.send(guarded(server.url)));
    expect([error.code, error.status, error.retryable]).toEqual(['egress_refused', 502, false]);
    expect([asked, server.connections]).toEqual([[], 0]);
  });

  it.each(['127.0.0.1', '2130706433', '0177.1', '[::ffff:127.0.0.1]', '[::1]'])(
    'refuses an inside address written as %s',
    async (host) => {
      const { asked, lookup } = scriptedLookup(['8.8.8.8']);
      await serve(lookup);
      expect((await rejection(upstream.send(guarded(`https://${host}:${server.port}`)))).code).toBe('egress_refused');
      expect([asked, server.connections]).toEqual([[], 0]);
    },
  );

  it('refuses a name that leads inside, each time it does', async () => {
    const { asked, lookup } = scriptedLookup(['127.0.0.1'], ['::1', '10.0.0.1']);
    await serve(lookup);
    for (let n = 0; n < 2; n += 1) {
      expect((await rejection(upstream.send(guarded(`https://inside.test:${server.port}`)))).code).toBe(
        'egress_refused',
      );
    }
    expect([asked.length, server.connections]).toEqual([2, 0]);
    expect(upstream.stats()).toMatchObject([{ running: 0, queued: 0 }]);
  });

  it('looks a name up once per connection, and goes to that answer whatever the name says next', async () => {
    const { asked, lookup } = scriptedLookup(['127.0.0.1'], ['127.0.0.99']);
    await serve(lookup);
    const url = `http://rebinding.test:${server.port}`;
    expect((await upstream.send(trusted(url))).status).toBe(200);
    await systemClock.sleep(5);
    expect((await upstream.send(trusted(url))).status).toBe(200);
    expect([asked, server.connections]).toEqual([['rebinding.test'], 1]);
    expect(server.requests[0]?.head).toContain(`host: rebinding.test:${server.port}`);
  });

  it('tries the next address when one fails', async () => {
    const { asked, lookup } = scriptedLookup(['127.0.0.98', '127.0.0.99', '127.0.0.1']);
    await serve(lookup);
    expect((await upstream.send(trusted(`http://many.test:${server.port}`))).status).toBe(200);
    expect(asked).toEqual(['many.test']);
  });

  it('fails with the reason when every address does', async () => {
    const { lookup } = scriptedLookup(['127.0.0.98', '127.0.0.99']);
    await serve(lookup);
    const error = await rejection(upstream.send(trusted(`http://many.test:${server.port}`)));
    expect([error.code, error.message]).toEqual([
      'connection_failed',
      `No connection to many.test:${server.port} (ECONNREFUSED).`,
    ]);
  });
});

describe('a small exchange', () => {
  const small = (url: string, changes: object = {}) => ({
    url,
    method: 'POST' as const,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=x',
    allowInsecure: true,
    timeoutMs: 20_000,
    ...changes,
  });
  const { lookup } = scriptedLookup(['127.0.0.1']);

  it('gives status, headers and text, whatever the status', async () => {
    await serve(lookup);
    const reply = await upstream.exchange(small(`${server.url}/token?x=1`));
    expect(reply).toMatchObject({ status: 200, text: '{}', headers: { 'content-length': '2' } });
    expect(server.requests[0]).toMatchObject({ body: 'grant_type=x' });
    expect(server.requests[0]?.head).toMatch(/^POST \/token\?x=1 HTTP\/1\.1\r\n/);
    await server.close();
    server = await startUpstream(({ socket }) => answer(socket, 302, 'no', 'location: /elsewhere\r\n'));
    expect(await upstream.exchange(small(server.url))).toMatchObject({ status: 302, text: 'no' });
    expect(server.requests).toHaveLength(1);
  });

  it('is bounded in size', async () => {
    await serve(lookup);
    await server.close();
    server = await startUpstream(({ socket }) => answer(socket, 200, 'x'.repeat(70_000)));
    expect((await rejection(upstream.exchange(small(server.url)))).code).toBe('reply_too_large');
  });

  it('is bounded in time, before the answer and within it', async () => {
    await serve(lookup);
    await server.close();
    server = await startUpstream(({ socket, number }) => {
      if (number === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n');
    });
    expect((await rejection(upstream.exchange(small(server.url, { timeoutMs: 30 })))).code).toBe('timeout_first_byte');
    expect((await rejection(upstream.exchange(small(server.url, { timeoutMs: 30 })))).code).toBe('timeout_total');
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('passes the same guard', async () => {
    await serve(lookup);
    for (const url of [server.url, `https://127.0.0.1:${server.port}/`, 'nonsense', 'https://user:pass@model.test/']) {
      expect((await rejection(upstream.exchange(small(url, { allowInsecure: false })))).code).toBe('egress_refused');
    }
    expect(server.connections).toBe(0);
  });
});
