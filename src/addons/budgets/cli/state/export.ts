import { OWNED_KINDS } from '../../../../core/ports/entities.ts';
import { onStore, withReader, type StateOptions } from './read.ts';

/** `gatehouse state export`: the objects and counters of the store, one JSON object a line, without secrets. It may be in use. */
export const exportCommand = (options: StateOptions & { readonly kind: string | undefined }): Promise<0 | 1 | 2> =>
  onStore(options, ({ folder }) =>
    withReader(folder, (store) => {
      const { out, kind } = options;
      for (const entity of store.load().changed)
        if (kind === undefined || kind === entity.kind) out(`${JSON.stringify(entity)}\n`);
      if (kind === undefined || kind === COUNTERS)
        for (const counter of store.counters()) out(`${JSON.stringify({ kind: COUNTERS, ...counter })}\n`);
      return 0;
    }),
  );

const COUNTERS = 'counters';
export const EXPORT_KINDS = [...OWNED_KINDS, COUNTERS] as const;
