import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Every process started here and not ended yet, in the order of the starts. */
export const children: ChildProcess[] = [];

export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** All that it has printed. */
  readonly text: () => string;
}

/** Starts a script on these cores (`0`, `0,1`) and waits until it has printed its port. */
export function start(cores: number | string, file: string, ...args: string[]): Promise<Started> {
  const command = cpus().length > 1 ? ['taskset', '-c', String(cores), process.execPath] : [process.execPath];
  const child = spawn(command[0]!, [...command.slice(1), file, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}: ${text}`)));
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString();
      const port = /"port":(\d+)/.exec(text) ?? /http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (port) resolve({ child, pid: child.pid!, port: Number(port[1]), text: () => text });
    });
  });
}

/** CPU time of all threads of a process, in milliseconds: exact, where utime and stime count in ticks. */
export function cpuMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );
}
