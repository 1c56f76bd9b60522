import { describe, expect, it } from 'vitest';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { metricsOf, startOutsideGateway, type OutsideGateway } from './outside-gateway.ts';

const ok: Script = (_, res) => json(res, openaiReply('hello'));

const start = (body: string, more = 'pure: true', upstream = ok): Promise<OutsideGateway> =>
  startOutsideGateway({
    plugins: [{ name: 'faulty', body, more }],
    upstream,
    chains: { request: [{ plugin: 'faulty', on_error: 'skip' }, 'metadata', 'route'] },
    server: { limits: { plugin_time: '2s' } },
  });

describe('a fault of a plugin with `on_error: skip`', () => {
  it.each([
    ['before the rest of the chain', `throw new Error('fault');`],
    ['behind the rest of the chain', `await next(); throw new Error('fault');`],
    ['that takes too long', `await new Promise(() => {});`],
  ])('leaves the request as it was: %s', async (_, body) => {
    await using started = await start(body);
    const reply = await started.chat();
    expect([reply.status, await reply.json()]).toMatchObject([200, { choices: [{ message: { content: 'hello' } }] }]);
    expect(started.upstream.seen).toHaveLength(1);
    expect(await metricsOf(started)).toMatch(/gatehouse_plugin_failures_total\{plugin="faulty",kind="\w+"\} 1/);
  });

  it('does not hide the failure of the rest of the chain', async () => {
    await using started = await start(
      `try { await next(); } catch { throw new Error('fault'); }`,
      'pure: true',
      (_, res) => json(res, { error: { message: 'No such model.', code: 'model_not_found' } }, 404),
    );
    expect((await started.chat()).status).toBe(404);
  });

  it('is none where the plugin refuses the request', async () => {
    await using started = await start(`throw new api.GatewayError('invalid_value', 'No.');`);
    expect((await started.chat()).status).toBe(400);
    expect(started.upstream.seen).toEqual([]);
  });
});
