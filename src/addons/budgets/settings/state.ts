import { relative } from 'node:path';
import type { ServerFile, StateStoreSettings } from '../../../../schemas/types.generated.ts';
import { driverOf, storeDrivers, type StoreDriver } from '../../../core/ports/store-driver.ts';
import type { RestartOnly } from '../../../core/process/restart-only.ts';
import { parseDuration } from '../../../core/kernel/units.ts';
import { parseEncryptionKeys } from '../store/rules/encryption-keys.ts';
import type { Report } from '../../../core/kernel/report.ts';
import type { Secret } from '../../../plugin/index.ts';
import { parsePeppers } from '../../../core/settings/compile/api-keys.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';
import { checkZone } from './time-zones.ts';

export interface BackupSettings {
  readonly dir: string;
  readonly everyMs: number;
  readonly keep: number;
}

export interface StateSettings {
  readonly store: StateStoreSettings;
  /** The folder of what belongs to this gateway alone: its spool, snapshots, bootstrap token. Undefined: the store ends with the process. */
  readonly dir: string | undefined;
  readonly owns: readonly string[];
  /** Text of `KeyEncryptionKeys`. Undefined: the store takes no secrets. */
  readonly encryptionKeys: Secret | undefined;
  /** Secrets of digests of keys, by reference. */
  readonly peppers: Secret | undefined;
  /** Undefined: none are made. */
  readonly backup: BackupSettings | undefined;
  readonly timeZone: string;
  readonly whenDown: {
    readonly keys: 'snapshot' | 'refuse';
    readonly maxAgeMs: number;
    readonly budgets: 'refuse' | 'allow';
  };
  readonly retention: RetentionDays;
  readonly ledgerLabels: readonly string[];
}

export interface RetentionDays {
  readonly ledger: number;
  /** Sums by hour; sums by day follow. */
  readonly hours: number;
  /** Sums by day of days whose rows were dropped. */
  readonly sums: number;
  readonly audit: number;
}

/** `state` of server.yaml with its defaults, times in milliseconds. Undefined: the gateway opens no state store. */
export function compileState(file: ServerFile['state']): StateSettings | undefined {
  if (!file) return undefined;
  const {
    store,
    dir,
    owns = [],
    encryption_keys: encryptionKeys,
    peppers,
    backup,
    time_zone: timeZone,
    when_down: down = {},
    retention = {},
    ledger_labels: ledgerLabels = [],
  } = file;
  return {
    store,
    dir: dir ?? driverOf(store).folderOf(store),
    owns,
    encryptionKeys,
    peppers,
    backup: backup && { dir: backup.dir, everyMs: parseDuration(backup.every ?? '15m'), keep: backup.keep ?? 8 },
    timeZone: timeZone ?? 'UTC',
    whenDown: {
      keys: down.keys ?? 'snapshot',
      maxAgeMs: parseDuration(down.max_age ?? '24h'),
      budgets: down.budgets ?? 'refuse',
    },
    retention: {
      ledger: retention.ledger_days ?? 400,
      hours: retention.hour_days ?? 35,
      sums: retention.sum_days ?? 1096,
      audit: retention.audit_days ?? 2557,
    },
    ledgerLabels,
  };
}

const WITH_NODES: readonly string[] = ['keys', 'teams', 'organizations'];

const ownsOneOf = ({ state }: Pick<ServerFile, 'state'>, kinds: readonly string[]): boolean =>
  (state?.owns ?? []).some((kind) => kinds.includes(kind));

/** The state store may get a budget at any time. */
export const mayStoreBudgets = (server: Pick<ServerFile, 'state'>): boolean =>
  ownsOneOf(server, [...WITH_NODES, 'budgets']);

export const mayStoreLimits = (server: Pick<ServerFile, 'state'>): boolean =>
  ownsOneOf(server, [...WITH_NODES, 'limits']);

interface StateKey extends Omit<RestartOnly, 'read'> {
  readonly read: (state: StateSettings | undefined) => ReturnType<RestartOnly['read']>;
}

