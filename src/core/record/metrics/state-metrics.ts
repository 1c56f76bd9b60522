import type { MetricSpec } from './metric-spec.ts';

/** The state store and the keys of files and store. */
export const STATE_METRICS = {
  keysExpiring: {
    type: 'gauge',
    name: 'gatehouse_keys_expiring',
    help: 'Gateway keys that expire within so many days (alerts.key_expiry) and have not expired, of files and of the state store, every minute.',
    labels: ['days'],
    aggregator: 'primary',
  },
  keysMisconfigured: {
    type: 'gauge',
    name: 'gatehouse_keys_misconfigured',
    help: 'Gateway keys that are refused because something that they name does not exist or is not valid.',
    labels: [],
    aggregator: 'primary',
    zero: [{}],
  },
  stateObjects: {
    type: 'gauge',
    name: 'gatehouse_state_objects',
    help: 'Objects of the state store that serve, by kind.',
    labels: ['kind'],
    aggregator: 'primary',
  },
  stateUp: {
    type: 'gauge',
    name: 'gatehouse_state_up',
    help: 'Whether the state store answers: 1 or 0. Without a state store there is no series.',
    labels: [],
    aggregator: 'primary',
  },
  stateVersion: {
    type: 'gauge',
    name: 'gatehouse_state_version',
    help: 'Version of the objects of the state store that serve.',
    labels: [],
    aggregator: 'primary',
  },
  stateVersionLag: {
    type: 'gauge',
    name: 'gatehouse_state_version_lag',
    help: 'Versions of the state store that are written and do not serve yet.',
    labels: [],
    aggregator: 'primary',
  },
  stateLastLoad: {
    type: 'gauge',
    name: 'gatehouse_state_last_load_timestamp_seconds',
    help: 'When the state store answered last, in seconds since 1970. Without an answer since the start: when its snapshot was written.',
    labels: [],
    aggregator: 'primary',
  },
  stateBackup: {
    type: 'gauge',
    name: 'gatehouse_state_last_backup_timestamp_seconds',
    help: 'When the last backup of `state.backup` ended, in seconds since 1970.',
    labels: [],
    aggregator: 'primary',
  },
  stateBackupFailures: {
    type: 'counter',
    name: 'gatehouse_state_backup_failures_total',
    help: 'Backups of `state.backup` that failed.',
    labels: [],
    zero: [{}],
  },
} as const satisfies Record<string, MetricSpec>;
