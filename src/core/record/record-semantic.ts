import type { SemanticLookup, Target } from '../kernel/index.ts';
import { cut } from './cut.ts';
import type { RecordedCost } from './costs.ts';
import type { RecordedAttempt, RecordedSemantic } from './record.ts';

export const cacheModeOf = ({ cache }: Target): RecordedAttempt['cacheMode'] =>
  cache?.semantic ? 'semantic' : 'exact';

/** Four digits: vectors are not more exact. */
export function roundSimilarity<T extends number | undefined>(similarity: T): T;
export function roundSimilarity(similarity: number | undefined): number | undefined {
  return similarity === undefined ? undefined : Math.round(similarity * 10_000) / 10_000;
}

/** @param cost of the call for vectors */
export function recordSemantic(
  lookup: SemanticLookup | undefined,
  cost: RecordedCost | undefined,
): RecordedSemantic | undefined {
  if (!lookup) return undefined;
  const { result, reason, similarity, embedding } = lookup;
  return {
    result,
    reason: reason === undefined ? undefined : cut(reason),
    similarity,
    embedding: embedding && {
      provider: embedding.slug,
      modelLabel: embedding.modelLabel,
      durationMs: embedding.to - embedding.from,
      tokens: embedding.tokens,
      cost,
      result: embedding.result,
    },
  };
}
