import { expect, it } from 'vitest';
import { removeFields, stepsOf } from './target-fields.ts';

const BODY = {
  a: 1,
  tools: [{ x: 1, y: { x: 2 } }, 'text', { y: null }, { x: null }],
  messages: [{ content: [{ content: [{ mark: { scope: 's', ttl: '5m' } }], mark: 'text' }] }, { content: 'text' }],
};

it.each([
  ['a', ['a'], { ...BODY, a: undefined }],
  ['tools[].x', ['tools[0].x', 'tools[3].x'], { ...BODY, tools: [{ y: { x: 2 } }, 'text', { y: null }, {}] }],
  ['tools[].y.x', ['tools[0].y.x'], { ...BODY, tools: [{ x: 1, y: {} }, ...BODY.tools.slice(1)] }],
  [
    'messages[].content[].content[].mark.scope',
    ['messages[0].content[0].content[0].mark.scope'],
    {
      ...BODY,
      messages: [{ content: [{ content: [{ mark: { ttl: '5m' } }], mark: 'text' }] }, { content: 'text' }],
    },
  ],
])('%s is removed wherever it stands, and the value is copied', (path, places, expected) => {
  const before = structuredClone(BODY);
  const found: string[] = [];
  const removed = removeFields(BODY, stepsOf(path), (_, place) => found.push(place) > 0);
  expect([removed, found]).toEqual([expected, places]);
  expect(BODY).toEqual(before);
});

it.each(['b', 'a.b', 'a[].b', 'tools.x', 'tools[].z', '__proto__', 'constructor'])(
  '%s, which is nowhere, leaves the value itself',
  (path) => {
    expect(removeFields(BODY, stepsOf(path), () => true)).toBe(BODY);
  },
);

it('a field that stays leaves the value itself', () => {
  expect(removeFields(BODY, stepsOf('tools[].x'), () => false)).toBe(BODY);
});
