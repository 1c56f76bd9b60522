import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { until, writeSettings } from '../support/gateway.ts';
import { NEEDS_NODE, OLD_NODE } from '../support/old-node.ts';
import { isAlive } from './workers.testkit.ts';
import { MAIN } from '../support/built.ts';

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
  engines: { node: string };
  scripts: Record<string, string>;
};
const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => (socket.destroy(), resolve(true)));
    socket.on('error', () => resolve(false));
  });

interface Run {
  readonly child: ChildProcess;
  readonly said: () => string;
}

function run(args: readonly string[]): Run {
  const child = spawn(process.execPath, args, { cwd: packageFile('') });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said += piece.toString()));
  ended.push(() => child.kill('SIGKILL'));
  return { child, said: () => said };
}

/** `gatehouse serve` on free ports; an inspector would open on `inspect` or, in workers, on one of the ports behind it. */
async function serve(inspect: number, flags: readonly string[], args: readonly string[]): Promise<Run> {
  const loopback = { host: '127.0.0.1', port: 0 };
  const dir = writeSettings({
    server: { listen: loopback, status: loopback, admin: { port: 0 }, drain: { delay: '0s' } },
  });
  ended.push(() => rmSync(dir, { recursive: true, force: true }));
  const one = run([`--inspect-port=${inspect}`, ...flags, MAIN, 'serve', '--configs', dir, ...args]);
  await until(() => one.said().includes('listens on'), 'it listens');
  return one;
}

const pidsOf = ({ child, said }: Run): number[] => [
  child.pid!,
  ...[...said().matchAll(/"pid":(\d+),.*"msg":"a worker serves"/g)].map(([, pid]) => Number(pid)),
];

describe('SIGUSR1', () => {
  it('opens the inspector of a plain Node process, which is what the next test would see', async () => {
    const inspect = await freePort();
    const { child, said } = run([`--inspect-port=${inspect}`, '-e', 'setInterval(() => console.log("up"), 50)']);
    await until(() => said().includes('up'), 'it runs');
    child.kill('SIGUSR1');
    await until(() => said().includes('Debugger listening'), 'it says so');
    expect(await isOpen(inspect)).toBe(true);
  });

  it.each<[string, string[], string[]]>([
    ['of the bin', [], []],
    ['of npm start', ['--disable-sigusr1'], []],
    ['with workers', [], ['--workers', '2']],
  ])('opens no inspector in the process %s', async (_, flags, args) => {
    const inspect = await freePort();
    const one = await serve(inspect, flags, args);
    const pids = pidsOf(one);
    expect(pids).toHaveLength(args.length === 0 ? 1 : 3);
    const url = /listens on (http:\/\/[\d.:]+);/.exec(one.said())![1]!;
    for (let round = 0; round < 5; round += 1) {
      for (const pid of pids) process.kill(pid, 'SIGUSR1');
      // Each answer is a turn of the loop, in which the inspector would have opened.
      for (let n = 0; n < 4; n += 1) expect((await fetch(`${url}/v1/models`)).status).toBe(401);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await Promise.all([0, 1, 2, 3].map((more) => isOpen(inspect + more)))).toEqual([false, false, false, false]);
    expect(one.said()).not.toContain('Debugger');
    expect(pids.map(isAlive)).toEqual(pids.map(() => true));
  });
});

describe('a Node that is too old', () => {
  it('is one that package.json does not allow', () => {
    expect(manifest.engines.node).toBe('>=24');
  });

  it.each(['src/cli/entry.js', 'src/cli/node-version.js'])(
    'learns from %s which version it has to be, in one line',
    (file) => {
      const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.9.0' } })`;
      const flag = `--import=data:text/javascript,${encodeURIComponent(pretend)}`;
      const { status, stdout, stderr } = spawnSync(process.execPath, [flag, packageFile(file), 'version'], {
        encoding: 'utf8',
      });
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(NEEDS_NODE);
    },
  );

  it.runIf(OLD_NODE).each(['src/cli/entry.js', 'src/cli/node-version.js'])(
    'that does not read TypeScript learns from %s which version it has to be, in one line',
    (file) => {
      const { status, stdout, stderr } = spawnSync(OLD_NODE!, [packageFile(file), 'version'], { encoding: 'utf8' });
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(NEEDS_NODE);
    },
  );

  it.runIf(OLD_NODE)('is refused by `npm start` with the required version, before it refuses an unknown flag', () => {
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', manifest.scripts['start']!], {
      cwd: packageFile(''),
      env: { PATH: dirname(OLD_NODE!) },
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(NEEDS_NODE);
  });
});
