import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TARGET_FIELDS } from './target-fields.ts';

const read = (page: string): string =>
  readFileSync(join(import.meta.dirname, '../../../docs/protocols', `${page}.md`), 'utf8');
const PAGE = read('messages-route');

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

it('each beta of a field is in the table of betas, which names its source', () => {
  const rows = [...read('anthropic-messages').matchAll(/^\| `([^`]+)` \| (.*) \| (.+) \|$/gm)];
  const said = new Map(
    rows.map(([, field, cell]) => [field!, [...cell!.matchAll(/[a-z-]+-20\d\d-\d\d-\d\d/g)].map(String)]),
  );
  for (const { field, betas, betasOf } of TARGET_FIELDS) {
    const all = betas ?? betasOf?.({ edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }] });
    if (all) expect(said.get(field)?.toSorted(), field).toEqual([...all].toSorted());
  }
});
