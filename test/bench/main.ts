/**
 * `npm run bench`, `npm run bench -- quick`, or `npm run bench -- responses`: CPU time per request of Gatehouse and others, each as a
 * ratio to a bare proxy in the same run. README.md here has the method. The first measures all rows and writes docs/bench.json.
 * `npm run bench -- plugins` measures plugins and guards beside Gatehouse without them, and writes docs/bench-plugins.json. With
 * `BENCH_BEFORE=DIR` it measures the build in DIR beside them too. `BENCH_SHORT=1` shows in three minutes that a run works.
 * `npm run bench -- money` measures the money of a request alone, and writes docs/bench-money.json.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
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
import { MONEY_RESULTS, PLUGINS_RESULTS, RESULTS, WITHOUT_PLUGIN } from './table.ts';
import { CHAT_PATH, targetsFor } from './targets.ts';
import { RUNS, WORKLOAD_IDS, WORKLOADS, type Run, type TargetId, type WorkloadId } from './workloads.ts';

const WINDOW_SECONDS = 3;
/** A window in which other programs took more than this share of the core is repeated. */
const MOST_FOREIGN = 0.12;
/** Windows of each of two clients that are compared. */
const TURNS = 4;
/** Pairs of windows of a base and what runs beside it. */
const PAIRS = 6;

/** Its figures say nothing. */
const SHORT = { rounds: 1, warmUp: 1 } as const;

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

/** Ends after four times the time at the latest: a slow upstream may keep the gateway idle. */
async function warmUp(gateway: Pinned, load: Load, cpuSeconds: number, requests: number): Promise<void> {
  const [cpu, time] = [cpuNs(gateway.pid), performance.now()];
  let sent = 0;
  do sent += await runWrk({ ...load, seconds: 1 });
  while (
    (cpuNs(gateway.pid) - cpu < cpuSeconds * 1e9 || sent < requests) &&
    performance.now() - time < cpuSeconds * 4000
  );
}

type Figures = Pick<BenchWindow, 'us' | 'foreign' | 'toChat'>;

/** The least disturbed of up to `tries` windows. */
async function measure(gateway: Pinned, load: Load, tries: number): Promise<Figures> {
  let best = { us: Number.NaN, foreign: Number.POSITIVE_INFINITY };
  for (let count = 0; count < tries && best.foreign > MOST_FOREIGN; count += 1) {
    const [core, cpu] = [coreTime(), cpuNs(gateway.pid)];
    const requests = await runWrk(load);
    const own = cpuNs(gateway.pid) - cpu;
    const after = coreTime();
    const foreign = Math.max(0, (after.busyNs - core.busyNs - own) / (after.totalNs - core.totalNs));
    if (foreign < best.foreign) best = { us: own / 1000 / requests, foreign };
  }
  return best;
}

/** The client and a client of chat completions in turns. The one that begins changes with each turn. */
async function measureInTurns(gateway: Pinned, load: Load, chat: Load, tries: number): Promise<Figures> {
  const windows: Figures[] = [];
  const quotients: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const first = await measure(gateway, turn % 2 === 0 ? load : chat, tries);
    const second = await measure(gateway, turn % 2 === 0 ? chat : load, tries);
    const [own, other] = turn % 2 === 0 ? [first, second] : [second, first];
    windows.push(own);
    quotients.push(own.us / other.us);
  }
  const middle = (of: 'us' | 'foreign'): number => median(windows.map((one) => one[of]));
  return { us: middle('us'), foreign: middle('foreign'), toChat: median(quotients) };
}

/** Each round starts a new process of each target in turn: start to start, the same code differs by up to a quarter. */
async function measureAll(run: Run, folder: string): Promise<readonly BenchWindow[]> {
  const windows: BenchWindow[] = [];
  const targets = targetsFor(Object.keys(run.targets) as TargetId[], folder);
  for (let round = 0; round < run.rounds; round += 1) {
    for (const [target, { command, headers, path = CHAT_PATH }] of targets) {
      const gateway = startPinned(command, { core: GATEWAY_CORE, stdout: 'emptied' });
      await firstReply(gateway, { path, headers: headers(9001) }, requestBody(1, false, apiOf(path)));
      for (const workload of run.targets[target]!) {
        const { port, connections } = WORKLOADS[workload];
        const loadOf = (of: string): Load => {
          const body = bodyFile(folder, workload, apiOf(of));
          return { path: of, headers: headers(port), body, connections, seconds: WINDOW_SECONDS };
        };
        const own = loadOf(path);
        await warmUp(gateway, own, run.warmUp, WORKLOADS[workload].warm);
        const chat = path === CHAT_PATH ? undefined : loadOf(CHAT_PATH);
        if (chat) await warmUp(gateway, chat, run.warmUp, WORKLOADS[workload].warm);
        const figures = chat
          ? await measureInTurns(gateway, own, chat, run.tries)
          : await measure(gateway, own, run.tries);
        windows.push({ round, target, workload, ...figures });
        console.log(`${round + 1}/${run.rounds} ${target} ${workload}: ${figuresText(figures)}`);
      }
      await stopPinned(gateway);
    }
  }
  return windows;
}

