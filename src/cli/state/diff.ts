import { onStore, withReader, type StateOptions } from './read.ts';

/** `gatehouse state diff`: which objects the files have, which the store, and which both, which no gateway serves. Exit code 1: some are in both. */
export const diffCommand = (options: StateOptions): Promise<0 | 1 | 2> =>
  onStore(options, ({ loaded, settings, folder }) =>
    withReader(folder, (store) => {
      const stored = new Map(
        store.load().changed.flatMap((one) => (one.kind === 'keys' ? [[one.id, one] as const] : [])),
      );
      const rows = settings.keys.keys.map(({ id }, index) => {
        const { file, line, column } = loaded.placeOf('keys.yaml', ['keys', index, 'id']);
        return { id, place: `${file}:${line}:${column}`, twin: stored.get(id) };
      });
      const inFiles = new Set(rows.map(({ id }) => id));
      const written = ({ updatedBy, updatedAt }: { readonly updatedBy: string; readonly updatedAt: number }): string =>
        `(by ${updatedBy}, ${new Date(updatedAt).toISOString().slice(0, 10)})`;
      for (const { id, place, twin } of rows)
        options.out(twin ? `both   key ${id} ${place} ${written(twin)}\n` : `files  key ${id} ${place}\n`);
      for (const [id, key] of stored) if (!inFiles.has(id)) options.out(`store  key ${id} ${written(key)}\n`);
      return rows.some(({ twin }) => twin) ? 1 : 0;
    }),
  );
