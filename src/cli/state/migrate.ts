import { systemClock } from '../../plugin/index.ts';
import { openStore } from '../../process/state/open-store.ts';
import { changeOf } from '../../process/state/stored-entities.ts';
import { MAX_CHANGES } from '../../state/entities.ts';
import { ACTOR } from './actor.ts';
import { onStore, type ExitCode, type StateOptions } from './read.ts';

/**
 * `gatehouse state migrate`: the store's tables become those of this release, and the objects that `state.owns` names move from the files
 * to the store. The files are left as they are: the output names the entries to remove.
 */
export const migrateCommand = (options: StateOptions & { readonly dryRun: boolean }): Promise<0 | 1 | 2> =>
  onStore(options, async ({ loaded, settings, state, folder }): Promise<ExitCode> => {
    const { out, dryRun } = options;
    const keys = state.owns.includes('keys') ? settings.keys.keys : [];
    const places = keys.map(({ id }, index) => {
      const { file, line, column } = loaded.placeOf('keys.yaml', ['keys', index]);
      return `${file}:${line}:${column}: ${id}`;
    });
    if (dryRun) {
      out(`${folder}: would move ${keys.length} keys\n${places.map((place) => `${place}\n`).join('')}`);
      return 0;
    }
    const store = await openStore(state, systemClock);
    try {
      const known = new Set((await store.entities.load(0)).changed.map(({ kind, id }) => `${kind}/${id}`));
      const changes = keys.filter(({ id }) => !known.has(`keys/${id}`)).map((key) => changeOf(key, systemClock.wall()));
      for (let from = 0; from < changes.length; from += MAX_CHANGES)
        await store.entities.write(changes.slice(from, from + MAX_CHANGES), ACTOR);
      out(
        `${folder}: the tables are those of this release; ${changes.length} keys moved, ${keys.length - changes.length} were there\n`,
      );
      if (keys.length > 0)
        out(`Remove these entries, which the store has now:\n${places.map((place) => `${place}\n`).join('')}`);
      return 0;
    } finally {
      await store.close();
    }
  });
