import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CounterState } from '../../src/core/ports/counters.ts';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import { Engine } from '../../src/addons/budgets/store/sqlite/engine.ts';
import type { LedgerPlace } from '../../src/addons/budgets/store/sqlite/ledger.ts';
import { AdminReader } from './admin.ts';
import { ACTIONS, EXACT_ACTIONS, startBilling, type Action } from './bill.ts';
import { Client } from './client.ts';
import { compare, nanoOf, type Comparison } from './compare.ts';
import { freePort, GatewayProcess } from './gateway.ts';
import type { KillPoint } from './kill-points.ts';
import { randomOf } from './random.ts';
import { writeConfigs } from './settings.ts';
import { SpoolCopies } from './spool-copies.ts';
import { differencesIn, readSums, type Sums } from './sums.ts';

export interface MoneyOptions {
  /** Before the faults: so long no process dies, first with charges that are all exact, then with all. */
  readonly calmMs?: number | undefined;
  /** The run ends after so many faults. */
  readonly faults?: number | undefined;
  /** The run ends after so long. */
  readonly ms?: number | undefined;
  /** Instead of faults at random: the process kills itself at each of these, one after the other. */
  readonly points?: readonly KillPoint[] | undefined;
  readonly workers?: number | undefined;
  readonly seed: number;
  /** Between two faults, at most. */
  readonly pauseMs: number;
  readonly clients?: number | undefined;
  /** Between two requests of a client, at most. */
  readonly clientPauseMs?: number | undefined;
  readonly say?: (line: string) => void;
}

/** The sums of a time in which no process died. */
export interface CalmResult extends Sums {
  readonly what: 'exact' | 'all';
  readonly billedNano: number;
}

export interface MoneyResult extends Comparison {
  readonly faults: Readonly<Record<Fault, number>>;
  readonly replayedTwice: number;
  readonly requests: number;
  readonly actions: ReadonlySet<Action>;
  readonly calm: readonly CalmResult[];
  /** What the admin API says at the end, of the rows and of the budget that counts everything. */
  readonly apiNano: number;
  readonly apiSpent: number;
  /** The budget's counter in the store. */
  readonly counter: CounterState | undefined;
  /** Leases that no process has given back. */
  readonly openLeases: number;
  /** Kill points at which the spool does not name the lease yet. */
  readonly killsBeforeNote: number;
}

const FAULTS = ['kill', 'kill worker', 'end', 'kill point'] as const;
export type Fault = (typeof FAULTS)[number];

/** The ledger of a day distinguishes 50,000 models. */
const MODELS = 40_000;
const DAY = 86_400_000;

