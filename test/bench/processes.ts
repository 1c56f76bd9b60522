import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Gateways have a core of their own; wrk and the mocks share the other. */
export const GATEWAY_CORE = 0;
export const LOAD_CORE = 1;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

export interface Pinned {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All that it has written to stderr, or to stdout if that was asked for. */
  readonly text: () => string;
}

interface PinOptions {
  readonly core: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** `emptied`: a pipe as a container gives its program, which a process on the load's core reads. */
  readonly stdout?: 'pipe' | 'emptied';
}

function keepUntilExit(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** The writing end of a pipe whose reader ends with its last writer. */
function openEmptied(): number {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-pipe-'));
  const pipe = join(folder, 'stdout');
  execFileSync('mkfifo', [pipe]);
  keepUntilExit(spawn('taskset', ['-c', String(LOAD_CORE), 'cat', pipe], { stdio: ['ignore', 'ignore', 'inherit'] }));
  // Opens when the reader has.
  const end = openSync(pipe, 'w');
  rmSync(folder, { recursive: true });
  return end;
}

/** Starts a command on one core. `nice` raises its priority where it may, and runs it without where it may not. */
export function startPinned(command: readonly string[], { core, cwd, env, stdout }: PinOptions): Pinned {
  const emptied = stdout === 'emptied' ? openEmptied() : undefined;
  const child = spawn('nice', ['-n', '-5', 'taskset', '-c', String(core), ...command], {
    cwd,
    // nginx is in /usr/sbin, which is not in every PATH.
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin`, NODE_ENV: 'production', ...env },
    stdio: ['ignore', emptied ?? (stdout === 'pipe' ? stdout : 'ignore'), 'pipe'],
  });
  if (emptied !== undefined) closeSync(emptied);
  keepUntilExit(child);
  let text = '';
  const keep = (piece: Buffer): void => void (text += piece.toString());
  child.stdout?.on('data', keep);
  child.stderr!.on('data', keep);
  return { child, pid: child.pid!, text: () => text };
}

const ended = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

export async function stopPinned({ child }: Pinned): Promise<void> {
  if (ended(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([exit, sleep(1500)]);
  if (!ended(child)) child.kill('SIGKILL');
  await exit;
}

export function assertRunning({ child, text }: Pinned, name: string): void {
  if (ended(child)) throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}: ${text()}`);
}

/** A process and all its descendants: nginx works in a child. */
function treeOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

/** CPU time of all threads of a process and its descendants, in nanoseconds: exact, where utime and stime count in ticks. */
export function cpuNs(pid: number): number {
  const threads = treeOf(pid).flatMap((one) =>
    readdirSync(`/proc/${one}/task`).map((thread) => `${one}/task/${thread}`),
  );
  return threads.reduce(
    (sum, thread) => sum + Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[0]),
    0,
  );
}

export function rssMb(pid: number): number {
  return treeOf(pid).reduce(
    (sum, one) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))![1]) / 1024,
    0,
  );
}

const NS_PER_TICK = 1e7;

export interface CoreTime {
  readonly busyNs: number;
  readonly totalNs: number;
}

/** Time of the gateways' core since the machine started, all programs together. */
export function coreTime(): CoreTime {
  const line = new RegExp(`^cpu${GATEWAY_CORE} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))![1]!;
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0] = line
    .split(' ')
    .map(Number);
  const busy = user + nice + system + irq + softIrq;
  return { busyNs: busy * NS_PER_TICK, totalNs: (busy + idle + wait + steal) * NS_PER_TICK };
}
