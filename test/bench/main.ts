/**
 * `npm run bench`, `npm run bench -- quick`, or `npm run bench -- responses`: CPU time per request of Gatehouse and others, each as a
 * ratio to a bare proxy in the same run. README.md here has the method. The first measures all rows and writes docs/bench.json.
 * `npm run bench -- plugins` measures plugins and guards beside Gatehouse without them, and writes docs/bench-plugins.json. With
 * `BENCH_BEFORE=DIR` it measures the build in DIR beside them too. `npm run bench -- more` measures many keys, configs, targets,
 * headers and budgets in the same way. `BENCH_SHORT=1` shows in three minutes that a run works.
 * `npm run bench -- money` measures the money of a request alone, and writes docs/bench-money.json.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { openBursts, type Bursts } from './bursts.ts';
import {
  benchText,
  median,
  overLimits,
  rowsOf,
  type BenchResults,
  type BenchWindow,
  type StartRow,
} from './figures.ts';
import { assertPortsFree, firstReply, runWrk, untilListening, type Load } from './load.ts';
import { moneyText } from './money-figures.ts';
import { MOCK_CONF, PROXY_CONF } from './nginx.ts';
import { coreTime, cpuNs, GATEWAY_CORE, LOAD_CORE, startPinned, stopPinned, type Pinned } from './processes.ts';
import { requestBody } from './replies.ts';
import { measureStarts } from './starts.ts';
import { BASES, MONEY_RESULTS, PLUGINS_RESULTS, RESULTS } from './table.ts';
import { CHAT_PATH, targetsFor, type Target } from './targets.ts';
import { RUNS, WORKLOAD_IDS, WORKLOADS, type Run, type TargetId, type WorkloadId } from './workloads.ts';

/** A window in which other programs took more than this share of the core is repeated. */
const MOST_FOREIGN = 0.12;

/** Its figures say nothing. */
const SHORT = { rounds: 1, warmUp: 1, turns: 1 } as const;

type Api = 'chat' | 'responses';
const apiOf = (path: string): Api => (path === CHAT_PATH ? 'chat' : 'responses');
const bodyFile = (folder: string, id: WorkloadId, api: Api): string => join(folder, `${id}-${api}.json`);

function writeFiles(folder: string): void {
  writeFileSync(join(folder, 'mock.conf'), MOCK_CONF);
  writeFileSync(join(folder, 'proxy.conf'), PROXY_CONF);
  for (const id of WORKLOAD_IDS)
    for (const api of ['chat', 'responses'] as const)
      writeFileSync(bodyFile(folder, id, api), requestBody(WORKLOADS[id].kb, WORKLOADS[id].stream, api));
}

async function startMocks(folder: string): Promise<readonly Pinned[]> {
  const json = startPinned(['nginx', '-p', folder, '-c', 'mock.conf'], { core: LOAD_CORE });
  const streams = startPinned([process.execPath, packageFile('test/bench/stream-upstream.ts')], { core: LOAD_CORE });
  await untilListening(9001, json);
  await untilListening(9003, streams);
  return [json, streams];
}

type Figures = Pick<BenchWindow, 'us' | 'foreign'>;

/** One client of one gateway. */
interface Client {
  readonly gateway: Pinned;
  readonly load: Load;
  /** Undefined: windows are those of wrk. */
  readonly bursts: Bursts | undefined;
}

/** Ends after four times the time at the latest: a slow upstream may keep the gateway idle. */
async function warmUp({ gateway, load }: Client, cpuSeconds: number, requests: number): Promise<void> {
  const [cpu, time] = [cpuNs(gateway.pid), performance.now()];
  let sent = 0;
  do sent += await runWrk(load);
  while (
    (cpuNs(gateway.pid) - cpu < cpuSeconds * 1e9 || sent < requests) &&
    performance.now() - time < cpuSeconds * 4000
  );
}

/** The least disturbed of up to `tries` windows. */
async function measure({ gateway, load, bursts }: Client, tries: number): Promise<Figures> {
  let best = { us: Number.NaN, foreign: Number.POSITIVE_INFINITY };
  for (let count = 0; count < tries && best.foreign > MOST_FOREIGN; count += 1) {
    const [core, cpu] = [coreTime(), cpuNs(gateway.pid)];
    const requests = await (bursts?.send() ?? runWrk(load));
    const own = cpuNs(gateway.pid) - cpu;
    const after = coreTime();
    const foreign = Math.max(0, (after.busyNs - core.busyNs - own) / (after.totalNs - core.totalNs));
    if (foreign < best.foreign) best = { us: own / 1000 / requests, foreign };
  }
  return best;
}

/** Turns of windows, one for each client. The one that begins changes with each turn. */
async function measureInTurns(
  clients: readonly Client[],
  { turns: count, tries }: Run,
): Promise<readonly (readonly Figures[])[]> {
  const turns: (readonly Figures[])[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const windows: Figures[] = [];
    for (let step = 0; step < clients.length; step += 1) {
      const index = (turn + step) % clients.length;
      windows[index] = await measure(clients[index]!, tries);
    }
    turns.push(windows);
  }
  return turns;
}

/**
 * The base and each other target beside it, on the same core by turns: minutes of one machine differ by more than the targets do. Each round
 * starts new processes: start to start, the same code differs by up to a quarter. For that reason, a plugin and its base are in one process.
 */
