import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CASES, type WholeCase } from './cases/index.ts';
import { differences } from './compare.ts';
import { CLAUDE_DIFFERENCES } from './differences-claude.ts';
import { GEMINI_DIFFERENCES } from './differences-gemini.ts';
import { explains, type Rule } from './differences.ts';
import { goldenPath, translate, translateFor } from './goldens.ts';
import { KNOWN_FAULTS } from './known-faults.ts';
import type { Family } from './sdk-words.ts';
import { record } from './sdk-record.ts';
import { reworded, SPELLINGS, type Spelling } from './spellings.ts';

const read = (one: WholeCase): unknown =>
  existsSync(goldenPath(one)) ? JSON.parse(readFileSync(goldenPath(one), 'utf8')) : undefined;

describe('requests for Gemini and Claude', () => {
  it.each(CASES.filter(({ id }) => !(id in KNOWN_FAULTS)).map((one) => [one.id, one.title, one] as const))(
    'leave as their golden says: %s, %s',
    async (_, __, one) => {
      // Anew with `node test/translation/write-goldens.ts`, and to be read against wire.md then.
      expect(await translate(one)).toEqual(read(one));
    },
  );

  it.each(Object.entries(KNOWN_FAULTS))('still differ from their golden: %s, %s', async (id) => {
    const one = CASES.find((candidate) => candidate.id === id)!;
    expect(await translate(one), 'mended: take it out of known-faults.ts').not.toEqual(read(one));
  });

  it('have no goldens but those of the cases', () => {
    const files = globSync('goldens/**/*.json', { cwd: import.meta.dirname });
    expect(files.map((file) => join(import.meta.dirname, file)).sort()).toEqual(CASES.map(goldenPath).sort());
  });
});

interface Compared {
  readonly cases: ReadonlySet<string>;
  readonly unexplained: readonly string[];
  readonly stale: readonly string[];
}

const FAMILIES = {
  gemini: { format: 'vertex', rules: GEMINI_DIFFERENCES },
  claude: { format: 'anthropic', rules: CLAUDE_DIFFERENCES },
} as const;

/** All cases of a family through both translators. */
async function compareAll(family: Family): Promise<Compared> {
  const { format, rules } = FAMILIES[family];
  const cases = new Set<string>();
  const unexplained: string[] = [];
  const used = new Set<Rule>();
  const spelled = new Set<Spelling>();
  for (const one of CASES)
    for (const model of one[family]) {
      const theirs = await record(family, model, one);
      if ('unspoken' in theirs) continue;
      cases.add(one.id);
      const ours = await translateFor(format, model, one);
      for (const { path, ...values } of differences(bodyOf(ours), reworded(bodyOf(theirs), family, spelled))) {
        const found = rules.filter((rule) => explains(rule, { id: one.id, model, path }));
        for (const rule of found) used.add(rule);
        if (found.length === 0) unexplained.push(`${one.id}, ${model}, ${path}: ${JSON.stringify(values)}`);
      }
    }
  const stale = [
    ...rules.filter((rule) => !used.has(rule)).map(({ reason }) => reason),
    ...SPELLINGS.filter((spelling) => spelling.family === family && !spelled.has(spelling)).map(({ reason }) => reason),
  ];
  return { cases, unexplained, stale };
}

/** Where one refuses and the other sends, that is the difference, not all that is sent. */
const bodyOf = (outcome: { readonly body: unknown } | { readonly refused: unknown }): unknown =>
  'refused' in outcome ? REFUSED : outcome.body;
const REFUSED = Symbol('refused');

describe.each(['gemini', 'claude'] as const)('the AI SDK, given the same requests for %s,', (family) => {
  const compared = compareAll(family);

  it('can express most of them', async () => {
    expect((await compared).cases.size).toBeGreaterThanOrEqual(180);
  });

  it('sends the same, but for what has a written reason', async () => {
    expect((await compared).unexplained).toEqual([]);
  });

  it('leaves no reason without a difference', async () => {
    expect((await compared).stale).toEqual([]);
  });
});
