import { describe, expect, it } from 'vitest';
import { Cancellation, GatewayError, UpstreamError } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
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
