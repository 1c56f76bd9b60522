import { resolve } from 'node:path';
import { systemClock } from '../../plugin/index.ts';
import type { KnownRow } from '../../state/audit.ts';
import { openStore } from '../../process/state/open-store.ts';
import { copyStore, restoreStore } from '../../state/sqlite/store-copy.ts';
import { ACTOR } from './actor.ts';
import { onStore, withReader, type ExitCode, type StateOptions } from './read.ts';

type CopyOptions = StateOptions & { readonly copy: string };

/** `gatehouse state backup DIR`: copies the store, which may be in use, to a new folder. */
export const backupCommand = (options: CopyOptions): Promise<0 | 1 | 2> =>
  onStore(options, async ({ folder }): Promise<ExitCode> => {
    const copy = resolve(options.copy);
    await copyStore(folder, copy);
    const { version, changed } = withReader(copy, (store) => store.load());
    options.out(`${copy}: version ${version}, ${changed.length} objects\n`);
    return 0;
  });

const LOST =
  'gatehouse: changes after the backup are lost: a key that was revoked since then is valid again until you revoke it again\n';

/** `gatehouse state restore DIR`: puts a backup where the settings have no store, and checks that it opens with their keys. */
export const restoreCommand = (options: CopyOptions): Promise<0 | 1 | 2> =>
  onStore(options, async ({ folder, state }): Promise<ExitCode> => {
    restoreStore(resolve(options.copy), folder);
    const store = await openStore(state, systemClock);
    try {
      const verdict = await store.audit.verify();
      await store.audit.add({ action: 'restore', kind: 'store', id: folder }, ACTOR);
      const { version, changed } = await store.entities.load(0);
      options.out(`${folder}: version ${version}, ${changed.length} objects\n`);
      options.err(LOST);
      if (!verdict.intact)
        options.err(`gatehouse: the audit of the backup was changed: row ${verdict.at}: ${verdict.reason}\n`);
      return verdict.intact ? 0 : 1;
    } finally {
      await store.close();
    }
  });

export interface VerifyOptions extends StateOptions {
  /** The last row at some time. */
  readonly head: KnownRow | undefined;
}

/** `gatehouse state verify`: checks the chain of the audit. Exit code 1: a row was changed, removed or swapped. */
export const verifyCommand = (options: VerifyOptions): Promise<0 | 1 | 2> =>
  onStore(options, ({ folder }) => {
    const verdict = withReader(folder, (store) => store.verifyAudit(options.head));
    if (verdict.intact)
      options.out(`audit: ${verdict.rows} rows, intact; the last row is ${verdict.seq}:${verdict.head}\n`);
    else options.err(`audit: row ${verdict.at}: ${verdict.reason}\n`);
    return verdict.intact ? 0 : 1;
  });