const KEYS: readonly StateKey[] = [
  { path: [], read: (state) => (state ? 'on' : 'off') },
  { path: ['store', 'type'], read: (state) => state?.store.type },
  { path: ['store', 'dir'], read: (state) => state?.store.dir },
  { path: ['dir'], read: (state) => (state && state.dir !== state.store.dir ? state.dir : undefined) },
  { path: ['owns'], read: (state) => state?.owns.join(', ') },
  { path: ['encryption_keys'], read: (state) => state?.encryptionKeys?.reveal(), hidden: true },
  { path: ['backup', 'dir'], read: (state) => state?.backup?.dir },
  { path: ['backup', 'every'], read: (state) => state?.backup?.everyMs },
  { path: ['backup', 'keep'], read: (state) => state?.backup?.keep },
  { path: ['when_down', 'keys'], read: (state) => state?.whenDown.keys },
  { path: ['when_down', 'max_age'], read: (state) => state?.whenDown.maxAgeMs },
  { path: ['when_down', 'budgets'], read: (state) => state?.whenDown.budgets },
  { path: ['retention', 'ledger_days'], read: (state) => state?.retention.ledger },
  { path: ['retention', 'hour_days'], read: (state) => state?.retention.hours },
  { path: ['retention', 'sum_days'], read: (state) => state?.retention.sums },
  { path: ['ledger_labels'], read: (state) => state?.ledgerLabels.join(', ') },
  { path: ['retention', 'audit_days'], read: (state) => state?.retention.audit },
];

/** Keys of `state` of server.yaml: the store is opened at the start. */
export const STATE_AT_START: readonly RestartOnly[] = KEYS.map(({ path, read, ...more }) => ({
  ...more,
  path: ['state', ...path],
  read: (_, { state }) => read(compileState(state)),
}));

const MIN_BACKUP_MS = 60_000;
const MIN_STATE_AGE_MS = 60_000;

const NOT_SEALED = {
  alerts: 'no webhook without `state.encryption_keys`, which seal its address and secret',
  providers: 'no entry of the catalog with a credential without `state.encryption_keys`, which seal it',
} as const;

export const checkState: Check = () => ({ server: checkStore });

function checkStore({ state }: ServerFile, report: Report): void {
  if (!state) return;
  const driver = driverOf(state.store);
  checkEntry(state.store, driver, within(report, 'state', 'store'));
  checkDir(state, driver, within(report, 'state'));
  if (state.time_zone !== undefined) checkZone(state.time_zone, within(report, 'state', 'time_zone'));
  checkRing(state.peppers, parsePeppers, within(report, 'state', 'peppers'));
  checkRing(state.encryption_keys, parseEncryptionKeys, within(report, 'state', 'encryption_keys'));
  checkSealed(state, within(report, 'state', 'owns'));
  if (state.backup && typeof driver.copies === 'string')
    report({ path: ['state', 'backup'], on: 'key', message: driver.copies });
  if (state.backup?.every !== undefined && parseDuration(state.backup.every) < MIN_BACKUP_MS)
    report({ path: ['state', 'backup', 'every'], message: '`every` must be at least "1m"' });
  const folder = driver.folderOf(state.store);
  if (state.backup && folder !== undefined && isInside(state.backup.dir, folder))
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

function checkEntry(entry: StateStoreSettings, driver: StoreDriver, report: Report): void {
  for (const key of Object.keys(entry)) {
    if (key === 'type' || driver.keys.includes(key)) continue;
    const other = [...storeDrivers.values()].find(({ keys }) => keys.includes(key))?.type;
    const message = `a store of type \`${entry.type}\` has no \`${key}\`: remove it, or use \`type: ${other}\``;
    report({ path: [key], message });
  }
  driver.check(entry, report);
}

function checkDir({ store, dir }: NonNullable<ServerFile['state']>, { use }: StoreDriver, report: Report): void {
  if (use === 'shared' && dir === undefined)
    report({
      path: ['store', 'type'],
      message: `a store of type \`${store.type}\` needs \`state.dir\`, a local folder for what belongs to this gateway alone`,
    });
  if (use === 'process' && dir !== undefined)
    report({
      path: ['dir'],
      message: `a store of type \`${store.type}\` ends with the process: remove \`dir\`, or use another type`,
    });
}

function checkSealed({ owns = [], encryption_keys: keys }: NonNullable<ServerFile['state']>, report: Report): void {
  for (const [index, kind] of owns.entries())
    if (!keys && (kind === 'alerts' || kind === 'providers'))
      report({
        path: [index],
        severity: 'warning',
        message: `the store takes ${NOT_SEALED[kind]}: \`echo k1:$(openssl rand -base64 32)\` makes one`,
      });
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
