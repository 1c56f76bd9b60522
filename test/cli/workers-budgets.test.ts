import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { Fleet } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

describe('worker processes', () => {
  it.each([
    ['in memory', undefined],
    ['in the state store', { type: 'sqlite' }],
  ])('spend one budget, and no more of it than it has, counted %s', { timeout: 120_000 }, async (_, store) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-spent-'));
    ended.push(() => rmSync(folder, { recursive: true }));
    const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
    const upstream = await startUpstream((_, res) => json(res, openaiReply('Hello.', { usage })));
    ended.push(() => upstream.close());
    const files = {
      'keys.yaml': JSON.stringify({ keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, team: 'search' }] }),
      'teams.yaml': JSON.stringify({ teams: { search: { budgets: [{ cap: '3000 tokens', period: 'total' }] } } }),
    };
    const server = store && { state: { store: { ...store, dir: join(folder, 'state') }, owns: ['keys'] } };
    const gateway = { it: { provider: '@own' } };
    const fleet = new Fleet({ upstream: upstream.url, gateway, files, ...(server && { server }) });
    ended.push(() => fleet.end());
    const { url } = await fleet.listens();
    // Each request on a connection of its own, so that another worker may take it.
    const headers = {
      'content-type': 'application/json',
      connection: 'close',
      'x-gateway-config': 'it',
      'x-gateway-api-key': KEY,
    };
    const body = JSON.stringify({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] });
    const ask = async (): Promise<number> => {
      const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
      await reply.arrayBuffer();
      return reply.status;
    };
    const statuses: number[] = [];
    for (let at = 0; at < 60; at += 1) statuses.push(await ask());
    const admitted = statuses.filter((status) => status === 200).length;
    // 30 requests cost 3,000 tokens; each reserves some more for its prompt, and a slice of the other worker may lie idle.
    expect(admitted).toBeLessThanOrEqual(30);
    expect(admitted).toBeGreaterThan(20);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const served = fleet.lines.flatMap(({ msg, worker }) => (msg === 'request completed' ? [worker] : []));
    expect(new Set(served).size).toBe(2);
    const warning = 'budgets are counted in memory: what is spent begins at zero with each start';
    expect(fleet.lines.filter(({ msg }) => msg === warning)).toHaveLength(store ? 0 : 1);
  });
});
