import { describe, expect, it, onTestFinished } from 'vitest';
import { Cancellation, GatewayError, UpstreamError } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { createUpstream } from '../upstream/index.ts';
import type { SmallReply, SmallRequest } from '../upstream/types.ts';
import { pluginFetch } from './plugin-fetch.ts';

function setUp(answer: (request: SmallRequest) => Promise<SmallReply>, dry = false) {
  const outcomes: string[] = [];
  const closing = new Cancellation();
  const ask = pluginFetch({
    plugin: 'guard',
    dry,
    clock: createFakeClock(),
    exchange: answer,
    closing,
    called: (plugin, outcome) => void outcomes.push(`${plugin} ${outcome}`),
  });
  return { ask, outcomes, closing };
}
const ok = (text = '{"a":1}'): SmallReply => ({ status: 200, headers: {}, text: '', bytes: Buffer.from(text) });

describe('host.fetch', () => {
  it('sends what it is given within its bounds, and reads the reply as text or JSON', async () => {
    const seen: SmallRequest[] = [];
    const { ask, outcomes } = setUp((request) => (seen.push(request), Promise.resolve(ok())));
    const reply = await ask('https://a.example/x', { body: 'text', headers: { a: 'b' } });
    expect([reply.status, reply.text(), reply.json()]).toEqual([200, '{"a":1}', { a: 1 }]);
    const bounds = { timeoutMs: 5000, maxBytes: 1024 * 1024, connections: 16, allowInsecure: false };
    expect(seen).toMatchObject([{ method: 'POST', body: 'text', headers: { a: 'b' }, ...bounds }]);
    expect(outcomes).toEqual(['guard 2xx']);
  });

  it('fails with an error that no target and no breaker counts', async () => {
    const { ask, outcomes } = setUp(() => Promise.reject(new UpstreamError('timeout_first_byte', 'too late')));
    const failure: unknown = await ask('https://a.example/').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'plugin_call_failed', status: 503, ofGateway: true, plugin: 'guard' });
    // The client gets no name of an inner host, and the log has the cause.
    expect(failure).toMatchObject({
      message: 'A service that a plugin asks failed (timeout_first_byte).',
      cause: { message: 'too late' },
    });
    expect([failure instanceof UpstreamError, outcomes]).toEqual([false, ['guard timeout_first_byte']]);
  });

  it('ends with its request, and with the settings of its plugin', async () => {
    const hanging = ({ cancellation }: SmallRequest): Promise<never> =>
      new Promise((_, reject) => void cancellation!.onCancel(reject));
    const { ask, closing } = setUp(hanging);
    const cancellation = new Cancellation();
    const first = ask('https://a.example/', { cancellation });
    const second = ask('https://a.example/');
    cancellation.cancel(new GatewayError('client_closed', 'left'));
    await expect(first).rejects.toThrow('left');
    closing.cancel(new GatewayError('shutting_down', 'released'));
    await expect(second).rejects.toThrow('released');
  });

  it('refuses bounds beyond its own, and calls nothing in a dry run', async () => {
    const { ask } = setUp(() => Promise.resolve(ok()));
    await expect(ask('https://a.example/', { timeout: 60_001 })).rejects.toThrow('not between 1 and 60000');
    const dry = setUp(() => expect.unreachable(), true);
    await expect(dry.ask('https://a.example/')).rejects.toMatchObject({ code: 'plugin_call_failed' });
  });
});

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'inner.example': ['10.0.0.5'],
  'mapped.example': ['::ffff:192.168.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'metadata.example': ['169.254.169.254'],
};

describe('host.fetch behind the egress guard', () => {
  const setUpGuarded = () => {
    const upstream = createUpstream({
      clock: createFakeClock(),
      lookup: (name) => Promise.resolve(ADDRESSES[name] ?? []),
    });
    onTestFinished(() => upstream.close());
    return setUp(upstream.exchange.bind(upstream));
  };

  it.each([
    ['a name of an inner address', 'https://inner.example/'],
    ['a name of a mapped IPv4 address', 'https://mapped.example/'],
    ['a name of a translated loopback address', 'https://nat64.example/'],
    ['loopback', 'https://127.0.0.1:8788/admin/v1/keys'],
    ['loopback as one number', 'https://2130706433/'],
    ['loopback in octal', 'https://0177.0.0.1/'],
    ['a short form of loopback', 'https://127.1/'],
    ['loopback of IPv6', 'https://[::1]/'],
    ['a mapped loopback address', 'https://[::ffff:7f00:1]/'],
    ['a compatible loopback address', 'https://[::127.0.0.1]/'],
    ['a unique local address', 'https://[fd00::1]/'],
    ['the unspecified address', 'https://0.0.0.0/'],
    ['a metadata server', 'https://169.254.169.254/latest/meta-data/'],
    ['plain http', 'http://public.example/'],
    ['a user and a password', 'https://user:password@public.example/'],
    ['another scheme', 'file:///etc/passwd'],
    ['no URL', '/etc/passwd'],
  ])('refuses %s', async (_, url) => {
    const { ask, outcomes } = setUpGuarded();
    await expect(ask(url)).rejects.toMatchObject({ code: 'plugin_call_failed' });
    expect(outcomes).toEqual(['guard egress_refused']);
  });

  it.each(['http://169.254.169.254/', 'http://metadata.example/', 'http://[fe80::1]/'])(
    'refuses %s even with allowInsecure',
    async (url) => {
      const { ask, outcomes } = setUpGuarded();
      await expect(ask(url, { allowInsecure: true })).rejects.toMatchObject({ code: 'plugin_call_failed' });
      expect(outcomes).toEqual(['guard egress_refused']);
    },
  );
});
