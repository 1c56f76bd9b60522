import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { knownParam } from './upstream-metrics.ts';

it.each([
  ['seed', 'seed'],
  ['messages[2].content[0]', 'messages'],
  ['response_format.json_schema.schema.properties.canary', 'response_format'],
  ['anthropic-beta: files-api-2025-04-14', 'anthropic-beta'],
  ['canary: anthropic-beta', undefined],
  ['canary-param', undefined],
  ['', undefined],
  ['__proto__', undefined],
])('the parameter label of %j is %j', (path, label) => {
  expect(knownParam(path)).toBe(label);
});

it('every field that docs/reference/fields.md lists as lost is a label', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/reference/fields.md'), 'utf8');
  // The tables of the fields at the top of a body.
  const tables = [...text.matchAll(/^A request of `POST \/v1\/(?:chat\/completions|messages)`:\n\n((?:\|.*\n)+)/gm)];
  const rows = tables
    .flatMap(([, table]) => [...table!.matchAll(/^\| `([^`]+)` \|(.*)$/gm)])
    .filter(([, , cells]) => /\blost\b/.test(cells!));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.map(([, field]) => field!).filter((field) => knownParam(field) === undefined)).toEqual([]);
});
