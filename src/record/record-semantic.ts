import type { SemanticLookup, Target } from '../plugin/index.ts';
import { cut } from './cut.ts';
import type { RecordedAttempt, RecordedSemantic } from './record.ts';

export const cacheModeOf = ({ cache }: Target): RecordedAttempt['cacheMode'] =>
  cache?.semantic ? 'semantic' : 'exact';

export function recordSemantic(lookup: SemanticLookup | undefined): RecordedSemantic | undefined {
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
      result: embedding.result,
    },
  };
}
