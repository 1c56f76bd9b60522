import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { parseWrk } from './figures.ts';
import { assertRunning, LOAD_CORE, startPinned, type Pinned } from './processes.ts';

export const PORT = 8800;
const MOST_START_MS = 300_000;

export interface Load {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** File of the request body. */
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  /** Default: 8800. */
  readonly port?: number | undefined;
}

/** A closed loop of wrk. Returns the number of replies; throws if one of them failed. */
export async function runWrk({ path, headers, body, connections, seconds, port = PORT }: Load): Promise<number> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '20s', '-s'];
  const wrk = startPinned(['wrk', ...options, packageFile('test/bench/post.lua'), `http://127.0.0.1:${port}${path}`], {
    core: LOAD_CORE,
    stdout: 'pipe',
    env: {
      BODY: body,
      HEADERS: Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('|'),
      TARGET_PATH: path,
    },
  });
  await once(wrk.child, 'close');
  const { requests, failed } = parseWrk(wrk.text());
  if (failed > 0) throw new Error(`${failed} of ${requests} requests failed`);
  return requests;
}

type Asked = Pick<Load, 'path' | 'headers' | 'port'>;

function statusOf({ path, headers, port = PORT }: Asked, body: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const all = { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers: all, agent: false }, (res) => {
      res.resume();
      res.on('end', () => resolve(res.statusCode));
      res.on('error', () => resolve(undefined));
    });
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}

/** Waits for the first reply with status 200. */
export async function firstReply(gateway: Pinned, load: Asked, body: string): Promise<void> {
  const from = performance.now();
  for (;;) {
    const status = await statusOf(load, body);
    assertRunning(gateway, 'the gateway');
    if (status === 200) return;
    if (performance.now() - from > MOST_START_MS)
      throw new Error(`no reply with status 200 within ${MOST_START_MS} ms, the last was ${status}: ${gateway.text()}`);
    await sleep(2);
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('close', () => socket.destroy());
    socket.unref();
  });

/** The ports are fixed: a reply from another program must not be measured. */
export async function assertPortsFree(): Promise<void> {
  for (const port of [8800, 8801, 8802, 8810, 8811, 8812, 9001, 9002, 9003])
    if (await listens(port)) throw new Error(`port ${port} is in use`);
}

export async function untilListening(port: number, server: Pinned): Promise<void> {
  while (!(await listens(port))) {
    assertRunning(server, `the mock on port ${port}`);
    await sleep(20);
  }
}
