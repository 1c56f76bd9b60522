import { join } from 'node:path';
import { systemClock } from '../../../../core/kernel/system-clock.ts';
import { openStore } from '../../state/open-store.ts';
import { SnapshotFiles } from '../../store/snapshot-files.ts';
import { KeyEncryptionKeys } from '../../store/rules/sealing.ts';
import { ACTOR } from './actor.ts';
import { onStore, type ExitCode, type StateOptions } from './read.ts';

/**
 * `gatehouse state accept-rollback`: the store went back to an earlier version, and its operator knows what that brings back: keys that
 * were revoked since, and caps that were changed. The gateway must not run.
 */
export const acceptRollbackCommand = (options: StateOptions): Promise<0 | 1 | 2> =>
  onStore(options, async ({ folder, state }): Promise<ExitCode> => {
    const ring = KeyEncryptionKeys.parse(state.encryptionKeys?.reveal());
    const store = await openStore(state, systemClock);
    try {
      const { version } = await store.entities.load(0);
      const files = new SnapshotFiles(join(folder, 'snapshots'), ring.derive('snapshot'));
      const later = files.newest();
      if (later <= version) {
        options.out(`${folder}: version ${version}; no later version was seen, so there is nothing to accept\n`);
        return 0;
      }
      await store.audit.add(
        { action: 'accept_rollback', kind: 'store', id: folder, reason: `version ${later} to ${version}` },
        ACTOR,
      );
      files.forgetAfter(version);
      options.out(`${folder}: version ${version} is accepted in place of version ${later}\n`);
      return 0;
    } finally {
      await store.close();
    }
  });
