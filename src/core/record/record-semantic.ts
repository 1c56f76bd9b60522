import type { SemanticLookup } from '../kernel/index.ts';
import { cut } from './cut.ts';
import type { RecordedCost } from './costs.ts';
import type { RecordedSemantic } from './record.ts';

/** Four digits: vectors are not more exact. */
export const roundSimilarity = (similarity: number | undefined): number | undefined =>
  similarity === undefined ? undefined : Math.round(similarity * 10_000) / 10_000;

/** @param cost of the call for vectors */
export const recordSemantic = (
  { result, reason, similarity, embedding }: SemanticLookup,
  cost: RecordedCost | undefined,
): RecordedSemantic => ({
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
});
