import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/effort.ts';
import { parseReplyText } from '../../../formats/json/rounding.ts';
import { bodyDiff, type Difference } from './body-diff.ts';

const items = (count: number, text = 'no.'): object[] =>
  Array.from({ length: count }, (_, index) => ({ role: 'user', content: `${text} ${index}` }));

const line = ({ path, ...values }: Difference): string => {
  const texts = Object.entries(values).map(([side, value]) => `${side} ${JSON.stringify(value)}`);
  return [path.join('.'), ...texts].join(' ');
};
const diff = (received: unknown, sent: unknown): readonly string[] => bodyDiff(received, sent).map(line);

describe('the differences between two bodies', () => {
  it.each<[string, unknown, unknown, readonly string[]]>([
    ['equal bodies', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['a field that is set', { model: 'a' }, { model: 'b' }, ['model received "a" sent "b"']],
    ['a field that is added', {}, { stream: true }, ['stream sent true']],
    ['a field that is removed', { user: 'u' }, {}, ['user received "u"']],
    ['null and nothing', { user: null }, {}, ['user received null']],
    ['a field of another name', { max: 1, a: 2 }, { limit: 1, a: 2 }, ['max received 1', 'limit sent 1']],
    ['an added object, field by field', {}, { a: { b: { c: 1 }, d: 2 } }, ['a.b.c sent 1', 'a.d sent 2']],
    ['an added object without fields', {}, { a: {} }, ['a sent {}']],
    ['a removed object, as a whole', { a: { b: { c: 1 } } }, {}, ['a received {"b":{"c":1}}']],
    ['a text that becomes an object', { a: 'x' }, { a: { text: 'x' } }, ['a received "x" sent {"text":"x"}']],
    ['an item of a list', { a: [1, 2] }, { a: [1, 3] }, ['a.1 received 2 sent 3']],
    ['items added at the end', { a: [1] }, { a: [1, 2, 3] }, ['a.1 sent 2', 'a.2 sent 3']],
    ['an item removed at the start', { a: [1, 2, 3] }, { a: [2, 3] }, ['a.0 received 1']],
    ['an item added between equal ones', { a: [1, 1] }, { a: [1, 1, 1] }, ['a.2 sent 1']],
    ['a list of another length', { a: [1, 2, 3] }, { a: [4] }, ['a received [1,2,3] sent [4]']],
    ['a body that is text', { a: 1 }, 'a=1', [' received {"a":1} sent "a=1"']],
    [
      'a number of many digits',
      parseReplyText('{"a":12345678901234567891}'),
      { a: 1 },
      ['a received 12345678901234567891 sent 1'],
    ],
    [
      'the same number of many digits',
      parseReplyText('{"a":12345678901234567891}'),
      parseReplyText('{"a":12345678901234567891}'),
      [],
    ],
    ['an own field named __proto__', JSON.parse('{"__proto__":1}'), {}, ['__proto__ received 1']],
  ])('are found: %s', (_, received, sent, expected) => {
    expect(diff(received, sent)).toEqual(expected);
  });

  it('are one difference where a field differs in more than 50 places', () => {
    const [few, many] = [50, 51].map((count) =>
      bodyDiff({ messages: items(count) }, { messages: items(count, 'other') }),
    );
    expect(few).toHaveLength(50);
    expect(many!.map(({ path }) => path.join('.'))).toEqual(['messages']);
  });

  it('of bodies with thousands of fields are all there', () => {
    const body = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 1]));
    expect(bodyDiff(body, {})).toHaveLength(1000);
  });

  it('are found in time that grows with the bytes, for lists in lists of other lengths too', () => {
    const nested = (depth: number, extra: readonly number[]): unknown =>
      depth === 0 ? 1 : [nested(depth - 1, extra), ...extra];
    expect(bodyDiff({ a: nested(200, []) }, { a: nested(200, [1]) })).toHaveLength(1);
  });

  it('set in the received body make the sent one', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: 'small' }, fc.constantFrom(null, true, 0, 1, 'a', 'b'), tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 4 }),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '0'), tie('any'), { maxKeys: 4 }),
    })).any;
    fc.assert(
      fc.property(value, value, (received, sent) => {
        expect(applied(received, bodyDiff(received, sent))).toEqual(sent);
        expect(bodyDiff(sent, sent)).toEqual([]);
      }),
      { numRuns: runs(5000) },
    );
  });
});

/** The received body with the differences: items of a list are removed from its end on, and added from its start on. */
function applied(received: unknown, differences: readonly Difference[]): unknown {
  const root = { body: structuredClone(received) };
  const removed = differences.filter((one) => !('sent' in one)).toReversed();
  for (const { path } of removed) remove(holderOf(root, path), path.at(-1) ?? 'body');
  for (const one of differences) if ('sent' in one) set(holderOf(root, one.path), one.path.at(-1) ?? 'body', one);
  return root.body;
}

type Holder = Record<string | number, unknown>;

/** Makes the objects around an added field. */
function holderOf(root: object, path: Difference['path']): Holder {
  return ['body', ...path].slice(0, -1).reduce((at: Holder, name) => (at[name] ??= {}) as Holder, root as Holder);
}

function remove(holder: Holder, name: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
}

function set(holder: Holder, name: string | number, { sent, ...rest }: Difference): void {
  if (Array.isArray(holder) && !('received' in rest)) holder.splice(Number(name), 0, structuredClone(sent));
  else holder[name] = structuredClone(sent);
}
