import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { storeRules } from '../../src/addons/budgets/store/rules/store-rules.ts';
import { readAddress, type DatabaseAddress } from '../../src/addons/postgres/settings/address.ts';
import { openPostgresStore } from '../../src/addons/postgres/store/state-store.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { CounterState } from '../../src/core/ports/counters.ts';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import { GatewayProcess } from '../money/gateway.ts';
import { writeConfigs } from '../money/settings.ts';
import { MAIN } from '../support/built.ts';
import { freePort, type TestPostgres } from '../support/postgres.ts';

const SCHEMA = 'fleet';
const DAY = 86_400_000;

/** Makes a process from the sources one of the next release. */
export const NEXT = { NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'next-release.ts')).href}` };

/** A gateway of a fleet in a process of its own, which may be killed and started again. */
export interface BareGateway {
  readonly gateway: GatewayProcess;
  readonly port: number;
  /** Folder of its spools. */
  readonly spool: string;
}

interface BareSetup {
  readonly upstream: string;
  /** The address of the database. */
  readonly database: string;
  /** Further keys of `state`. */
  readonly state?: object;
  /** Further keys of server.yaml. */
  readonly server?: object;
  /** From the sources, which next-release.ts can extend. */
  readonly isSource?: boolean;
}

/** Not started. @param folder its own, new */
export async function newBareGateway(folder: string, setup: BareSetup): Promise<BareGateway> {
  mkdirSync(folder);
  const [port, statusPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const dir = join(folder, 'state');
  const store = { type: 'postgres', url: `\${env:NONE:-${setup.database}}`, schema: SCHEMA };
  const server = { ...setup.server, state: { store, dir, ...setup.state } };
  const configs = writeConfigs(folder, { upstream: setup.upstream, port, statusPort, adminPort }, { server });
  const args = ['--configs', configs];
  const statusUrl = `http://127.0.0.1:${statusPort}`;
  return {
    gateway: new GatewayProcess(args, statusUrl, ...(setup.isSource ? [] : [MAIN])),
    port,
    spool: join(dir, 'spool'),
  };
}

/** Ends all gateways, and starts them again for the spools of those that were killed or could not write them. Returns how many are left. */
export async function settle(fleet: readonly BareGateway[], env = {}): Promise<number> {
  for (const { gateway } of fleet) await gateway.end('SIGTERM');
  for (const { gateway } of fleet) await gateway.start(env);
  const left = (): number => fleet.reduce((sum, { spool }) => sum + readdirSync(spool).length, 0);
  for (const from = performance.now(); left() > fleet.length && performance.now() - from < 60_000;) await sleep(50);
  for (const { gateway } of fleet) await gateway.end('SIGTERM');
  return left();
}

/** What the store of bare gateways has in the end. */
export async function readFleetStore(postgres: TestPostgres) {
  const store = await openPostgresStore({
    pg,
    address: readAddress(postgres.url()) as DatabaseAddress,
    ca: undefined,
    patience: 20,
    schema: SCHEMA,
    connections: 2,
    listen: false,
    keys: '',
    rules: storeRules,
    clock: systemClock,
  });
  try {
    const span = { from: Date.now() - 2 * DAY, to: Date.now() + DAY };
    const rows: LedgerRow[] = [];
    for await (const piece of store.ledger.rows(span)) rows.push(...piece);
    const [sums] = await store.ledger.rollups({ ...span, by: [], step: 'all' });
    const counters: CounterState[] = [];
    for await (const piece of store.counters.all()) counters.push(...piece);
    return { rows, summedNano: sums?.nano ?? 0, counter: counters.find(({ node }) => node.includes('money')) };
  } finally {
    await store.close();
  }
}
