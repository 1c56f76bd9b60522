import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { StateFailure } from '../ports/failures.ts';
import { pluginState, type StateTexts } from './plugin-state.ts';
import { PluginStores } from './plugin-stores.ts';

const DAY_MS = 86_400_000;
const clock = createFakeClock();

function stateIn(texts: StateTexts | undefined, instance = 'mask', keeps = true) {
  return pluginState({ plugin: { instance, keeps }, clock, texts: () => texts });
}
const never: StateTexts = {
  take: () => new Promise(() => {}),
  find: () => new Promise(() => {}),
  end: () => new Promise(() => {}),
};

describe('the values of a plugin', () => {
  it('are JSON by name, for their time', async () => {
    const own = createFakeClock();
    const { texts } = new PluginStores(own);
    const state = pluginState({ plugin: { instance: 'mask', keeps: true }, clock: own, texts: () => texts });
    await state.set('tenant:a', { blocked: [1, null] });
    await state.set('short', 'x', 10);
    expect([await state.get('tenant:a'), await state.get('short')]).toEqual([{ blocked: [1, null] }, 'x']);
    await own.advance(10);
    expect([await state.get('tenant:a'), await state.get('short')]).toEqual([{ blocked: [1, null] }, undefined]);
    await own.advance(30 * DAY_MS);
    expect(await state.get('tenant:a')).toBeUndefined();
  });

  it('are those of one name in the settings: the last one counts, and another name has its own', async () => {
    const { texts } = new PluginStores(clock);
    await stateIn(texts).set('a', 1);
    await stateIn(texts).set('a', 2);
    expect([await stateIn(texts).get('a'), await stateIn(texts, 'other').get('a')]).toEqual([2, undefined]);
    await stateIn(texts).delete('a');
    expect(await stateIn(texts).get('a')).toBeUndefined();
  });

  it('are at most 1,000 in memory: the least recently used leaves first', async () => {
    const state = stateIn(new PluginStores(clock).texts);
    for (let index = 0; index <= 1_000; index += 1) await state.set(String(index), index);
    expect([await state.get('0'), await state.get('1'), await state.get('1000')]).toEqual([undefined, 1, 1_000]);
  });

  it.each<[string, string, unknown, number | undefined]>([
    ['an empty name', '', 1, undefined],
    ['a name with a space', 'a b', 1, undefined],
    ['a name that is too long', 'a'.repeat(117), 1, undefined],
    ['no JSON', 'a', undefined, undefined],
    ['a long value', 'a', 'x'.repeat(999), undefined],
    ['no time', 'a', 1, 0],
    ['a part of a millisecond', 'a', 1, 1.5],
    ['more than 366 days', 'a', 1, 367 * DAY_MS],
  ])('are refused with %s', async (_, name, value, ttl) => {
    const { texts } = new PluginStores(clock);
    await expect(stateIn(texts).set(name, value, ttl)).rejects.toThrow('host.state: ');
    expect(await stateIn(texts).get('a')).toBeUndefined();
  });

  it('have names and texts that fill a claim', async () => {
    const state = stateIn(new PluginStores(clock).texts);
    const name = 'a'.repeat(116);
    await state.set(name, 'x'.repeat(998));
    expect(await state.get(name)).toBe('x'.repeat(998));
  });

  it('need `state: true` of the definition', async () => {
    const state = stateIn(new PluginStores(clock).texts, 'mask', false);
    await expect(state.get('a')).rejects.toThrow('the plugin "mask" does not declare `state: true`');
  });
});

describe('a state store that does not answer', () => {
  it.each<[string, () => StateTexts | undefined]>([
    ['because it is away', () => undefined],
    ['as its failure says', () => ({ ...never, find: () => Promise.reject(new StateFailure('unavailable', 'x')) })],
  ])('fails the plugin at once %s', async (_, open) => {
    await expect(stateIn(open()).get('a')).rejects.toMatchObject({
      code: 'plugin_call_failed',
      plugin: 'mask',
      message: 'The state store, which a plugin asks, failed (unavailable).',
    });
  });

  it('holds no request longer than a second', async () => {
    const own = createFakeClock();
    const state = pluginState({ plugin: { instance: 'mask', keeps: true }, clock: own, texts: () => never });
    const asked = state.get('a').catch((error: unknown) => error);
    await own.advance(999);
    expect(own.pending).toEqual([1]);
    await own.advance(1);
    expect(await asked).toMatchObject({ code: 'plugin_call_failed' });
  });

  it('has at most 64 calls of one plugin', async () => {
    let asked = 0;
    const counting: StateTexts = { ...never, find: () => ((asked += 1), new Promise(() => {})) };
    const own = createFakeClock();
    const state = pluginState({ plugin: { instance: 'mask', keeps: true }, clock: own, texts: () => counting });
    const calls = Array.from({ length: 65 }, () => state.get('a').catch((error: unknown) => error));
    expect(await calls[64]).toMatchObject({ code: 'plugin_call_failed' });
    await own.advance(1_000);
    await Promise.all(calls);
    expect(asked).toBe(64);
  });

  it('passes on an error that is no failure of the store', async () => {
    const broken: StateTexts = { ...never, find: () => Promise.reject(new TypeError('a fault')) };
    await expect(stateIn(broken).get('a')).rejects.toThrow(TypeError);
  });
});
