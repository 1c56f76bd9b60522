import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { parseDuration } from '../../../core/kernel/units.ts';
import type { Secret } from '../../../plugin/index.ts';

export interface BackupSettings {
  readonly dir: string;
  readonly everyMs: number;
  /** Copies that are kept. */
  readonly keep: number;
}

export interface StateSettings {
  /** The folder of the store; undefined: a temporary one, for `type: memory`. */
  readonly folder: string | undefined;
  /** Kinds of objects that the store may hold. */
  readonly owns: readonly string[];
  /** Text of `KeyEncryptionKeys`. Undefined: the store takes no secrets. */
  readonly encryptionKeys: Secret | undefined;
  /** Secrets of digests of keys, by reference. */
  readonly peppers: Secret | undefined;
  /** Undefined: none are made. */
  readonly backup: BackupSettings | undefined;
  /** Time zone of budgets that name none. */
  readonly timeZone: string;
  readonly whenDown: {
    readonly keys: 'snapshot' | 'refuse';
    readonly maxAgeMs: number;
    readonly budgets: 'refuse' | 'allow';
  };
  readonly retention: RetentionDays;
}

/** Days for which the state store keeps what grows with time. */
export interface RetentionDays {
  /** Rows of the ledger. */
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
    owns = [],
    encryption_keys: encryptionKeys,
    peppers,
    backup,
    time_zone: timeZone,
    when_down: down = {},
    retention = {},
  } = file;
  return {
    folder: store.dir,
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
  };
}
