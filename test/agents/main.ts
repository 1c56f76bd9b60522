import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { AGENTS } from './agents.ts';
import { CASES, type Outcome } from './cases.ts';
import { install, versionOf } from './install.ts';
import { writePages } from './pages.ts';
import { writeResults, type Result } from './results.ts';
import { openStage, runCell, type Cell, type Stage } from './run-cell.ts';
import { UPSTREAMS } from './upstreams.ts';

/**
 * `npm run test:agents -- [AGENT] [CASE] [UPSTREAM] [--smoke] [--write] [--show] [--dump=FILE]`: real agents through a real gateway to
 * scripted upstreams. `all` stands for every agent, case or upstream.
 */

const IN_NAMESPACE = 'GATEHOUSE_AGENTS_ISOLATED';

const args = process.argv.slice(2);
const words = args.filter((word) => !word.startsWith('--'));
const given = new Set(args);
const dump = args.find((word) => word.startsWith('--dump='))?.slice('--dump='.length);

function chosen<T extends { readonly name: string }>(all: readonly T[], word = 'all'): readonly T[] {
  const found = word === 'all' ? all : all.filter(({ name }) => name === word);
  if (found.length === 0) throw new Error(`There is no ${word}: ${all.map(({ name }) => name).join(', ')}.`);
  return found;
}

function cells(): Cell[] {
  // One turn with tools, each agent at an upstream of another API than its own.
  if (given.has('--smoke')) return AGENTS.map((agent, at) => smokeCell(agent, at));
  const [agent, row, upstream] = words;
  return chosen(AGENTS, agent).flatMap((agent) =>
    chosen(UPSTREAMS, upstream).flatMap((kind) =>
      chosen(CASES, row)
        .filter(({ name }) => agent.lacks?.[name] === undefined)
        .map((row) => ({ agent, kind, row })),
    ),
  );
}

function smokeCell(agent: Cell['agent'], at: number): Cell {
  const row = CASES.find(({ name }) => name === 'tools');
  const kind = UPSTREAMS[at % UPSTREAMS.length];
  if (!row || !kind) throw new Error('The smoke run needs the case "tools".');
  return { agent, kind, row };
}

async function check(cell: Cell, stage: Stage): Promise<Result> {
  const { agent, kind, row } = cell;
  const outcome = await runCell(cell, stage);
  const fault = row.verdict(outcome);
  const { ms, turns } = outcome;
  const about = `${agent.name} ${row.name} ${kind.name} ${ms} ms, ${turns} turns${thoughtOf(outcome)}`;
  console.log(fault === undefined ? `ok   ${about}` : `FAIL ${about}: ${fault}`);
  if (given.has('--show') || fault !== undefined) report(outcome);
  return {
    agent: agent.name,
    upstream: kind.name,
    case: row.name,
    version: versionOf(agent.package) ?? 'unknown',
    date: new Date().toISOString().slice(0, 10),
    ...(fault !== undefined && { fault }),
  };
}

const thoughtOf = ({ thought: { asked, signed } }: Outcome): string =>
  asked ? `, thinks${signed ? ', signed' : ''}` : '';

function report({ output, refused, code }: Outcome): void {
  for (const refusal of refused) console.log(`     refused: ${refusal.slice(0, 300)}`);
  console.log(`     exit ${code}`);
  console.log(output.slice(-3000).replaceAll(/^/gm, '     | '));
}

async function inside(): Promise<number> {
  const stage = await openStage(dump);
  try {
    const results: Result[] = [];
    for (const cell of cells()) {
      const result = await check(cell, stage);
      results.push(result);
      // At once: a run of all cells takes long, and may be ended.
      if (given.has('--write')) writeResults([result]);
    }
    if (given.has('--write')) writePages();
    const failed = results.filter(({ fault }) => fault !== undefined);
    console.log(`${results.length - failed.length} of ${results.length} cells passed`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    await stage.close();
  }
}

const UNSHARE = ['-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

/** Asked before the agents are installed. */
function canIsolate(): boolean {
  const { status, error, stderr } = spawnSync('unshare', [...UNSHARE, 'true'], { encoding: 'utf8' });
  if (status === 0) return true;
  const why = error?.message ?? stderr.trim();
  console.error(`No agent was run: a network with loopback alone needs \`unshare -rn\` and \`ip\`. ${why}`);
  return false;
}

/** Runs this file again in a network namespace that has loopback alone. */
function isolate(): number {
  try {
    install();
  } catch (error) {
    console.error(`No agent was run: \`npm ci\` of their packages failed. ${String(error)}`);
    return 3;
  }
  const again = [...UNSHARE, process.execPath, import.meta.filename, ...args];
  return spawnSync('unshare', again, { stdio: 'inherit', env: { ...process.env, [IN_NAMESPACE]: '1' } }).status ?? 1;
}

if (process.env[IN_NAMESPACE] === undefined) {
  process.exitCode = canIsolate() ? isolate() : 3;
} else {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) throw new Error(`Agents must not reach a network, and there is ${others.join(', ')}.`);
  process.exitCode = await inside();
}
