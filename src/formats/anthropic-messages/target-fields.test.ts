import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TARGET_FIELDS } from './target-fields.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/protocols/messages-route.md'), 'utf8');

/** Begins of the words that stand for an action in the page. */
const WORDS = {
  send: ['sent'],
  map: ['over 64', 'as '],
  beta: ['sent with'],
  drop: ['lost'],
  refuse: ['400'],
} as const;

it('the table of fields by target says what the page says', () => {
  const rows = [...PAGE.matchAll(/^ {2}\| (`.*) \| (.*) \| (.*) \| (.*) \|$/gm)].map((row) => row.slice(1));
  const cells = new Map(
    rows.flatMap(([fields = '', ...actions]) =>
      [...fields.matchAll(/`([^`]+)`/g)].map(([, field]) => [field!, actions] as const),
    ),
  );
  expect([...cells.keys()].toSorted()).toEqual(TARGET_FIELDS.map(({ field }) => field).toSorted());
  for (const { field, at, refuses } of TARGET_FIELDS) {
    const told = cells.get(field)!;
    for (const [index, target] of (['claude', 'vertex', 'other'] as const).entries()) {
      expect(
        WORDS[at[target]].some((word) => told[index]!.startsWith(word)),
        `${field} at ${target}`,
      ).toBe(true);
      if (refuses && at[target] !== 'send') expect(told[index]).toContain('400');
    }
  }
});
