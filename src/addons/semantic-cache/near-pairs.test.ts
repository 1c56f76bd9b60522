import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../../core/kernel/package-root.ts';
import { embeddingReply } from '../simulator/simulate.ts';
import { DEFAULT_SEMANTIC } from './settings/compile-semantic.ts';
import { differsIn, NEAR_PAIRS, type NearPair } from './near-pairs.testkit.ts';
import { factsOf } from './text-facts.ts';

/** The simulator's vectors: sums of one random direction per word. They see common words and nothing else. */
function vectorOf(text: string): readonly number[] {
  const { data } = embeddingReply({ model: 'm', input: text, dimensions: 1536 }) as {
    data: readonly { embedding: readonly number[] }[];
  };
  return data[0]!.embedding;
}

function similarityOf({ texts }: NearPair): number {
  const [one, other] = [vectorOf(texts[0]), vectorOf(texts[1])];
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}

const COMPARED = NEAR_PAIRS.map((pair) => ({
  ...pair,
  similarity: similarityOf(pair),
  fact: differsIn(factsOf(pair.texts[0]), factsOf(pair.texts[1])),
}));
const NEEDS_TWO = COMPARED.filter(({ same }) => !same);
const PARAPHRASES = COMPARED.filter(({ same }) => same);

/** The pairs that get one answer. */
const hits = (pairs: typeof COMPARED, threshold: number): readonly (readonly string[])[] =>
  pairs.filter(({ similarity, fact }) => fact === undefined && similarity >= threshold).map(({ texts }) => texts);
const withoutFacts = (threshold: number): number =>
  NEEDS_TWO.filter(({ similarity }) => similarity >= threshold).length;

describe('the table of near pairs', () => {
  it('has 200 different pairs, in both orders of a comparison', () => {
    expect(new Set(NEAR_PAIRS.map(({ texts }) => texts.join('|'))).size).toBe(200);
    for (const { texts, fact } of COMPARED) expect(differsIn(factsOf(texts[1]), factsOf(texts[0]))).toBe(fact);
  });

  it('gives the default threshold: the first hundredth without a wrong hit, and one more', () => {
    const { threshold } = DEFAULT_SEMANTIC;
    expect(hits(NEEDS_TWO, threshold - 0.01)).toEqual([]);
    expect(hits(NEEDS_TWO, threshold - 0.02)).not.toEqual([]);
  });

  it('has the numbers that the README of the cache shows', () => {
    const readme = readFileSync(packageFile('plugins/cache/README.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| (0\.\d\d) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map((row) =>
      row.slice(1).map(Number),
    );
    expect(rows.length).toBeGreaterThan(5);
    expect(rows).toEqual(
      rows.map(([threshold = 0]) => [
        threshold,
        withoutFacts(threshold),
        hits(NEEDS_TWO, threshold).length,
        hits(PARAPHRASES, threshold).length,
      ]),
    );
  });

  it('has wrong hits at any threshold when vectors alone are compared', () => {
    expect([0.9, 0.95, 0.98].map(withoutFacts)).toEqual([33, 8, 8]);
  });

  it.each(['dates', 'numbers', 'names', 'negations', 'opposites'])(
    'has a fact that separates all pairs of %s',
    (kind) => {
      expect(COMPARED.filter((pair) => pair.kind === kind && pair.fact === undefined)).toEqual([]);
    },
  );

  it('has other words that no fact separates, so that only the threshold does', () => {
    const untold = COMPARED.filter(({ kind, fact }) => kind === 'words' && fact === undefined);
    expect(untold.length).toBeGreaterThan(15);
    expect(Math.max(...untold.map(({ similarity }) => similarity))).toBeCloseTo(0.937, 3);
  });

  it('has paraphrases that hit at the default threshold, and more that miss: these vectors know no synonyms', () => {
    expect(PARAPHRASES.length).toBe(45);
    expect([0.8, 0.9, DEFAULT_SEMANTIC.threshold].map((threshold) => hits(PARAPHRASES, threshold).length)).toEqual([
      33, 27, 15,
    ]);
  });
});
