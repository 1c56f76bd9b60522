import { expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { Fleet } from './workers.testkit.ts';

it('The hint at headers without effect is one line of the log, whichever workers get them', async () => {
  const upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
  const fleet = new Fleet({ upstream: upstream.url, gateway: { it: { provider: '@own' } } });
  try {
    const { url } = await fleet.listens();
    const ask = async (): Promise<void> => {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': KEY,
          'x-gateway-config': 'it',
          'x-portkey-metadata': '{}',
          connection: 'close',
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      expect(response.status).toBe(200);
    };
    const servers = (): number =>
      new Set(fleet.lines.flatMap(({ worker, status }) => (status === 200 ? [worker] : []))).size;
    for (let count = 0; count < 60 && servers() < 2; count += 1) await Promise.all(Array.from({ length: 8 }, ask));
    await until(() => servers() === 2, 'both workers have served');
    const hints = () => fleet.lines.filter(({ msg }) => String(msg).includes('has no effect: `header_prefixes'));
    await until(() => hints().length > 0, 'the hint is logged');
    // Another worker's hint would arrive with its next message.
    await Promise.all(Array.from({ length: 8 }, ask));
    expect(hints().map(({ worker }) => worker)).toEqual([undefined]);
  } finally {
    await fleet.end();
    await upstream.close();
  }
});
