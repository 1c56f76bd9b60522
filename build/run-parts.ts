import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { dueParts, failedFilesOf, PARTS, writeResults, type EndedScript } from './full-parts.ts';

// `node build/run-parts.ts [--full] NAME...`: runs scripts of package.json one after the other, also behind one that failed, and reports all
// of them at the end. Exits with 1 if any has failed. A long suite (build/full-parts.ts) runs if a file that it watches has changed since its
// last pass; with `--full` all of them run whole, and those that passed are written down.

const root = process.cwd();
const args = process.argv.slice(2);
const full = args[0] === '--full';
const names = full ? args.slice(1) : args;
const due = full ? Object.keys(PARTS) : dueParts(root);
// test/support/effort.ts reads it.
const env = { TEST_FULL: full ? '1' : due.join(','), ...process.env };
/** vitest.config.ts writes a report for each script. */
const reports = mkdtempSync(join(tmpdir(), 'gatehouse-reports-'));

/** A suite that needs what this machine may lack exits with it, and says why. */
const CANNOT_RUN = 3;
const MAY_BE_MISSING = new Set(['agents']);

const CHECK = new Set(['format', 'lint', 'types', 'unit', 'direction', 'unused']);

let running: ChildProcess | undefined;
let stoppedBy: NodeJS.Signals | undefined;

/** `timeout --kill-after` of .ci/run leaves ten seconds. */
const STOP_MS = 5000;

/** The part has a process group of its own: a signal has to reach the processes that it has started, too. */
function kill(part: ChildProcess | undefined, signal: NodeJS.Signals): void {
  try {
    if (part?.pid !== undefined) process.kill(-part.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** A terminal and npm may both send the signal of one Ctrl-C. */
function stop(signal: NodeJS.Signals): void {
  if (stoppedBy) return;
  stoppedBy = signal;
  const part = running;
  kill(part, 'SIGTERM');
  setTimeout(kill, STOP_MS, part, 'SIGKILL').unref();
}

function outcomeOf(name: string, code: number | null, signal: NodeJS.Signals | null): string {
  if (stoppedBy) return 'stopped';
  if (code === CANNOT_RUN && MAY_BE_MISSING.has(name)) return 'cannot run on this machine';
  return code === 0 ? 'passed' : `failed (${signal ?? `exit ${code}`})`;
}

async function run(name: string): Promise<EndedScript> {
  if (stoppedBy) return { name, outcome: 'not run', seconds: 0 };
  if (name in PARTS && !due.includes(name))
    return { name, outcome: 'not due: its files are those of test/full.json', seconds: 0 };
  const from = performance.now();
  const report = join(reports, `${name}.json`);
  process.stdout.write(`\n== ${name}\n`);
  const outcome = await new Promise<string>((resolve) => {
    running = spawn('npm', ['run', '--silent', name], {
      stdio: 'inherit',
      detached: true,
      env: { ...env, TEST_REPORT: report },
    })
      .once('error', ({ message }) => resolve(`failed (${message})`))
      .once('exit', (code, signal) => resolve(outcomeOf(name, code, signal)));
  });
  const failed = failedFilesOf(root, report);
  return { name, outcome, seconds: Math.round((performance.now() - from) / 1000), ...(failed && { failed }) };
}

process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
const ended: EndedScript[] = [];
for (const name of names) {
  ended.push(await run(name));
  // After each part: a run that is cut keeps what has passed.
  if (full && !stoppedBy) writeResults(root, ended);
}
rmSync(reports, { recursive: true });

// At the end: a runner of CI may show no more than the last lines.
for (const { file, tests } of ended.flatMap(({ failed = [] }) => failed))
  process.stdout.write(`\nfailed: ${file}\n${tests.map((test) => `  ${test}\n`).join('')}`);
const width = Math.max(...names.map(({ length }) => length));
process.stdout.write('\n');
for (const { name, outcome, seconds } of ended)
  process.stdout.write(`${name.padEnd(width)}  ${outcome}, ${seconds} s\n`);
const sumOf = (parts: readonly EndedScript[]): number => parts.reduce((sum, { seconds }) => sum + seconds, 0);
const checks = ended.filter(({ name }) => CHECK.has(name));
process.stdout.write(`${names.length} parts: ${sumOf(ended)} s; of \`npm run check\`: ${sumOf(checks)} s\n`);
const failed = ended.some(({ outcome }) => /^(failed|stopped|not run)/.test(outcome));
if (stoppedBy) process.exitCode = 128 + constants.signals[stoppedBy];
else if (failed) process.exitCode = 1;
