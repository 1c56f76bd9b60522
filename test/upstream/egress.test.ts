import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { createUpstream, type Upstream } from '../../src/core/upstream/index.ts';
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

describe('a host that a caller has chosen', () => {
  const chosen = (url: string, allowInsecure = false) =>
    outbound(url, { stream: false, origin: { url, allowInsecure, connections: 4, chosenByCaller: true } });
  /** One of each special-purpose range, as a resolver answers it. */
  const inside = Object.entries({
    'this network': '0.0.0.0',
    'private use': '10.1.2.3',
    'more private use': '172.16.9.9',
    'the rest of private use': '192.168.1.1',
    'shared address space': '100.64.0.1',
    loopback: '127.0.0.1',
    'link local': '169.254.1.1',
    'the metadata server': '169.254.169.254',
    "Azure's platform": '168.63.129.16',
    'protocol assignments': '192.0.0.8',
    documentation: '192.0.2.1',
    'more documentation': '198.51.100.1',
    'the rest of documentation': '203.0.113.1',
    AS112: '192.31.196.1',
    AMT: '192.52.193.1',
    '6to4 relays': '192.88.99.1',
    'direct delegation': '192.175.48.1',
    benchmarking: '198.18.0.1',
    multicast: '224.0.0.1',
    'what is reserved': '240.0.0.1',
    broadcast: '255.255.255.255',
    'no address': '::',
    'loopback, IPv6': '::1',
    'mapped IPv4': '::ffff:10.0.0.1',
    'IPv4 behind NAT64': '64:ff9b::7f00:1',
    'local NAT64': '64:ff9b:1::1',
    'IPv4 behind 6to4': '2002:a9fe:a9fe::1',
    discard: '100::1',
    Teredo: '2001::1',
    'documentation, IPv6': '2001:db8::1',
    'unique local': 'fd00:ec2::254',
    'link local, IPv6': 'fe80::1',
    'site local': 'fec0::1',
    'segment routing': '5f00::1',
    'multicast, IPv6': 'ff02::1',
  });

  it.each(inside)('and that leads to %s gives the error of an unresolvable name', async (_, address) => {
    const { lookup } = scriptedLookup([address]);
    await serve(lookup);
    const reported = await rejection(upstream.send(chosen(`https://name.test:${server.port}`)));
    const nowhere = createUpstream({ clock: systemClock, lookup: () => Promise.reject(new Error('ENOTFOUND')) });
    const other = await rejection(nowhere.send(chosen(`https://name.test:${server.port}`)));
    await nowhere.close();
    expect([reported.code, reported.message, reported.status, reported.retryable]).toEqual([
      'egress_refused',
      other.message,
      other.status,
      other.retryable,
    ]);
    expect([server.connections, reported.message.includes(address)]).toEqual([0, false]);
  });

  it('gives its real error if the caller may use private addresses, except for the metadata server', async () => {
    const { lookup } = scriptedLookup(['127.0.0.99'], [], ['169.254.169.254'], ['127.0.0.1']);
    await serve(lookup);
    for (const expected of [/ECONNREFUSED/, /has no address/, /metadata server/])
      expect((await rejection(upstream.send(chosen(`http://own.test:${server.port}`, true)))).message).toMatch(
        expected,
      );
    expect((await upstream.send(chosen(`http://own.test:${server.port}`, true))).status).toBe(200);
  });

  it('shares no connection with the catalog or with who may not use the inside, and a crowd of them stays bounded', async () => {
    const { asked, lookup } = scriptedLookup(['127.0.0.1']);
    await serve(lookup);
    const url = `http://same.test:${server.port}`;
    expect((await upstream.send(trusted(url))).status).toBe(200);
    expect((await upstream.send(chosen(url, true))).status).toBe(200);
    expect((await rejection(upstream.send(chosen(url)))).code).toBe('egress_refused');
    expect([server.connections, asked.length]).toEqual([2, 2]);
    for (let n = 0; n < 150; n += 1) await upstream.send(chosen(`http://crowd-${n}.test:${server.port}`, true));
    expect(upstream.stats().length).toBeLessThanOrEqual(65);
    expect(
      upstream.stats().some(({ origin }) => origin === url),
      'the catalog keeps its own',
    ).toBe(true);
    await expect.poll(() => server.open.size).toBeLessThanOrEqual(65);
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
