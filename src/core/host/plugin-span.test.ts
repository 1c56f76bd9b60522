import { describe, expect, it } from 'vitest';
import { Cancellation } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { runAs, type PluginSpan } from '../kernel/outside/plugin-work.ts';
import { pluginSpan } from './plugin-span.ts';

/** Runs a task as the work of a plugin for a traced request. */
function traced<T>(task: () => T, isTraced = true) {
  const spans: PluginSpan[] = [];
  const trace = { traceId: 't', ...(isTraced && { addSpan: (span: PluginSpan) => void spans.push(span) }) };
  const exchange = { id: 'r', cancellation: new Cancellation(), trace };
  return { spans, result: runAs({ plugin: 'mask', exchange, givenUp: false }, task) };
}

describe('host.span', () => {
  it('has the time of the work, its result and its attributes', async () => {
    const clock = createFakeClock();
    const span = pluginSpan('mask', clock);
    // Callers in JavaScript may give other values.
    const attributes = { team: 'a', list: ['b'] } as unknown as { team: string };
    await clock.advance(5);
    const { spans, result } = traced(() => span('look up', () => clock.sleep(7).then(() => 'found'), attributes));
    await clock.advance(7);
    expect(await result).toBe('found');
    expect(spans).toEqual([
      { name: 'mask look up', startedAt: 5, durationMs: 7, isError: false, attributes: [['team', 'a']] },
    ]);
  });

  it('is an error where the work throws or rejects, which it passes on', async () => {
    const span = pluginSpan('mask', createFakeClock());
    const thrown = new Error('no');
    const { spans, result } = traced(() => {
      expect(() =>
        span('one', () => {
          throw thrown;
        }),
      ).toThrow(thrown);
      return span('two', () => Promise.reject(thrown));
    });
    await expect(result).rejects.toBe(thrown);
    expect(spans.map(({ name, isError }) => [name, isError])).toEqual([
      ['mask one', true],
      ['mask two', true],
    ]);
  });

  it('only runs the work where nothing is traced, and beside a request', () => {
    const span = pluginSpan('mask', createFakeClock());
    const { spans, result } = traced(() => span('one', () => 1), false);
    expect([result, spans, span('two', () => 2)]).toEqual([1, [], 2]);
  });

  it('says which request has more than 100, and leaves the others out', () => {
    const span = pluginSpan('mask', createFakeClock());
    const { spans } = traced(() => {
      for (let index = 0; index < 150; index += 1) span('one', () => index);
    });
    expect([spans.length, spans[98]?.name, spans[99]?.name]).toEqual([
      100,
      'mask one',
      'further spans of plugins are left out',
    ]);
  });
});
