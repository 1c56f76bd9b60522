import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '../..');

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A start on a machine whose cores all work, of a process with low priority. */
const START_MS = 240_000;

/** A gateway as a process, which may be killed and started again. */
export class GatewayProcess {
  readonly #args: readonly string[];
  readonly #statusUrl: string;
  readonly #main: string;
  #child: ChildProcess | undefined;
  #text = '';

  /** @param main the sources, or the built code, which starts in a third of the time */
  constructor(args: readonly string[], statusUrl: string, main = 'src/cli/main.ts') {
    this.#args = args;
    this.#statusUrl = statusUrl;
    this.#main = main;
  }

  /** The last lines that it has printed. */
  get text(): string {
    return this.#text.slice(-4000);
  }

  /** @param env of this process alone */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const child = spawn(process.execPath, [this.#main, 'serve', ...this.#args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => (this.#text = (this.#text + piece.toString()).slice(-20_000)));
    for (const from = performance.now(); !(await this.#isReady()); await sleep(50)) {
      // It killed itself, as its environment says.
      if (child.signalCode !== null) return;
      if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}: ${this.text}`);
      if (performance.now() - from > START_MS) throw new Error(`the gateway does not serve: ${this.text}`);
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const reply = await fetch(`${this.#statusUrl}/readyz`);
      await reply.arrayBuffer();
      return reply.status === 200;
    } catch {
      return false;
    }
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get workers(): readonly number[] {
    const pid = this.#child!.pid!;
    try {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    } catch {
      return [];
    }
  }

  /** The sum of a metric over its label sets, those with this text among their labels. */
  async metric(name: string, label = ''): Promise<number> {
    const text = await (await fetch(`${this.#statusUrl}/metrics`)).text();
    const values = [...text.matchAll(new RegExp(`^${name}(\\{[^}]*\\})? (\\S+)$`, 'gm'))];
    return values.reduce((sum, [, labels = '', value]) => (labels.includes(label) ? sum + Number(value) : sum), 0);
  }

  /** Resolves when the process has ended by itself. False: it still runs. */
  async ended(ms: number): Promise<boolean> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return true;
    return Promise.race([once(child, 'exit').then(() => true), sleep(ms, false)]);
  }

  /** Resolves when the process has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
