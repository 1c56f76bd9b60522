import { expect, it } from 'vitest';
import { hasMember, parseJson } from './object.ts';

const NAMES = new Set(['file_id']);

it.each([
  ['a member of its own', '{"file_id":1}', true],
  ['one with escapes in its name', '{"a":[{"\\u0066ile_id":null}]}', true],
  ['one that is 100,000 levels deep', `${'[{"a":'.repeat(50_000)}{"file_id":1}${'}]'.repeat(50_000)}`, true],
  ['a text that looks like one', '{"a":"\\"file_id\\":1","b":["file_id"]}', false],
  ['no object', '"file_id"', false],
])('A value with %s', (_, json, has) => {
  expect(hasMember(parseJson(json), NAMES)).toBe(has);
});
