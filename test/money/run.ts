import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CounterState } from '../../src/state/counters.ts';
import type { LedgerRow } from '../../src/state/ledger.ts';
import { Engine } from '../../src/state/sqlite/engine.ts';
import type { LedgerPlace } from '../../src/state/sqlite/ledger.ts';
import { ACTIONS, MAX_OUTPUT, PRICES, startBilling, type Action } from './bill.ts';
import { compare, type Comparison } from './compare.ts';
import { freePort, GatewayProcess } from './gateway.ts';

export interface MoneyOptions {
  /** The run ends after so many faults. */
  readonly faults?: number | undefined;
  /** The run ends after so long. */
  readonly ms?: number | undefined;
  readonly workers?: number | undefined;
  readonly seed: number;
  /** Between two faults, at most. */
  readonly pauseMs: number;
  readonly say?: (line: string) => void;
}

export interface MoneyResult extends Comparison {
  readonly faults: Readonly<Record<Fault, number>>;
  readonly replayedTwice: number;
  readonly requests: number;
  /** Of the budget that counts everything. */
  readonly counter: CounterState | undefined;
  /** Sum of all rows. */
  readonly ledgerNano: number;
}

const FAULTS = ['kill', 'kill worker', 'end'] as const;
export type Fault = (typeof FAULTS)[number];

const KEY = 'gatehouse-money-key-0123456789';
const CLIENTS = 6;
/** The ledger of a day distinguishes 50,000 models. */
const MODELS = 40_000;
const DAY = 86_400_000;

/** Numbers of a seeded generator (Park and Miller), so that a failure has the same order again. */
function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function writeConfigs(
  folder: string,
  { upstream, port, statusPort }: { upstream: string; port: number; statusPort: number },
): string {
  const configs = join(folder, 'configs');
  mkdirSync(join(configs, 'gateway'), { recursive: true });
  const write = (name: string, value: object): void => writeFileSync(join(configs, name), JSON.stringify(value));
  write('server.yaml', {
    listen: { host: '127.0.0.1', port },
    status: { host: '127.0.0.1', port: statusPort },
    admin: { enabled: false },
    default_config: 'main',
    drain: { delay: '0s', timeout: '2s' },
    telemetry: { log: { level: 'warn', access: 'off' } },
    state: { store: { type: 'sqlite', dir: join(folder, 'state') } },
  });
  const entry = (slug: string) => ({ slug, provider: 'simulator', base_url: upstream, allow_insecure: true });
  write('catalog.yaml', { providers: [entry('one'), entry('two')] });
  write('prices.yaml', { prices: [{ model: '*', usd: PRICES }] });
  write('keys.yaml', {
    keys: [{ id: 'money', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '100000 USD', period: 'total' }] }],
  });
  write('gateway/main.yaml', {
    strategy: { mode: 'fallback' },
    targets: ['@one', '@two'].map((provider) => ({ provider, retry: { attempts: 1, on_status_codes: [503] } })),
  });
  return configs;
}

/** Sends requests one after the other, each for a model of its own, until it is stopped. */
class Client {
  readonly #url: string;
  readonly #random: () => number;
  readonly #next: () => number;
  #stopped = false;
  sent = 0;

