import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { exchangesIn } from '../../src/addons/captures/file/recordings.ts';
import { send } from '../admin/kit.ts';
import { Fleet } from '../cli/workers.testkit.ts';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

it('A capture has the requests of all workers, and no more than it wants', { timeout: 240_000 }, async () => {
  const upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
  onTestFinished(() => upstream.close());
  const port = await freePort();
  const fleet = new Fleet({
    upstream: upstream.url,
    server: { admin: { port, role: 'admin', content: true }, default_config: 'default' },
    gateway: { default: { provider: '@own' } },
  });
  onTestFinished(() => fleet.end());
  const { url } = await fleet.listens();
  const ask = (method: string, path: string, body?: object) =>
    send(`http://127.0.0.1:${port}`, method, `/admin/v1/captures${path}`, { body });
  const { id } = (await ask('POST', '', { requests: 8 })).json as { id: string };
  const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  for (let index = 0; index < 12; index += 1)
    await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      // A connection of its own reaches another worker.
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(chat),
    }).then((reply) => reply.text());
  const captured = async (): Promise<number> => (await ask('GET', '')).json.items[0].captured;
  await until(async () => (await captured()) === 8, 'the capture is full');
  const { text } = await ask('GET', `/${id}`);
  expect(exchangesIn(text, 'f').map(({ calls }) => calls.length)).toEqual(Array.from({ length: 8 }, () => 1));
});
