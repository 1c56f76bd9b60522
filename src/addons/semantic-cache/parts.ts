import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { TEXT_METRICS } from './metrics.ts';
import { drySemanticCache, openSemanticCache } from './process.ts';
import { checkCaches } from './settings/check-caches.ts';
import { compileSemanticCache } from './settings/compile-semantic.ts';

export const parts: AddOnParts = {
  checks: [checkCaches],
  added: { cache: compileSemanticCache },
  metrics: TEXT_METRICS,
  open: openSemanticCache,
  dry: drySemanticCache,
};
