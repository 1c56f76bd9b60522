import dns from 'node:dns';
import dnsPromises from 'node:dns/promises';
import { Server, Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { run, TARGETS } from './run.testkit.ts';

afterEach(() => vi.restoreAllMocks());

it('opens no socket, does not listen and looks up no name, for any request and upstream', async () => {
  const forbidden = [
    vi.spyOn(Socket.prototype, 'connect'),
    vi.spyOn(Server.prototype, 'listen'),
    vi.spyOn(dns, 'lookup'),
    vi.spyOn(dnsPromises, 'lookup'),
  ];
  for (const spy of forbidden)
    spy.mockImplementation(() => {
      throw new Error('the network was asked for');
    });
  const place = { provider: 'vertex-ai', region: 'us-central1', project_id: 'my-project' };
  const providers = [
    { slug: 'sim', provider: 'simulator' },
    { ...place, slug: 'adc', credentials: 'application-default' },
    { ...place, slug: 'key', service_account: '${env:KEY}' },
    { slug: 'named', provider: 'openai', base_url: 'https://models.example.com/v1', api_key: '${env:OTHER}' },
  ];
  const targets = providers.map(({ slug }) => ({
    provider: `@${slug}`,
    override_params: { model: 'gemini-2.5-flash' },
  }));
  const config = { strategy: { mode: 'fallback' }, targets, remote_media: { hosts: ['*'] } };
  const upstream = [{ status: 503 }, { fault: 'hang' as const }, { fault: 'reset' as const }, { answer: 'Hello' }];
  const outcome = await run(config, { upstream }, { catalog: { providers } });
  expect(outcome).toMatchObject({ status: 200, faults: [] });
  expect(outcome.attempts).toHaveLength(4);
  for (const spy of forbidden) expect(spy).not.toHaveBeenCalled();
});

it('leaves no real timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await run(TARGETS.claude, { body: { stream: true }, upstream: [{ answer: 'Hello there', pause: '20s' }] });
  expect(timers()).toBeLessThanOrEqual(before);
});
