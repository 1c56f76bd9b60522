import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Runs one command with redis-cli and returns what it prints. */
  cli(...command: readonly string[]): string;
  /** Stops it without a farewell, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on its port, empty. */
  restart(): Promise<void>;
  /** It keeps its connections and answers nothing. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

const isInstalled = !spawnSync('redis-server', ['--version']).error;

/** Tests with a real server. Without its program they are skipped on a machine of a developer and fail in CI. */
export function describeWithRedis(title: string, tests: () => void): void {
  if (isInstalled) describe(title, tests);
  else if (process.env['CI'])
    it(`${title}: needs redis-server`, () => expect.fail('apt-get install redis-server: CI must run these tests'));
  else describe.skip(`${title} (skipped without redis-server: apt-get install redis-server)`, tests);
}

/** A server on loopback with a folder of its own, which keeps nothing on disk. @param flags further ones of redis-server, by its port */
export async function startRedis(flags: (port: number) => readonly string[] = () => []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const start = (): Promise<ChildProcess> => ready(spawn('redis-server', [...args, ...flags(port)], { cwd: folder }));
  let child = await start();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    cli: (...command) => spawnSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).stdout.trim(),
    kill,
    async restart() {
      await kill();
      child = await start();
    },
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Rejects when the program ends before it is ready. */
const ready = (child: ChildProcess): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    let said = '';
    child.once('exit', () => reject(new Error(`redis-server ended: ${said}`)));
    child.stdout?.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (/Ready to accept connections/.test(said)) resolve(child);
    });
  });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
