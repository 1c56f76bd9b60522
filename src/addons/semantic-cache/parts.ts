import type { AddOnParts } from '../../core/add-on.ts';
import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import { embeddings } from '../../core/operations/embeddings.ts';
import { compileSemanticCache } from './settings/compile-semantic.ts';
import { checkCaches } from './settings/check-caches.ts';
import { createSemanticCache } from './semantic-cache.ts';

const source: SnapshotSource = {
  compose: ({ shared: { clock } }) => ({
    grantToAttempts: ({ targets, translate, send, replies }) => ({
      semantic: createSemanticCache(replies.texts, { targets, translate, send, operation: embeddings, clock }),
    }),
  }),
};

export const parts: AddOnParts = {
  checks: [checkCaches],
  added: { cache: compileSemanticCache },
  open: () => source,
  dry: () => source,
};
