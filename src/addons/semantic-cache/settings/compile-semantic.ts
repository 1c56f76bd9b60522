import type { CacheSettings as CacheFile } from '../../../../schemas/types.generated.ts';
import { parseDuration } from '../../../core/kernel/units.ts';
import type { CacheSettings, SemanticSettings } from '../../../core/kernel/index.ts';

/** A cache that compares by meaning inherits these settings from one that does. */
export const compileSemanticCache = (file: CacheFile, around: CacheSettings | undefined): Partial<CacheSettings> =>
  file.mode === 'semantic' ? { semantic: compileSemantic(around?.semantic, file) } : {};

/** The checks refuse a semantic cache without `embeddings`. */
export const DEFAULT_SEMANTIC: SemanticSettings = { embeddings: '', threshold: 0.95, timeoutMs: 500 };

const compileSemantic = (base = DEFAULT_SEMANTIC, file: CacheFile): SemanticSettings => ({
  embeddings: file.embeddings ?? base.embeddings,
  threshold: file.threshold ?? base.threshold,
  timeoutMs: file.timeout === undefined ? base.timeoutMs : parseDuration(file.timeout),
});