/** A gateway under faults, beside an upstream that bills; at the end, its ledger and its admin API beside the bill. */
export async function runMoney(options: MoneyOptions): Promise<MoneyResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-money-'));
  const upstream = await startBilling(randomOf(options.seed + 1));
  const [port, statusPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const configs = writeConfigs(folder, { upstream: upstream.url, port, statusPort, adminPort });
  const { workers, say = () => {} } = options;
  const gateway = new GatewayProcess(
    ['--configs', configs, ...(workers === undefined ? [] : ['--workers', String(workers)])],
    `http://127.0.0.1:${statusPort}`,
  );
  const state = join(folder, 'state');
  const api = new AdminReader(`http://127.0.0.1:${adminPort}`, state);
  const traffic = new Traffic(`http://127.0.0.1:${port}`, options);
  const spools = new SpoolCopies(join(state, 'spool'), join(folder, 'copies'));
  const calm: CalmResult[] = [];
  const problems: string[] = [];
  try {
    await gateway.start();
    for (const what of options.calmMs === undefined ? [] : (['exact', 'all'] as const)) {
      traffic.start(what === 'exact' ? EXACT_ACTIONS : ACTIONS);
      await sleep(options.calmMs);
      await traffic.stop();
      const sums = await readSums(api, gateway);
      const billedNano = nanoOf([...upstream.charges.values()].flat());
      problems.push(...differencesIn(sums, what === 'exact' ? billedNano : undefined));
      calm.push({ ...sums, what, billedNano });
      say(`calm, ${what}: ${JSON.stringify(calm.at(-1))}`);
    }
    traffic.start(ACTIONS);
    const faults = new Faults({ gateway, spools, traffic, options });
    await (options.points ? faults.atPoints(options.points) : faults.atRandom());
    await traffic.stop();
    // The last replays: of the last killed process, and of copies that were replayed before.
    await gateway.end('SIGTERM');
    spools.restore();
    await gateway.start();
    await until(() => readdirSync(join(state, 'spool')).length <= (workers ?? 1), 'all spools are replayed');
    const [apiRows, apiSums, [apiBudget]] = [await api.rows(), await api.sums(), await api.budgets()];
    await gateway.end('SIGTERM');
    const { rows, ...budget } = readStore(state);
    const left = readdirSync(join(state, 'spool'));
    if (left.length > 0) problems.push(`spools are left: ${left.join(', ')}`);
    // The bill is compared with what the admin API shows, and that with the files.
    const found = compare(upstream.charges, apiRows);
    if (nanoOf(rows) !== found.ledgerNano || rows.length !== found.rows)
      problems.push(`the files have ${rows.length} rows of ${nanoOf(rows)} nano-USD, the admin API ${found.rows}`);
    return {
      ...found,
      problems: [...found.problems, ...problems, ...faults.problems],
      faults: faults.done,
      replayedTwice: spools.restored,
      requests: traffic.answered,
      actions: new Set([...upstream.charges.values()].flat().map(({ action }) => action)),
      calm,
      apiNano: [...apiSums.values()].reduce((sum, nano) => sum + nano, 0),
      apiSpent: apiBudget?.spent ?? 0,
      killsBeforeNote: options.points?.filter(({ isBeforeNote }) => isBeforeNote).length ?? 0,
      ...budget,
    };
  } catch (error) {
    say(gateway.text);
    throw error;
  } finally {
    await gateway.end('SIGKILL');
    await traffic.stop();
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The clients of a run. */
class Traffic {
  readonly #url: string;
  readonly #options: MoneyOptions;
  #clients: readonly Client[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #model = 0;
  answered = 0;

  constructor(url: string, options: MoneyOptions) {
    this.#url = url;
    this.#options = options;
  }

  start(actions: readonly Action[]): void {
    const { seed, clients = 6, clientPauseMs = 30 } = this.#options;
    const next = (): number => (this.#model += 1) % MODELS;
    const common = { url: this.#url, next, actions, pauseMs: clientPauseMs, leaves: actions === ACTIONS };
    this.#clients = Array.from(
      { length: clients },
      (_, number) => new Client({ ...common, random: randomOf(seed + this.#model + 10 + number) }),
    );
    this.#running = Promise.all(this.#clients.map((client) => client.run()));
  }

  /** Resolves when each client has its last reply. */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.stop();
    await this.#running;
    this.answered += this.#clients.reduce((sum, { answered }) => sum + answered, 0);
    this.#clients = [];
  }
}

interface FaultSetup {
  readonly gateway: GatewayProcess;
  readonly spools: SpoolCopies;
  readonly traffic: Traffic;
  readonly options: MoneyOptions;
}

/** A point that the process does not reach in so long is none. */
const POINT_MS = 20_000;

class Faults {
  readonly #setup: FaultSetup;
  readonly #random: () => number;
  readonly done: Record<Fault, number> = { kill: 0, 'kill worker': 0, end: 0, 'kill point': 0 };
  readonly problems: string[] = [];

  constructor(setup: FaultSetup) {
    this.#setup = setup;
    this.#random = randomOf(setup.options.seed);
  }

  async atRandom(): Promise<void> {
    const { gateway, options } = this.#setup;
    const { faults = Infinity, ms = Infinity, workers, pauseMs, say = () => {} } = options;
    const from = performance.now();
    let said = from;
    for (let count = 0; count < faults && performance.now() - from < ms; count += 1) {
      await sleep(100 + this.#random() * pauseMs);
      const fault = faultOf(this.#random(), workers);
      this.done[fault] += 1;
      if (fault === 'kill worker') {
        const pids = gateway.workers;
        const pid = pids[Math.floor(this.#random() * pids.length)];
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
        continue;
      }
      await gateway.end(fault === 'kill' ? 'SIGKILL' : 'SIGTERM');
      await this.#startAgain();
      if (performance.now() - said < 60_000) continue;
      said = performance.now();
      say(`${Math.round((said - from) / 60_000)} min: ${count + 1} faults`);
    }
  }

  async atPoints(points: readonly KillPoint[]): Promise<void> {
    const { gateway, options } = this.#setup;
    const { say = () => {} } = options;
    await gateway.end('SIGKILL');
    for (const [index, { name, env }] of points.entries()) {
      await this.#startAgain(env);
      if (await gateway.ended(POINT_MS)) this.done['kill point'] += 1;
      else {
        this.problems.push(`the process has not reached ${name}`);
        await gateway.end('SIGKILL');
      }
      if ((index + 1) % 20 === 0) say(`${index + 1} kill points, the last: ${name}`);
    }
    await this.#startAgain();
  }

  async #startAgain(env?: Readonly<Record<string, string>>): Promise<void> {
    const { gateway, spools } = this.#setup;
    spools.restore();
    if (this.#random() < 0.4) spools.copy();
    await gateway.start(env);
  }
}

const faultOf = (number: number, workers: number | undefined): Fault =>
  number < 0.15 ? 'end' : workers !== undefined && number < 0.6 ? 'kill worker' : 'kill';

async function until(condition: () => boolean, what: string): Promise<void> {
  const from = performance.now();
  while (!condition()) {
    if (performance.now() - from > 60_000) throw new Error(`waited in vain until ${what}`);
    await sleep(50);
  }
}

interface StoreContent extends Pick<MoneyResult, 'counter' | 'openLeases'> {
  readonly rows: readonly LedgerRow[];
}

function readStore(folder: string): StoreContent {
  const now = Date.now();
  const owner = { pid: process.pid, boot: 'f'.repeat(32), host: 'test' };
  const engine = new Engine({ folder, owner, keys: '', now });
  try {
    const rows: LedgerRow[] = [];
    let place: LedgerPlace | undefined;
    do {
      const piece = engine.calls.rowsAfter(now, { from: now - 2 * DAY, to: now + DAY }, place);
      rows.push(...piece.rows);
      place = piece.next;
    } while (place);
    // As a start after a long time: all leases of which nothing more was known are lost.
    const lost = engine.calls.reap(Number.MAX_SAFE_INTEGER, undefined);
    const [counter] = engine.calls.countersAfter(now, undefined);
    return { rows, counter, openLeases: lost.filter(({ rest }) => rest > 0).length };
  } finally {
    engine.close();
  }
}
