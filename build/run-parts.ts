import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';

// `node build/run-parts.ts NAME...`: runs scripts of package.json one after the other, also behind one that failed, and reports all of them
// at the end. Exits with 1 if any has failed.

interface Ended {
  readonly name: string;
  readonly outcome: string;
  readonly seconds: number;
}

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

async function run(name: string): Promise<Ended> {
  const from = performance.now();
  process.stdout.write(`\n== ${name}\n`);
  const outcome = await new Promise<string>((resolve) => {
    running = spawn('npm', ['run', '--silent', name], { stdio: 'inherit', detached: true })
      .once('error', ({ message }) => resolve(`failed (${message})`))
      .once('exit', (code, signal) => resolve(code === 0 ? 'passed' : `failed (${signal ?? `exit ${code}`})`));
  });
  return { name, outcome: stoppedBy ? 'stopped' : outcome, seconds: Math.round((performance.now() - from) / 1000) };
}

const names = process.argv.slice(2);
process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
const ended: Ended[] = [];
for (const name of names) ended.push(stoppedBy ? { name, outcome: 'not run', seconds: 0 } : await run(name));

const width = Math.max(...names.map(({ length }) => length));
process.stdout.write('\n');
for (const { name, outcome, seconds } of ended)
  process.stdout.write(`${name.padEnd(width)}  ${outcome}, ${seconds} s\n`);
if (stoppedBy) process.exitCode = 128 + constants.signals[stoppedBy];
else if (ended.some(({ outcome }) => outcome !== 'passed')) process.exitCode = 1;
