import type { RestartOnly } from '../../../core/process/restart-only.ts';
import { compileState, type StateSettings } from './state.ts';

interface StateKey extends Omit<RestartOnly, 'read'> {
  readonly read: (state: StateSettings | undefined) => ReturnType<RestartOnly['read']>;
}

const KEYS: readonly StateKey[] = [
  { path: [], read: (state) => (state ? 'on' : 'off') },
  {
    path: ['store', 'type'],
    read: (state) => state && (state.folder === undefined ? 'memory' : 'sqlite'),
  },
  { path: ['store', 'dir'], read: (state) => state?.folder },
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
  { path: ['retention', 'audit_days'], read: (state) => state?.retention.audit },
];

/** Keys of `state` of server.yaml: the store is opened at the start. */
export const STATE_AT_START: readonly RestartOnly[] = KEYS.map(({ path, read, ...more }) => ({
  ...more,
  path: ['state', ...path],
  read: (_, { state }) => read(compileState(state)),
}));
