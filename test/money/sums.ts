import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminReader } from './admin.ts';
import type { GatewayProcess } from './gateway.ts';

/** Sums in nano-USD of a gateway whose process has not died. */
export interface Sums {
  /** By the rows of the admin API. */
  readonly rowsNano: number;
  /** By its usage, which are rollups, and the part that providers reported. */
  readonly usageNano: number;
  readonly usageReportedNano: number;
  readonly budgetSpent: number;
  /** By the counters for Prometheus, which are integers, and the reported part of them. */
  readonly metricNano: number;
  readonly metricReportedNano: number;
}

const COST = 'gatehouse_cost_nano_usd_total';
/** Rows are written behind, the spent of budgets is reported each second. */
const SETTLED_MS = 20_000;

/** Reads the sums when no row waits and the budget has counted them, or after a while as they are. */
export async function readSums(api: AdminReader, gateway: GatewayProcess): Promise<Sums> {
  const from = performance.now();
  for (;;) {
    const sums = await readNow(api, gateway);
    const isSettled = new Set([sums.rowsNano, sums.usageNano, sums.budgetSpent, sums.metricNano]).size === 1;
    if (isSettled || performance.now() - from > SETTLED_MS) return sums;
    await sleep(300);
  }
}

async function readNow(api: AdminReader, gateway: GatewayProcess): Promise<Sums> {
  const usage = await api.sums();
  const rows = await api.rows();
  return {
    rowsNano: rows.reduce((sum, { nano }) => sum + nano, 0),
    usageNano: [...usage.values()].reduce((sum, nano) => sum + nano, 0),
    usageReportedNano: usage.get('told try') ?? 0,
    budgetSpent: (await api.budgets())[0]?.spent ?? 0,
    metricNano: await gateway.metric(COST),
    metricReportedNano: await gateway.metric(COST, 'source="reported"'),
  };
}

/** @param billedNano what all of it has to equal; undefined: some of the charges are estimates */
export function differencesIn(sums: Sums, billedNano: number | undefined): readonly string[] {
  const { rowsNano, usageReportedNano, metricReportedNano } = sums;
  const problems: string[] = [];
  if (rowsNano === 0) problems.push('nothing was billed while no process died');
  for (const name of ['usageNano', 'budgetSpent', 'metricNano'] as const)
    if (sums[name] !== rowsNano) problems.push(`${name} is ${sums[name]} while no process died, the rows ${rowsNano}`);
  if (metricReportedNano !== usageReportedNano)
    problems.push(`Prometheus has ${metricReportedNano} nano-USD as reported, the usage ${usageReportedNano}`);
  if (billedNano !== undefined && billedNano !== rowsNano)
    problems.push(`the upstream has billed ${billedNano} nano-USD, the rows have ${rowsNano}`);
  return problems;
}
