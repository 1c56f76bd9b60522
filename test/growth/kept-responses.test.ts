import { describe, expect, test } from 'vitest';
import { placesIn } from '../../src/addons/responses/store/response-places.ts';
import type { NewResponse } from '../../src/core/kernel/index.ts';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { MemoryResponses } from '../../src/addons/responses/store/responses.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { fill, list } from './replies-build.ts';

/** The upstream may be hostile, and chooses the ids of its responses and of their items. */
const RESPONSES: Readonly<Record<string, (at: number) => string>> = {
  'that have ids of their own': (at) => response(`resp_${at}`, [item(`msg_${at}`)]),
  'that have one id': () => response('resp', [item('msg')]),
  'of one family': (at) => response(`resp_${FAMILY}${String(at).padStart(4, '0')}`, []),
  'of one family, with items in it': (at) => response(inFamily('resp', at), [item(inFamily('msg', at))]),
  'whose items have one id': (at) => response(`resp_${at}`, [item('msg'), item('msg')]),
  'with many items of one id': (at) =>
    response(
      `resp_${at}`,
      fill(8000, () => item('msg')),
    ),
  'whose ids are behind long fields': (at) =>
    `{"x":"${'x'.repeat(2000)}",${response(`resp_${at}`, [late('msg')]).slice(1)}`,
};

const FAMILY = 'a'.repeat(28);
const inFamily = (kind: string, at: number): string => `${kind}_${FAMILY}${String(at % 10_000).padStart(4, '0')}`;
const item = (id: string): string => `{"id":"${id}"}`;
const late = (id: string): string => `{"x":"${'x'.repeat(500)}","id":"${id}"}`;
const response = (id: string, output: readonly string[]): string =>
  `{"id":"${id}","status":"completed","output":${list(output)}}`;

const INPUT = Buffer.from('[]');
/** The store fills: each response evicts older ones. */
const PART = 1 / 4;
/** Bytes of an entry, which are most of what a short response takes (core/memory/kept-size.ts). */
const ENTRY = 300;

function newResponses(bytes: number, make: (at: number) => string): readonly NewResponse[] {
  return fill(bytes, make).map((text) => {
    const buffer = Buffer.from(text);
    const { id, items } = placesIn(buffer)!;
    return { id, items, response: buffer, input: INPUT };
  });
}

describe('The cost of keeping and finding responses', () => {
  test.each(Object.entries(RESPONSES))('grows with the bytes of responses %s', { timeout: 120_000 }, (_, make) => {
    const { factor } = growthOf((bytes) => {
      const all = newResponses(bytes, make);
      const entries = all.reduce((sum, { items }) => sum + 1 + items!.length, 0);
      return () => {
        const store = new MemoryResponses(createFakeClock());
        store.apply({ maxBytes: (bytes + ENTRY * entries) * PART, ttlMs: 1 });
        for (const [at, one] of all.entries()) {
          store.keep(at % 8 === 0 ? 'other' : 'key', one);
          store.find('key', one.id);
          const ids = one.items!.slice(0, 1).map(({ id }) => id);
          store.measure('key', { response: one.id, items: ids });
          store.findItems('key', ids);
        }
      };
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });

  test('grows with their number where each is of another key', { timeout: 120_000 }, () => {
    const { factor } = growthOf((bytes) => {
      const all = newResponses(bytes, (at) => response(`resp_${at}`, []));
      return () => {
        const store = new MemoryResponses(createFakeClock());
        store.apply({ maxBytes: (bytes + ENTRY * all.length) * PART, ttlMs: 1 });
        for (const [at, one] of all.entries()) store.keep(`key${at}`, one);
      };
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });
});