  constructor(url: string, random: () => number, next: () => number) {
    this.#url = url;
    this.#random = random;
    this.#next = next;
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      const action = ACTIONS[Math.floor(this.#random() * ACTIONS.length)]!;
      const leaves = action === 'slow-stream' && this.#random() < 0.5;
      const isSent = await this.#send(action, leaves).catch(() => false);
      if (!isSent) await sleep(30);
      await sleep(this.#random() * 30);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** @param leaves the client disconnects in the middle of its stream */
  async #send(action: Action, leaves: boolean): Promise<boolean> {
    const stream = ['stream', 'slow-stream', 'no-usage', 'cut'].includes(action);
    const reply = await fetch(`${this.#url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({
        model: `m-${this.#next()}`,
        max_tokens: MAX_OUTPUT,
        messages: [{ role: 'user', content: action }],
        ...(stream && { stream, stream_options: { include_usage: true } }),
      }),
    });
    this.sent += 1;
    const reader = reply.body!.getReader();
    for (let pieces = 0; ; pieces += 1) {
      const { done } = await reader.read();
      if (done) return true;
      if (leaves && pieces === 1) {
        await reader.cancel();
        return true;
      }
    }
  }
}

/** A gateway under faults, beside an upstream that bills; at the end, its ledger beside the bill. */
export async function runMoney({
  faults = Infinity,
  ms = Infinity,
  workers,
  seed,
  pauseMs,
  say = () => {},
}: MoneyOptions): Promise<MoneyResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-money-'));
  const random = randomOf(seed);
  const upstream = await startBilling(randomOf(seed + 1));
  const [port, statusPort] = [await freePort(), await freePort()];
  const configs = writeConfigs(folder, { upstream: upstream.url, port, statusPort });
  const gateway = new GatewayProcess(
    ['--configs', configs, ...(workers === undefined ? [] : ['--workers', String(workers)])],
    `http://127.0.0.1:${statusPort}`,
  );
  let model = 0;
  const clients = Array.from(
    { length: CLIENTS },
    (_, number) => new Client(`http://127.0.0.1:${port}`, randomOf(seed + 10 + number), () => (model += 1) % MODELS),
  );
  const done: Record<Fault, number> = { kill: 0, 'kill worker': 0, end: 0 };
  const spools = new SpoolCopies(join(folder, 'state', 'spool'), join(folder, 'copies'));
  try {
    await gateway.start();
    const running = clients.map((client) => client.run());
    const from = performance.now();
    let said = from;
    for (let count = 0; count < faults && performance.now() - from < ms; count += 1) {
      await sleep(100 + random() * pauseMs);
      const fault = faultOf(random(), workers);
      done[fault] += 1;
      if (fault === 'kill worker') {
        const pids = gateway.workers;
        const pid = pids[Math.floor(random() * pids.length)];
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
        continue;
      }
      await gateway.end(fault === 'kill' ? 'SIGKILL' : 'SIGTERM');
      spools.restore();
      if (random() < 0.4) spools.copy();
      await gateway.start();
      if (performance.now() - said < 60_000) continue;
      said = performance.now();
      say(`${Math.round((said - from) / 60_000)} min: ${count + 1} faults, ${model} requests`);
    }
    for (const client of clients) client.stop();
    await Promise.all(running);
    // The last replays: of the last killed process, and of copies that were replayed before.
    await gateway.end('SIGTERM');
    spools.restore();
    await gateway.start();
    await until(() => readdirSync(join(folder, 'state', 'spool')).length <= (workers ?? 1), 'all spools are replayed');
    await gateway.end('SIGTERM');
    const { rows, counter } = readStore(join(folder, 'state'));
    const left = readdirSync(join(folder, 'state', 'spool'));
    const found = compare(upstream.charges, rows);
    const problems = left.length > 0 ? [...found.problems, `spools are left: ${left.join(', ')}`] : found.problems;
    return {
      ...found,
      problems,
      faults: done,
      replayedTwice: spools.restored,
      requests: clients.reduce((sum, { sent }) => sum + sent, 0),
      counter,
      ledgerNano: rows.reduce((sum, { nano }) => sum + nano, 0),
    };
  } catch (error) {
    say(gateway.text);
    throw error;
  } finally {
    await gateway.end('SIGKILL');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
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

/** Spools that have been replayed and come back, as from a backup: a second replay changes nothing. */
class SpoolCopies {
  readonly #spool: string;
  readonly #copies: string;
  restored = 0;

  constructor(spool: string, copies: string) {
    this.#spool = spool;
    this.#copies = copies;
  }

  copy(): void {
    if (existsSync(this.#spool)) cpSync(this.#spool, this.#copies, { recursive: true });
  }

  restore(): void {
    if (!existsSync(this.#copies)) return;
    this.restored += readdirSync(this.#copies).length;
    cpSync(this.#copies, this.#spool, { recursive: true });
    rmSync(this.#copies, { recursive: true });
  }
}

function readStore(folder: string): { readonly rows: LedgerRow[]; readonly counter: CounterState | undefined } {
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
    return { rows, counter: engine.calls.countersAfter(now, undefined)[0] };
  } finally {
    engine.close();
  }
}
