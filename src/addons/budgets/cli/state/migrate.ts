import { systemClock } from '../../../../core/kernel/system-clock.ts';
import { openStore } from '../../state/open-store.ts';
import { MAX_CHANGES } from '../../../../core/ports/entities.ts';
import { ACTOR } from './actor.ts';
import { objectsOfFiles } from './owned-files.ts';
import { onStore, type ExitCode, type StateOptions } from './read.ts';

/**
 * `gatehouse state migrate`: the store's tables become those of this release, and the objects that `state.owns` names move from the files
 * to the store. The files are left as they are: the output names the entries to remove.
 */
export const migrateCommand = (options: StateOptions & { readonly dryRun: boolean }): Promise<0 | 1 | 2> =>
  onStore(options, async (found): Promise<ExitCode> => {
    const { out, dryRun } = options;
    const { state, folder } = found;
    const objects = objectsOfFiles(found).filter(({ kind }) => state.owns.includes(kind));
    const places = objects.map(({ place, id }) => `${place}: ${id}\n`).join('');
    if (dryRun) {
      out(`${folder}: would move ${objects.length} objects\n${places}`);
      return 0;
    }
    const store = await openStore(state, systemClock);
    try {
      const known = new Set((await store.entities.load(0)).changed.map(({ kind, id }) => `${kind}/${id}`));
      const changes = objects
        .filter(({ kind, id }) => !known.has(`${kind}/${id}`))
        .map(({ change }) => change(systemClock.wall()));
      for (let from = 0; from < changes.length; from += MAX_CHANGES)
        await store.entities.write(changes.slice(from, from + MAX_CHANGES), ACTOR);
      out(
        `${folder}: the tables are those of this release; ${changes.length} objects moved, ${objects.length - changes.length} were there\n`,
      );
      if (objects.length > 0) out(`Remove these entries, which the store has now:\n${places}`);
      return 0;
    } finally {
      await store.close();
    }
  });
