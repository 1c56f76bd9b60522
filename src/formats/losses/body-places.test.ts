import { describe, expect, it } from 'vitest';
import { isPlaceOf, nearestPlace } from './body-places.ts';

const body = {
  messages: [{ role: 'user', content: [{ type: 'text' }] }],
  'a.b[0]': { c: { 'd.e': 1 } },
  a: { b: [{ c: 1 }] },
  '': { x: 1 },
};

describe('A place in a body', () => {
  it.each([
    ['messages[0].content[0].type', true],
    ['messages[1]', false],
    ['messages.content', false],
    ['a.b[0].c.d.e', true],
    ['a.b[0].c', true],
    ['a.b[1]', false],
    ['.x', true],
    ['', true],
  ])('%j is found among keys with dots and brackets: %s', (place, found) => {
    expect(isPlaceOf(body, place)).toBe(found);
  });

  it.each<[string, readonly [string, ...string[]], string]>([
    ['the spelling that the body has', ['nothing.here', 'a.b[0].c.d.e'], 'a.b[0].c.d.e'],
    ['the smallest field around it', ['messages[0].content[0].cache_control.ttl'], 'messages[0].content[0]'],
    ['its first step where the body has none of it', ['tools[0].name'], 'tools'],
    ['itself where it has one step', ['seed'], 'seed'],
  ])('is told as %s', (_, spellings, place) => {
    expect(nearestPlace(body, spellings)).toBe(place);
  });

  it('is not searched for without end where keys can be read in many ways', () => {
    // Every split of the place is a path of the body.
    const many = (depth: number): object =>
      depth === 0 ? {} : { a: many(depth - 1), 'a.a': depth > 1 ? many(depth - 2) : {} };
    const place = 'a.'.repeat(200) + 'b';
    expect(place.startsWith(nearestPlace({ ...many(20) }, [place]))).toBe(true);
  });
});
