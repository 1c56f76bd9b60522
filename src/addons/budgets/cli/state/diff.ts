import { objectsOfFiles, wordOf, type ObjectOfFile } from './owned-files.ts';
import { onStore, withReader, type StateOptions } from './read.ts';

const KINDS: ReadonlySet<string> = new Set<ObjectOfFile['kind']>([
  'keys',
  'teams',
  'organizations',
  'prices',
  'alerts',
]);

/** `gatehouse state diff`: which objects the files have, which the store, and which both, which no gateway serves. Exit code 1: some are in both. */
export const diffCommand = (options: StateOptions): Promise<0 | 1 | 2> =>
  onStore(options, (found) =>
    withReader(found.folder, (store) => {
      const stored = new Map(
        store.load().changed.flatMap((one) => (KINDS.has(one.kind) ? [[`${one.kind}/${one.id}`, one] as const] : [])),
      );
      const rows = objectsOfFiles(found).map((object) => ({
        ...object,
        twin: stored.get(`${object.kind}/${object.id}`),
      }));
      const inFiles = new Set(rows.map(({ kind, id }) => `${kind}/${id}`));
      const written = ({ updatedBy, updatedAt }: { readonly updatedBy: string; readonly updatedAt: number }): string =>
        `(by ${updatedBy}, ${new Date(updatedAt).toISOString().slice(0, 10)})`;
      for (const { kind, id, place, twin } of rows)
        options.out(
          twin ? `both   ${wordOf(kind)} ${id} ${place} ${written(twin)}\n` : `files  ${wordOf(kind)} ${id} ${place}\n`,
        );
      for (const [name, one] of stored)
        if (!inFiles.has(name))
          options.out(`store  ${wordOf(one.kind as ObjectOfFile['kind'])} ${one.id} ${written(one)}\n`);
      return rows.some(({ twin }) => twin) ? 1 : 0;
    }),
  );
