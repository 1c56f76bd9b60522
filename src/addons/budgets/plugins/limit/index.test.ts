import { describe, expect, it } from 'vitest';
import { chatCompletions } from '../../../../core/operations/openai.ts';
import { GatewayError } from '../../../../plugin/index.ts';
import type { CallerLimits } from '../../../../core/kernel/rate-limits.ts';
import { createExchange, runPlugin } from '../../../../plugin/testing/index.ts';
import limitTokens from '../limit-tokens/index.ts';
import limit from './index.ts';

const refusal = new GatewayError('limit_requests', 'Rate limit reached.');
const limits: CallerLimits = {
  applied: [
    { node: 'team', id: 'search', models: undefined, limit: 'requests', count: 600, perMs: 60_000 },
    { node: 'key', id: 'a', models: undefined, limit: 'concurrency', count: 20, perMs: undefined },
    { node: 'key', id: 'a', models: undefined, limit: 'tokens', count: 1000, perMs: 3_600_000 },
  ],
  figures: () => ({}),
};

describe.each([
  ['limit', limit, 'enter', 'team search: requests 600/min, key a: concurrency 20'],
  ['limit-tokens', limitTokens, 'takeTokens', 'about 1 tokens of key a: tokens 1000/h'],
] as const)('%s', (_name, plugin, method, words) => {
  it('lets a request pass that its gates admit, and explains which limits it has', async () => {
    const exchange = createExchange({ operation: chatCompletions, limits });
    const run = await runPlugin(plugin, { exchange, needs: { gates: { [method]: () => undefined } } });
    expect([run.nextCalls, run.explain()?.does]).toEqual([1, words]);
  });

  it('first asks other gateways for what is missing', async () => {
    const exchange = createExchange({ operation: chatCompletions, limits });
    const calls: string[] = [];
    const gates = {
      fetch: () => new Promise<void>((resolve) => setImmediate(resolve)).then(() => void calls.push('fetched')),
      [method]: () => void calls.push('taken'),
    };
    const run = await runPlugin(plugin, { exchange, needs: { gates } });
    expect([run.nextCalls, calls]).toEqual([1, ['fetched', 'taken']]);
  });

  it('throws the refusal of its gates', async () => {
    const exchange = createExchange({ operation: chatCompletions });
    const run = runPlugin(plugin, { exchange, needs: { gates: { [method]: () => refusal } } });
    await expect(run).rejects.toBe(refusal);
  });

  it('is left out of operations without a model, and explains nothing for a caller without limits', async () => {
    expect(plugin.idleFor?.({ ...chatCompletions, task: undefined }, {})).toBe(true);
    expect(plugin.idleFor?.(chatCompletions, {})).toBe(false);
    const exchange = createExchange({ operation: chatCompletions });
    const run = await runPlugin(plugin, { exchange, needs: { gates: { [method]: () => undefined } } });
    expect(run.explain()).toBeUndefined();
  });
});
