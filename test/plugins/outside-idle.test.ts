import { expect, it } from 'vitest';
import { json, openaiReply } from '../support/upstream.ts';
import { startOutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

const marking = (name: string, idleFor: string): OutsidePlugin => ({
  name,
  level: 'attempt',
  more: `idleFor: (target) => { ${idleFor} }`,
  body: `await next(); ctx.attempt.reply.headers['x-${name}'] = 'ran';`,
});

it('leaves an outside plugin out of the plan of a target for which it is idle, and keeps one whose test throws', async () => {
  await using started = await startOutsideGateway({
    plugins: [marking('idle', `return target.name === 'plain'`), marking('broken', `throw new Error('no test')`)],
    upstream: (_, res) => json(res, openaiReply('hello')),
    chains: {
      attempt: {
        add: [
          { plugin: 'idle', before: 'transform' },
          { plugin: 'broken', before: 'transform' },
        ],
      },
    },
    gateway: {
      plain: { targets: [{ name: 'plain', provider: '@openai' }] },
      other: { targets: [{ name: 'other', provider: '@openai' }] },
    },
  });
  const ran = async (config: string) => {
    const { status, headers } = await started.chat({}, { 'x-gateway-config': config });
    return [status, headers.get('x-idle'), headers.get('x-broken')];
  };
  expect([await ran('plain'), await ran('other')]).toEqual([
    [200, null, 'ran'],
    [200, 'ran', 'ran'],
  ]);
  const faults = started.gateway.logs.filter((line) => line['plugin'] === 'broken');
  expect(faults.length).toBeGreaterThan(0);
});
