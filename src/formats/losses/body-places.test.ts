import { describe, expect, it } from 'vitest';
import { PlaceFinder } from './body-places.ts';

const body = {
  messages: [{ role: 'user', content: [{ type: 'text' }] }],
  'a.b[0]': { c: { 'd.e': 1 } },
  a: { b: [{ c: 1 }] },
  '': { x: 1 },
};

describe('A place in a body', () => {
  it.each([
    ['messages[0].content[0].type', 'messages[0].content[0].type'],
    ['messages[1]', 'messages'],
    ['messages.content', 'messages'],
    ['a.b[0].c.d.e', 'a.b[0].c.d.e'],
    ['a.b[0].c', 'a.b[0].c'],
    ['a.b[1]', 'a.b'],
    ['.x', '.x'],
    ['', ''],
  ])('%j is named as %j, whatever dots and brackets the keys have', (place, named) => {
    expect(new PlaceFinder(body).nearest([place])).toBe(named);
  });

  it.each<[string, readonly [string, ...string[]], string]>([
    ['the spelling that the body has', ['nothing.here', 'a.b[0].c.d.e'], 'a.b[0].c.d.e'],
    ['the smallest field around it', ['messages[0].content[0].cache_control.ttl'], 'messages[0].content[0]'],
    ['its first step where the body has none of it', ['tools[0].name'], 'tools'],
    ['itself where it has one step', ['seed'], 'seed'],
  ])('has the name %s', (_, spellings, place) => {
    expect(new PlaceFinder(body).nearest(spellings)).toBe(place);
  });

  describe('that can be parsed in many ways', () => {
    /** Every split of `a.a.a…` is a path of the body. Counts the lookups of its keys. */
    function ambiguous(): { readonly body: Record<string, unknown>; readonly lookups: () => number } {
      let lookups = 0;
      const counting = (target: Record<string, unknown>): Record<string, unknown> =>
        new Proxy(target, {
          getOwnPropertyDescriptor(object, key) {
            lookups += 1;
            return Reflect.getOwnPropertyDescriptor(object, key);
          },
        });
      let [one, two] = [counting({}), counting({})];
      for (let depth = 0; depth < 20; depth += 1) [one, two] = [counting({ a: one, 'a.a': two }), one];
      return { body: one, lookups: () => lookups };
    }

    it('is searched for with a bounded number of lookups, for all places of a request together', () => {
      const { body: many, lookups } = ambiguous();
      const finder = new PlaceFinder(many);
      for (let at = 0; at < 100; at += 1) finder.nearest([`${'a.'.repeat(200)}b${at}`]);
      expect(lookups()).toBeGreaterThan(1000);
      expect(lookups()).toBeLessThanOrEqual(4096);
    });

    it('is named as the largest part that was found', () => {
      const place = `${'a.'.repeat(200)}b`;
      expect(new PlaceFinder(ambiguous().body).nearest([place])).toBe('a.'.repeat(20) + 'a');
    });
  });
});
