import { execFileSync, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY, until, writeSettings } from '../support/gateway.ts';
import { scrape } from './workers.testkit.ts';
import { MAIN } from '../support/built.ts';

/** A gateway whose log cannot be written serves, counts the lost lines, and ends at a signal. */

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  readonly statusUrl: string;
  readonly exited: Promise<number | null>;
}

async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return [ports[0]!, ports[1]!];
}

/** Ports are chosen beforehand: what it says may go nowhere. */
async function serve(stdio: StdioOptions, args: readonly string[] = []): Promise<Serving> {
  const [port, statusPort] = await freePorts();
  const host = '127.0.0.1';
  const dir = writeSettings({
    server: {
      listen: { host, port },
      status: { host, port: statusPort },
      admin: { enabled: false },
      drain: { delay: '0s', timeout: '5s' },
    },
  });
  ended.push(() => rmSync(dir, { recursive: true, force: true }));
  const child = spawn(process.execPath, [MAIN, 'serve', '--configs', dir, ...args], { stdio });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  ended.push(() => (child.kill('SIGKILL'), exited));
  const [url, statusUrl] = [`http://${host}:${port}`, `http://${host}:${statusPort}`];
  let ready = false;
  const look = async (): Promise<void> =>
    void (ready = (await fetch(`${statusUrl}/readyz`).catch(() => undefined))?.ok ?? false);
  await until(() => (void look(), ready || child.exitCode !== null), 'it serves');
  expect(child.exitCode).toBeNull();
  return { child, url, statusUrl, exited };
}

/** Gives how many were answered with 200. */
async function ask(url: string, count: number): Promise<number> {
  const body = JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
  let good = 0;
  for (let asked = 0; asked < count; asked += 20) {
    const replies = Array.from({ length: Math.min(20, count - asked) }, async () => {
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
      await response.text();
      if (response.status === 200) good += 1;
    });
    await Promise.all(replies);
  }
  return good;
}

/** Their lines are as long as lines get: few of them fill what waits. */
async function refusedRequests(url: string, count: number): Promise<void> {
  const headers = { 'user-agent': 'u'.repeat(2000) };
  const one = async (): Promise<void> => void (await (await fetch(`${url}${'/p'.repeat(1000)}`, { headers })).text());
  for (let sent = 0; sent < count; sent += 20) await Promise.all(Array.from({ length: 20 }, one));
}

/** Requests until the log takes no more lines. */
async function fillOutput({ url, statusUrl }: Serving): Promise<void> {
  for (let round = 0; round < 100 && (await dropped(statusUrl, 'stalled')) === 0; round += 1)
    await refusedRequests(url, 200);
}

const dropped = async (statusUrl: string, reason: string): Promise<number> =>
  (await scrape(statusUrl)).get(`gatehouse_log_lines_dropped_total{reason="${reason}"}`) ?? -1;

/** A line is written, or not, a moment after its reply has ended. */
async function hasDropped(statusUrl: string, reason: string, lines: number): Promise<void> {
  let seen = -1;
  for (let look = 0; look < 200 && seen < lines; look += 1) {
    seen = await dropped(statusUrl, reason);
    await sleep(20);
  }
  expect(seen).toBeGreaterThanOrEqual(lines);
}

async function end({ child, exited }: Serving): Promise<number | null> {
  child.kill('SIGTERM');
  return exited;
}

const MODES = [
  ['one process', []],
  ['two workers', ['--workers', '2']],
] as const;

describe.runIf(process.platform === 'linux').each(MODES)('a gateway of %s', (_, args) => {
  it('whose standard output and error are a full disk serves, counts the lines, and ends with 0', async () => {
    const full = openSync('/dev/full', 'w');
    ended.push(() => closeSync(full));
    const serving = await serve(['ignore', full, full], args);
    expect(await ask(serving.url, 10)).toBe(10);
    await hasDropped(serving.statusUrl, 'no_space', 10);
    expect(await end(serving)).toBe(0);
  });

  it('whose output is not read serves, counts the lines beyond what waits, and ends with 0', async () => {
    const serving = await serve(['ignore', 'pipe', 'pipe'], args);
    await fillOutput(serving);
    expect(await dropped(serving.statusUrl, 'stalled')).toBeGreaterThan(0);
    expect(await ask(serving.url, 10)).toBe(10);
    expect(await end(serving)).toBe(0);
  });
});

it('a gateway whose reader has gone serves, counts the lines, and ends with 0', async () => {
  const serving = await serve(['ignore', 'pipe', 'pipe']);
  serving.child.stdout!.destroy();
  serving.child.stderr!.destroy();
  expect(await ask(serving.url, 10)).toBe(10);
  await hasDropped(serving.statusUrl, 'closed', 9);
  expect(await end(serving)).toBe(0);
});

it('a gateway that was stalled says how many lines are missing once it is read again', async () => {
  const serving = await serve(['ignore', 'pipe', 'pipe']);
  await fillOutput(serving);
  const lost = await dropped(serving.statusUrl, 'stalled');
  let said = '';
  serving.child.stdout!.on('data', (piece: Buffer) => (said += piece.toString()));
  await until(() => said.includes('log lines were dropped'), 'it says so');
  const lines = said.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as object] : []));
  expect(lines.at(-1)).toMatchObject({ level: 'error', dropped: { stalled: lost } });
  expect(lines.length).toBeGreaterThan(100);
});

const mounted = (dir: string): boolean => {
  try {
    execFileSync('sh', ['-c', `mount -t tmpfs -o size=64k tmpfs '${dir}'`], { stdio: 'ignore' });
    ended.push(() => execFileSync('sh', ['-c', `umount '${dir}'`]));
    return true;
  } catch {
    return false;
  }
};

it('a gateway whose log disk is full goes on with its log once there is room', async ({ skip }) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-full-'));
  ended.push(() => rmSync(dir, { recursive: true, force: true }));
  if (!mounted(dir)) skip('tmpfs can be mounted by root only');
  mkdirSync(join(dir, 'log'));
  const file = join(dir, 'log/out');
  const out = openSync(file, 'a');
  ended.push(() => closeSync(out));
  writeFileSync(join(dir, 'other'), Buffer.alloc(32 * 1024));
  const serving = await serve(['ignore', out, 'ignore']);
  await refusedRequests(serving.url, 200);
  expect(await ask(serving.url, 10)).toBe(10);
  await hasDropped(serving.statusUrl, 'no_space', 10);
  truncateSync(join(dir, 'other'));
  expect(await ask(serving.url, 1)).toBe(1);
  await until(() => readFileSync(file, 'utf8').includes('log lines were dropped'), 'it says so');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(`"dropped":{"no_space":${await dropped(serving.statusUrl, 'no_space')}}`);
  // At most one line was cut, and the next begins anew.
  const broken = text.split('\n').filter((line) => line.startsWith('{') && !line.endsWith('}'));
  expect(broken.length).toBeLessThanOrEqual(1);
  expect(await end(serving)).toBe(0);
});