async function measureAll(run: Run, folder: string): Promise<readonly BenchWindow[]> {
  const windows: BenchWindow[] = [];
  const targets = targetsFor(Object.keys(run.targets) as TargetId[], folder);
  const base = targets.get(run.base)!;
  const start = async ({ command, headers, port, path = CHAT_PATH }: Target): Promise<Pinned> => {
    const gateway = startPinned(command, { core: GATEWAY_CORE, stdout: 'emptied' });
    await firstReply(gateway, { path, headers: headers(9001), port }, requestBody(1, false, apiOf(path)));
    return gateway;
  };
  for (let round = 0; round < run.rounds; round += 1) {
    const baseProcess = run.base === 'bare' ? await start(base) : undefined;
    const isWarm = new Set<WorkloadId>();
    for (const [id, target] of targets) {
      if (id === run.base) continue;
      const gateway = await start(target);
      for (const workload of run.targets[id]!) {
        const { port: upstream, connections, warm, burst } = WORKLOADS[workload];
        const clientOf = ({ headers, port }: Target, path = CHAT_PATH): Client => {
          const body = bodyFile(folder, workload, apiOf(path));
          const load = { path, headers: headers(upstream), port, body, connections, seconds: 1 };
          const bursts = run.bursts ? openBursts(load, burst) : undefined;
          return { gateway: port === base.port ? (baseProcess ?? gateway) : gateway, load, bursts };
        };
        const clients = [clientOf(base), clientOf(target, target.path)];
        if (target.path !== undefined) clients.push(clientOf(target));
        const [first, ...others] = clients;
        if (!isWarm.has(workload)) await warmUp(first!, run.warmUp, warm);
        if (baseProcess) isWarm.add(workload);
        for (const client of others) await warmUp(client, run.warmUp, warm);
        const turns = await measureInTurns(clients, run);
        for (const { bursts } of clients) await bursts?.close();
        const middle = (of: (turn: readonly Figures[]) => number): number => median(turns.map(of));
        const windowOf = (index: number): Figures & Pick<BenchWindow, 'toBase'> => ({
          us: middle((turn) => turn[index]!.us),
          foreign: middle((turn) => turn[index]!.foreign),
          toBase: middle((turn) => turn[index]!.us / turn[0]!.us),
        });
        const [own, ofBase] = [windowOf(1), windowOf(0)];
        const toChat = target.path === undefined ? undefined : middle((turn) => turn[1]!.us / turn[2]!.us);
        windows.push({ target: run.base, workload, ...ofBase });
        windows.push({ target: id, workload, ...own, ...(toChat !== undefined && { toChat }) });
        const text = `${own.us.toFixed(1)} µs, ${own.toBase.toFixed(3)}, foreign ${own.foreign.toFixed(2)}`;
        console.log(`${round + 1}/${run.rounds} ${id} ${workload}: ${text}`);
      }
      await stopPinned(gateway);
    }
    if (baseProcess) await stopPinned(baseProcess);
  }
  return windows;
}

/** The commit, marked if the measured code differs from it. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: packageFile(''), encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', 'src', 'plugins', 'schemas', 'package-lock.json') !== '';
  return git('rev-parse', '--short=12', 'HEAD') + (changed ? ' with changes' : '');
}

const hereAndNow = (): Pick<BenchResults, 'machine' | 'node' | 'commit' | 'date'> => ({
  machine: { cores: cpus().length, cpu: cpus()[0]!.model.trim(), memoryGb: Math.round(totalmem() / 2 ** 30) },
  node: process.version,
  commit: commit(),
  date: new Date().toISOString().slice(0, 10),
});

function resultsOf(run: Run, windows: readonly BenchWindow[], starts: readonly StartRow[]): BenchResults {
  return { command: run.command, ...hereAndNow(), rows: rowsOf(windows), starts };
}

async function money(): Promise<void> {
  const { measureMoney } = await import('./money.ts');
  const results = { ...hereAndNow(), ...(await measureMoney()) };
  writeFileSync(MONEY_RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  console.log(
    `${moneyText(results)}\nWritten to docs/bench-money.json. \`npm run generate\` updates docs/reference/performance.md.`,
  );
}

const FILES: ReadonlyMap<Run, string> = new Map<Run, string>([
  [RUNS.whole, RESULTS],
  [RUNS.plugins, PLUGINS_RESULTS],
]);

async function main([mode = 'whole', ...rest]: readonly string[]): Promise<void> {
  if (mode === 'money' && rest.length === 0) return money();
  if (!Object.hasOwn(RUNS, mode) || rest.length > 0)
    throw new Error('usage: npm run bench [-- quick|responses|plugins|more|money]');
  if (process.platform !== 'linux' || cpus().length < 2) throw new Error('npm run bench needs Linux with two cores');
  const known: Run = RUNS[mode as keyof typeof RUNS];
  const run = process.env['BENCH_SHORT'] === '1' ? { ...known, ...SHORT } : known;
  execFileSync(packageFile('test/bench/install-tools.sh'), {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  });
  await assertPortsFree();
  // It sends the bursts.
  execFileSync('taskset', ['-pc', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  writeFiles(folder);
  const mocks = await startMocks(folder);
  try {
    const windows = await measureAll(run, folder);
    const starts = run.starts ? await measureStarts(run.rounds) : [];
    const results = resultsOf(run, windows, starts);
    console.log(`\n${benchText(results, mode === 'plugins' || mode === 'more' ? BASES[mode] : undefined)}`);
    for (const problem of overLimits(results.rows, run.limits)) {
      console.log(problem);
      process.exitCode = 1;
    }
    // Part of the rows must not replace the published table.
    const file = FILES.get(known);
    if (file === undefined) return;
    writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
    console.log(
      `Written to ${relative(packageFile(''), file)}. \`npm run generate\` updates docs/reference/performance.md.`,
    );
  } finally {
    for (const mock of mocks) await stopPinned(mock);
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
