import { spawn, type ChildProcess } from 'node:child_process';
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
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}: ${text}`)));
    const read = (piece: Buffer): void => {
      text += piece.toString();
      const port = /"port":(\d+)/.exec(text) ?? /http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (port) resolve({ child, pid: child.pid!, port: Number(port[1]), text: () => text });
    };
    child.stdout.on('data', read);
    // Where standard output is no terminal, the gateway names its address on standard error.
    child.stderr.on('data', read);
    child.stderr.pipe(process.stderr);
  });
}