/**
 * The base and each other target beside it, on the same core in windows of a second by turns: minutes of one machine differ by more than
 * plugins do. Both are in one process.
 */
async function measureBeside(run: Run, folder: string): Promise<readonly BenchWindow[]> {
  const windows: BenchWindow[] = [];
  const targets = targetsFor(Object.keys(run.targets) as TargetId[], folder);
  const base = targets.get(run.base)!;
  for (let round = 0; round < run.rounds; round += 1) {
    for (const [target, beside] of targets) {
      if (target === run.base) continue;
      const gateway = startPinned(beside.command, { core: GATEWAY_CORE, stdout: 'emptied' });
      const both = [base, beside];
      for (const { headers, port } of both)
        await firstReply(gateway, { path: CHAT_PATH, headers: headers(9001), port }, requestBody(1, false, 'chat'));
      for (const workload of run.targets[target]!) {
        const { port: upstream, connections, warm } = WORKLOADS[workload];
        const body = bodyFile(folder, workload, 'chat');
        const loads = both.map(({ headers, port }): Load => ({
          path: CHAT_PATH,
          headers: headers(upstream),
          port,
          body,
          connections,
          seconds: 1,
        }));
        for (const load of loads) await warmUp(gateway, load, run.warmUp, warm);
        const pairs: (readonly Figures[])[] = [];
        for (let turn = 0; turn < PAIRS; turn += 1) {
          const pair: Figures[] = [];
          for (const index of turn % 2 === 0 ? [0, 1] : [1, 0])
            pair[index] = await measure(gateway, loads[index]!, run.tries);
          pairs.push(pair);
        }
        const middle = (index: number, of: 'us' | 'foreign'): number => median(pairs.map((pair) => pair[index]![of]));
        const toBase = median(pairs.map(([one, other]) => other!.us / one!.us));
        windows.push({
          round,
          target: run.base,
          workload,
          us: middle(0, 'us'),
          foreign: middle(0, 'foreign'),
          toBase: 1,
        });
        windows.push({ round, target, workload, us: middle(1, 'us'), foreign: middle(1, 'foreign'), toBase });
        console.log(
          `${round + 1}/${run.rounds} ${target} ${workload}: ${middle(1, 'us').toFixed(1)} µs, ${toBase.toFixed(3)}`,
        );
      }
      await stopPinned(gateway);
    }
  }
  return windows;
}

function figuresText({ us, foreign, toChat }: Figures): string {
  const quotient = toChat === undefined ? '' : `, ÷ chat ${toChat.toFixed(2)}`;
  return `${us.toFixed(1)} µs${quotient}, foreign ${foreign.toFixed(2)}`;
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
  return { command: run.command, ...hereAndNow(), rows: rowsOf(windows, run.base), starts };
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
    throw new Error('usage: npm run bench [-- quick|responses|plugins|money]');
  if (process.platform !== 'linux' || cpus().length < 2) throw new Error('npm run bench needs Linux with two cores');
  const known: Run = RUNS[mode as keyof typeof RUNS];
  const run = process.env['BENCH_SHORT'] === '1' ? { ...known, ...SHORT } : known;
  execFileSync(packageFile('test/bench/install-tools.sh'), {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  });
  await assertPortsFree();
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  writeFiles(folder);
  const mocks = await startMocks(folder);
  try {
    const windows = await (run.base === 'bare' ? measureAll : measureBeside)(run, folder);
    const starts = run.starts ? await measureStarts(run.rounds) : [];
    const results = resultsOf(run, windows, starts);
    console.log(`\n${benchText(results, run.base === 'bare' ? undefined : WITHOUT_PLUGIN)}`);
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
