import { relative } from 'node:path';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { parseDuration } from '../../../core/kernel/units.ts';
import { parseEncryptionKeys } from '../store/rules/encryption-keys.ts';
import type { Report } from '../../../core/kernel/report.ts';
import type { Secret } from '../../../plugin/index.ts';
import { parsePeppers } from '../../../core/settings/compile/peppers.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';
import { checkZone } from '../../../core/settings/checks/time-zones.ts';

const MIN_BACKUP_MS = 60_000;
const MIN_STATE_AGE_MS = 60_000;

const NOT_SEALED =
  'the store takes no webhook without `state.encryption_keys`, which seal its address and secret: `echo k1:$(openssl rand -base64 32)` makes one';

/** Checks `state` of server.yaml. */
export const checkState: Check = () => ({ server: checkStore });

function checkStore({ state }: ServerFile, report: Report): void {
  if (!state) return;
  const { type, dir } = state.store;
  const store = within(report, 'state', 'store');
  if (type === 'sqlite' && dir === undefined)
    store({ path: ['type'], message: 'a store of type `sqlite` needs `dir`, the folder of its files' });
  if (type === 'memory' && dir !== undefined)
    store({ path: ['dir'], message: 'a store in memory has no files: remove `dir`, or use `type: sqlite`' });
  if (state.time_zone !== undefined) checkZone(state.time_zone, within(report, 'state', 'time_zone'));
  checkRing(state.peppers, parsePeppers, within(report, 'state', 'peppers'));
  checkRing(state.encryption_keys, parseEncryptionKeys, within(report, 'state', 'encryption_keys'));
  checkSealed(state, within(report, 'state', 'owns'));
  if (state.backup && type === 'memory')
    report({ path: ['state', 'backup'], on: 'key', message: 'a store in memory has no backups: use `type: sqlite`' });
  if (state.backup?.every !== undefined && parseDuration(state.backup.every) < MIN_BACKUP_MS)
    report({ path: ['state', 'backup', 'every'], message: '`every` must be at least "1m"' });
  if (state.backup && dir !== undefined && isInside(state.backup.dir, dir))
    report({
      path: ['state', 'backup', 'dir'],
      message:
        '`dir` is in the folder of the store, with which its copies would be lost: name a folder of another disk',
    });
  const age = state.when_down?.max_age;
  if (age === undefined) return;
  if (state.when_down?.keys === 'refuse')
    report({
      path: ['state', 'when_down', 'max_age'],
      message: '`keys: refuse` keeps no keys, so `max_age` has no effect: remove one of the two',
    });
  else if (parseDuration(age) < MIN_STATE_AGE_MS)
    report({
      path: ['state', 'when_down', 'max_age'],
      message: `\`max_age\` must be at least "1m", not ${parseDuration(age)} ms: a store that is slow for a moment would refuse its keys`,
    });
}

function checkSealed({ owns = [], encryption_keys: keys }: NonNullable<ServerFile['state']>, report: Report): void {
  const index = owns.indexOf('alerts');
  if (index >= 0 && !keys) report({ path: [index], severity: 'warning', message: NOT_SEALED });
}

function checkRing(ring: Secret | undefined, parse: (text: string) => unknown, report: Report): void {
  if (!ring) return;
  try {
    parse(ring.reveal());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report({ path: [], message: error.message });
  }
}

const isInside = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../');
};
