import { RATE_LIMIT_REFUSALS } from '../../core/record/error-types.ts';
import { each, metric } from '../../core/record/metrics/metric-spec.ts';
import { familiesOf, type Families, type FamiliesOf } from '../../core/record/metrics/metrics.ts';

export const BUDGET_METRICS = {
  rateLimitRefusals: metric({
    name: 'gatehouse_rate_limit_refusals_total',
    help: 'Requests and attempts beyond limits of rates, by what has the limit: organization, team, key, entry (of the catalog), address (without a valid key). limit: requests, tokens, concurrency. An attempt may have fallen through to another target.',
    labels: ['node', 'limit'],
    zero: RATE_LIMIT_REFUSALS,
  }),
  budgetRefusals: metric({
    name: 'gatehouse_budget_refusals_total',
    help: 'Requests that a budget did not admit, by budget and reason: exceeded, unavailable (the process had to ask the store for room).',
    labels: ['budget', 'why'],
  }),
  budgetWaits: metric({
    name: 'gatehouse_budget_waits_total',
    help: 'Attempts that waited for the store, 250 ms at most, because the process had no room of a budget. cap: near (less than a fifth of it is free), far.',
    labels: ['cap'],
    zero: each('cap', ['near', 'far']),
  }),
  budgetSpent: metric({
    name: 'gatehouse_budget_spent',
    help: 'Spent of a budget in its current period, in USD or tokens, every five seconds. A budget without a request since the start has no series.',
    labels: ['budget', 'unit'],
    aggregator: 'max',
  }),
  budgetHeld: metric({
    name: 'gatehouse_budget_held',
    help: 'Reserved of a budget by requests under way, in USD or tokens, every five seconds.',
    labels: ['budget', 'unit'],
  }),
  budgetCap: metric({
    name: 'gatehouse_budget_cap',
    help: 'Cap of a budget, in USD or tokens.',
    labels: ['budget', 'unit'],
    aggregator: 'max',
  }),
  budgetOverruns: metric({
    name: 'gatehouse_budget_overruns_total',
    help: 'Streams that cost more than their reserve: grown (more was reserved, counted each time), continued or cut (the budget had no room, see on_overrun).',
    labels: ['what'],
    zero: each('what', ['grown', 'continued', 'cut']),
  }),
  budgetUnpriced: metric({
    name: 'gatehouse_budget_unpriced_total',
    help: 'Requests that were sent although their price is not known (unknown_price: admit_and_alarm); budgets in USD do not count them.',
    zero: [{}],
  }),
  budgetExpired: metric({
    name: 'gatehouse_budget_expired_holds_total',
    help: 'Reserves whose request ended without a settle; they count as spent.',
    zero: [{}],
  }),
  budgetLeasesLost: metric({
    name: 'gatehouse_budget_leases_lost_total',
    help: 'Leases that the store declared lost, because the process did not report for 30 s.',
    zero: [{}],
  }),
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
  gateways: metric({
    name: 'gatehouse_state_gateways',
    help: 'Gateways on the same state store, which share the limits of rates. A store of one gateway has no series.',
    aggregator: 'primary',
  }),
  settingsHashes: metric({
    name: 'gatehouse_state_settings_hashes',
    help: 'Different settings of the gateways on the same state store: 1, but during a rolling update.',
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
  ledgerRowsWaiting: metric({
    name: 'gatehouse_ledger_rows_waiting',
    help: 'Rows of the ledger that wait for the state store, in memory or in the spool.',
    zero: [{}],
  }),
  ledgerRowsWritten: metric({
    name: 'gatehouse_ledger_rows_written_total',
    help: 'Rows that the state store has taken into the ledger, each once.',
    zero: [{}],
  }),
  ledgerRowsDropped: metric({
    name: 'gatehouse_ledger_rows_dropped_total',
    help: 'Rows that are not in the ledger, by reason: queue_full (neither the store nor the spool could be written, and 100,000 rows waited), store_full (a store in memory has no more room), invalid (the store refused the row: its day was dropped).',
    labels: ['reason'],
    zero: each('reason', ['queue_full', 'store_full', 'invalid']),
  }),
  ledgerLastWrite: metric({
    name: 'gatehouse_ledger_last_write_timestamp_seconds',
    help: 'Time at which the state store last took rows of the ledger, in seconds since 1970. Old while rows wait: the store does not answer.',
    aggregator: 'max',
  }),
  ledgerErrors: metric({
    name: 'gatehouse_ledger_errors_total',
    help: 'Failed writes on the way to the ledger: store (rows wait and are written again), spool (the disk is full or the spool has 1 GiB; a killed process then leaves requests without a row).',
    labels: ['what'],
    zero: each('what', ['store', 'spool']),
  }),
  ledgerExpired: metric({
    name: 'gatehouse_ledger_expired_total',
    help: 'Requests that ended without a settle, or whose process was killed; their row has their reserve (kind expired).',
    zero: [{}],
  }),
  spoolBytes: metric({
    name: 'gatehouse_spool_bytes',
    help: 'Bytes of the spools: what processes have sent and settled, until the state store has it. Bounded by 1 GiB for each process.',
    zero: [{}],
  }),
  spoolsReplayed: metric({
    name: 'gatehouse_spools_replayed_total',
    help: 'Spools of processes that ended before the state store had everything, and that it has now.',
    zero: [{}],
    aggregator: 'primary',
  }),
};

export type BudgetFamilies = FamiliesOf<typeof BUDGET_METRICS>;

export const budgetFamilies = ({ families }: { readonly families: Families }): BudgetFamilies =>
  familiesOf(families, BUDGET_METRICS);
