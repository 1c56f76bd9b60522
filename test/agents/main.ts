import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';
import { isLimit, limitOf } from './agent.ts';
import { AGENTS } from './agents.ts';
import { otherApi } from './apis.ts';
import type { Outcome } from './cases.ts';
import { install, versionOf } from './install.ts';
import { writePages } from './pages.ts';
import { applies, CASES } from './rows.ts';
import { writeResults, type Result } from './results.ts';
import { openStage, runCell, type Cell, type Stage } from './run-cell.ts';
import { UPSTREAMS } from './upstreams.ts';

/**
 * `npm run test:agents -- [AGENT] [CASE] [UPSTREAM] [--smoke] [--write] [--show] [--dump=FILE]`: real agents through a real gateway to
 * scripted upstreams. `all` stands for every agent, case or upstream.
 */

const IN_NAMESPACE = 'GATEHOUSE_AGENTS_ISOLATED';

const args = process.argv.slice(2);

function options() {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { smoke: flag, write: flag, show: flag, dump: { type: 'string' } },
  });
  const [agent, row, upstream, ...more] = positionals;
  if (more.length > 0) throw new Error(`Too many words: ${more.join(' ')}.`);
  const cells = values.smoke ? smokeCells() : cellsOf(agent, row, upstream);
  return { ...values, cells };
}

type Options = ReturnType<typeof options>;

function chosen<T extends { readonly name: string }>(all: readonly T[], word = 'all'): readonly T[] {
  const found = word === 'all' ? all : all.filter(({ name }) => name === word);
  if (found.length === 0) throw new Error(`There is no ${word}: ${all.map(({ name }) => name).join(', ')}.`);
  return found;
}

const cellsOf = (agent?: string, row?: string, upstream?: string): readonly Cell[] =>
  chosen(AGENTS, agent).flatMap((agent) =>
    chosen(UPSTREAMS, upstream).flatMap((kind) =>
      chosen(CASES, row).flatMap((row) => (applies(row, kind, agent) ? [{ agent, kind, row }] : [])),
    ),
  );

/** One turn with tools of each agent, at an upstream whose API is not the agent's own. */
function smokeCells(): readonly Cell[] {
  const [row] = chosen(CASES, 'tools');
  return AGENTS.flatMap((agent, at) => {
    const others = UPSTREAMS.filter(({ api }) => api !== agent.api);
    const kind = others[at % others.length];
    return row && kind ? [{ agent, kind, row }] : [];
  });
}

/** Runs a cell; `false` if its result is not that of the tables. */
async function check(cell: Cell, stage: Stage, { show, write }: Options): Promise<boolean> {
  const { agent, kind, row } = cell;
  const outcome = await runCell(cell, stage);
  const fault = row.verdict(outcome, agent) ?? otherApi(outcome.paths, row.sdk?.api ?? agent.api);
  const result: Result = {
    agent: agent.name,
    upstream: kind.name,
    case: row.name,
    version: versionOf(agent.package),
    date: new Date().toISOString().slice(0, 10),
    ...(fault !== undefined && { fault }),
  };
  const { word, problem } = judge(cell, result);
  const { ms, paths, requests, turns } = outcome;
  const about = `${agent.name} ${row.name} ${kind.name} ${ms} ms, ${paths.length} posts, ${requests} requests, ${turns} turns${thoughtOf(outcome)}`;
  console.log(`${word.padEnd(5)} ${about}${problem === undefined ? '' : `: ${problem}`}`);
  if (show || word === 'FAIL') report(outcome);
  // At once: a run of all cells takes long, and may be ended.
  if (write) writeResults([result]);
  return word !== 'FAIL';
}

function judge({ agent }: Cell, result: Result): { readonly word: 'ok' | 'limit' | 'FAIL'; readonly problem?: string } {
  const limit = limitOf(agent, result);
  if (result.fault !== undefined)
    return { word: isLimit(limit, result.fault) ? 'limit' : 'FAIL', problem: result.fault };
  return limit ? { word: 'FAIL', problem: `passed: strike its limit "${limit.fault}"` } : { word: 'ok' };
}

const thoughtOf = ({ thought: { asked, signed } }: Outcome): string =>
  `${asked ? ', asked to think' : ''}${signed ? ', signed' : ''}`;

function report({ output, refused, code }: Outcome): void {
  for (const refusal of refused) console.log(`     refused: ${refusal.slice(0, 300)}`);
  console.log(`     exit ${code}`);
  console.log(output.slice(-3000).replaceAll(/^/gm, '     | '));
}

async function inside(options: Options): Promise<number> {
  const stage = await openStage(options.dump);
  let failed = 0;
  try {
    for (const cell of options.cells) if (!(await check(cell, stage, options))) failed += 1;
  } finally {
    await stage.close();
  }
  if (options.write) writePages();
  console.log(`${options.cells.length - failed} of ${options.cells.length} cells have the result of the tables`);
  return failed === 0 ? 0 : 1;
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
  if (!canIsolate()) return 3;
  try {
    install();
  } catch (error) {
    console.error(`No agent was run: \`npm install\` of their packages failed. ${String(error)}`);
    return 3;
  }
  const again = [...UNSHARE, process.execPath, import.meta.filename, ...args];
  return spawnSync('unshare', again, { stdio: 'inherit', env: { ...process.env, [IN_NAMESPACE]: '1' } }).status ?? 1;
}

async function main(): Promise<number> {
  let given;
  try {
    // Before the agents are installed: a wrong word costs no time.
    given = options();
  } catch (error) {
    console.error(`test:agents: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  if (process.env[IN_NAMESPACE] === undefined) return isolate();
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) throw new Error(`Agents must not reach a network, and there is ${others.join(', ')}.`);
  return inside(given);
}

process.exitCode = await main();
