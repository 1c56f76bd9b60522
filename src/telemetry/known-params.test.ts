import { expect, it } from 'vitest';
import { knownParam } from './known-params.ts';

it.each([
  ['seed', 'seed'],
  ['messages[2].content[0]', 'messages'],
  ['response_format.json_schema.schema.properties.canary', 'response_format'],
  ['canary-param', undefined],
  ['', undefined],
  ['__proto__', undefined],
])('the parameter label of %j is %j', (path, label) => {
  expect(knownParam(path)).toBe(label);
});
