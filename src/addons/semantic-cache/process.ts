import { isDeepStrictEqual } from 'node:util';
import type { SemanticStore } from '../../../schemas/types.generated.ts';
import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import { embeddings } from '../../core/operations/openai.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { familiesOf } from '../../core/record/metrics/metrics.ts';
import { parseBytes } from '../../core/kernel/units.ts';
import { TEXT_METRICS } from './metrics.ts';
import { createSemanticCache } from './semantic-cache.ts';
import { MemoryTextStore, type TextStoreLimits } from './store/text-store.ts';

/** `cache.semantic` of server.yaml with its defaults. */
const compileTexts = ({ max_bytes, scope_bytes, scope_entries }: SemanticStore = {}): TextStoreLimits => ({
  maxBytes: parseBytes(max_bytes ?? '32MiB'),
  scopeBytes: parseBytes(scope_bytes ?? '8MiB'),
  scopeEntries: scope_entries ?? 1000,
});

/** The texts of requests whose replies are kept. They stay while the settings do not change their bounds. */
export function openSemanticCache({ metrics }: PartTools): ProcessPart {
  const families = familiesOf(metrics.families, TEXT_METRICS);
  let current: MemoryTextStore | undefined;
  const report = ({ entries, bytes }: MemoryTextStore['size']): void => {
    families.cacheTexts.set({}, entries);
    families.cacheTextsSize.set({}, bytes);
  };
  const prepare = (limits: TextStoreLimits): MemoryTextStore => {
    if (current && isDeepStrictEqual(current.limits, limits)) return current;
    // Requests with older settings may still write to the old store, whose size is no longer reported.
    const store: MemoryTextStore = new MemoryTextStore(limits, (size) => {
      if (store === current) report(size);
    });
    return store;
  };
  return {
    ...sourceOf(prepare, (used) => {
      current = used;
      report(used.size);
    }),
    dry: () => sourceOf(prepare),
  };
}

export const drySemanticCache = (): SnapshotSource => sourceOf((limits) => new MemoryTextStore(limits));

const sourceOf = (
  prepare: (limits: TextStoreLimits) => MemoryTextStore,
  onUse: (store: MemoryTextStore) => void = () => {},
): SnapshotSource => ({
  compose({ settings: { server }, shared: { clock } }) {
    const store = prepare(compileTexts(server.cache?.semantic));
    return {
      grantToAttempts: ({ targets, translate, send }) => ({
        semantic: createSemanticCache(store, { targets, translate, send, operation: embeddings, clock }),
      }),
      use: () => onUse(store),
    };
  },
});
