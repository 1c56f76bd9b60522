import { metric } from './metric-spec.ts';

export const STATE_METRICS = {
  stateUp: metric({
    name: 'gatehouse_state_up',
    help: 'Whether the state store answers: 1 or 0. Without a state store there is no series.',
    aggregator: 'primary',
  }),
  stateVersion: metric({
    name: 'gatehouse_state_version',
    help: 'Version of the objects of the state store that serve.',
    aggregator: 'primary',
  }),
  stateVersionLag: metric({
    name: 'gatehouse_state_version_lag',
    help: 'Versions of the state store that are written and do not serve yet.',
    aggregator: 'primary',
  }),
  stateLastLoad: metric({
    name: 'gatehouse_state_last_load_timestamp_seconds',
    help: 'When the state store answered last, in seconds since 1970. Without an answer since the start: when its snapshot was written.',
    aggregator: 'primary',
  }),
  stateBackup: metric({
    name: 'gatehouse_state_last_backup_timestamp_seconds',
    help: 'When the last backup of `state.backup` ended, in seconds since 1970.',
    aggregator: 'primary',
  }),
  stateBackupFailures: metric({
    name: 'gatehouse_state_backup_failures_total',
    help: 'Backups of `state.backup` that failed.',
    zero: [{}],
  }),
};
