/** A copy of the repository in a temporary folder, and its commands. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** node_modules is linked: nothing is installed. */
export function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-contributing-'));
  for (const name of globSync(['*', '.ox*'], { cwd: ROOT }))
    if (!NOT_COPIED.has(name)) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a command of the copy, as `npm run` would: tools are those of node_modules. */
export function run(cwd: string, command: string, args: readonly string[]): Promise<Ended> {
  const bin = join(ROOT, 'node_modules/.bin');
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${bin}${delimiter}${process.env['PATH']}`,
  };
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });
}

export interface Serving {
  readonly url: string;
  readonly statusUrl: string;
  readonly child: ChildProcess;
}

/** Starts the gateway of the copy and waits until it listens. */
export function serve(cwd: string, configs: string): Promise<Serving> {
  const args = ['--disable-sigusr1', 'src/cli/main.ts', 'serve', '--configs', configs];
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (bytes: Buffer): void => {
      output += bytes.toString();
      const started = /listens on (http\S+?);.*? on (http\S+?)(?:;|\n)/.exec(output);
      if (started) resolve({ url: started[1]!, statusUrl: started[2]!, child });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`the gateway of the copy has ended:\n${output}`)));
  });
}

/** Settings as JSON, which is YAML. */
export function writeFiles(folder: string, files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
}
