import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { compileServerSettings } from '../../src/core/settings/compile/server-settings.ts';
import { KEY, until, writeSettings } from '../support/gateway.ts';
import { MAIN } from '../support/built.ts';

/** The files of deploy/ for systemd and Kubernetes, tried: without either, by what they do. */

const read = (path: string): string => readFileSync(packageFile(path), 'utf8');

const unit = read('deploy/systemd/gatehouse.service');
const unitLine = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)![1]!;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
  readonly terminationGracePeriodSeconds?: number;
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [
    {
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly readinessProbe: Probe;
      readonly livenessProbe: Probe;
    },
  ];
}
interface Deployment {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}
const pod = (parse(read('deploy/kubernetes/deployment.yaml')) as Deployment).spec.template.spec;
const [container] = pod.containers;
const defaults = compileServerSettings({});

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** Blocks the event loop for good where a request says so. */
const BLOCKS = `import { definePlugin } from 'gatehouse-gateway/plugin';
export default definePlugin({
  name: 'blocks',
  level: 'request',
  options: { type: 'object', additionalProperties: false },
  create: () => async ({ exchange }, next) => {
    const messages = await exchange.request.body.value('messages');
    while (messages[0].content === 'block');
    await next();
  },
});
`;

interface Supervised {
  readonly child: ChildProcess;
  readonly exited: Promise<NodeJS.Signals | number | null>;
  readonly said: () => string;
  readonly url: string;
  readonly statusUrl: string;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Members of `server.yaml`. */
  readonly server?: object;
}

async function start(args: readonly string[], { env, server }: Surroundings = {}): Promise<Supervised> {
  const dir = writeSettings({
    server: {
      plugins: ['./blocks.mjs'],
      chains: { request: ['metadata', 'blocks', 'route'] },
      drain: { delay: '0s' },
      ...server,
    },
  });
  writeFileSync(join(dir, 'blocks.mjs'), BLOCKS);
  ended.push(() => rmSync(dir, { recursive: true, force: true }));
  const there = args.map((arg) => arg.replace('/etc/gatehouse', dir));
  const child = spawn(process.execPath, [MAIN, ...there], {
    env: { ...process.env, ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said += piece.toString()));
  const exited = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? code)),
  );
  ended.push(() => (child.kill('SIGKILL'), exited));
  const urls = /listens on (http:\/\/[\d.:]+);[^\n]*?(http:\/\/[\d.:]+)/;
  await until(() => urls.test(said) || child.exitCode !== null, 'it listens');
  const [, url, statusUrl] = urls.exec(said)!;
  return { child, exited, said: () => said, url: url!, statusUrl: statusUrl! };
}

/** A second of the kubelet takes so long here. */
const SECOND_MS = 200;

/** As the kubelet does: gives whether it lives after as many probes, or has failed as many in a row. */
async function isWell(url: string, probe: Probe): Promise<boolean> {
  let failed = 0;
  for (let probes = 0; probes < 3 && failed < probe.failureThreshold; failed === 0 && (probes += 1)) {
    const period = sleep(probe.periodSeconds * SECOND_MS);
    const signal = AbortSignal.timeout(probe.timeoutSeconds * SECOND_MS);
    const good = await fetch(`${url}${probe.httpGet.path}`, { signal }).then(
      ({ status }) => status >= 200 && status < 400,
      () => false,
    );
    failed = good ? 0 : failed + 1;
    await period;
  }
  return failed === 0;
}

describe('the lines for systemd', () => {
  it('leave a drain its default time and 10 s', () => {
    const { delayMs, timeoutMs } = defaults.drain;
    expect(unitLine('TimeoutStopSec')).toBe(`${(delayMs + timeoutMs) / 1000 + 10}s`);
  });

  it('are a unit that systemd takes', ({ skip }) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-unit-'));
    ended.push(() => rmSync(dir, { recursive: true, force: true }));
    const file = join(dir, 'gatehouse.service');
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
    const command = `command -v systemd-analyze >&2 || exit 3; systemd-analyze verify --man=no '${file}' 2>&1 || true`;
    const { status, stdout: out } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    if (status === 3) skip('systemd-analyze is not here');
    expect(out.split('\n').filter((line) => line.includes('gatehouse'))).toEqual([]);
  });

  it('start, reload and stop all processes', async () => {
    const [node, flag, main, ...args] = unitLine('ExecStart').split(' ');
    const { bin } = JSON.parse(read('package.json')) as { bin: object };
    const installed = `/opt/gatehouse/node_modules/.bin/${Object.keys(bin)[0]!}`;
    expect([node, flag, main]).toEqual(['/usr/bin/node', '--disable-sigusr1', installed]);
    const { child, exited, said } = await start(args);
    expect(said().match(/a worker serves/g)).toHaveLength(2);
    execFileSync('sh', ['-c', unitLine('ExecReload')], { env: { ...process.env, MAINPID: String(child.pid) } });
    await until(() => said().includes('settings read again'), 'it has reloaded');
    // KillMode=mixed: the main process alone has the signal.
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
});

/** With the environment of the pod, where `server.yaml` names ports alone. */
const startInPod = (): Promise<Supervised> =>
  start(container.args, {
    env: Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
    server: { listen: { port: 0 }, status: { port: 0 } },
  });

/** An address of this machine that a listener on 127.0.0.1 does not have. */
const byPodAddress = (url: string): string => `http://127.0.0.2:${new URL(url).port}`;

describe('the lines for Kubernetes', () => {
  it('leave a drain its default time and 10 s, and name the ports that are the default', () => {
    const { delayMs, timeoutMs } = defaults.drain;
    expect(pod.terminationGracePeriodSeconds).toBe((delayMs + timeoutMs) / 1000 + 10);
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([
      defaults.listen.port,
      defaults.status.port,
    ]);
    const status = container.ports.find(({ containerPort }) => containerPort === defaults.status.port);
    for (const { httpGet } of [container.readinessProbe, container.livenessProbe])
      expect(httpGet.port).toBe(status?.name);
  });

  it('kill a blocked container, which SIGTERM does not end, and leave one that is well alone', async () => {
    const pod = await startInPod();
    const { child, exited } = pod;
    const [url, statusUrl] = [byPodAddress(pod.url), byPodAddress(pod.statusUrl)];
    const { readinessProbe, livenessProbe } = container;
    expect([await isWell(statusUrl, readinessProbe), await isWell(statusUrl, livenessProbe)]).toEqual([true, true]);

    const body = JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'block' }] });
    const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
    const blocked = fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body }).catch(() => 'cut');
    expect([await isWell(statusUrl, livenessProbe), await isWell(statusUrl, readinessProbe)]).toEqual([false, false]);
    child.kill('SIGTERM');
    await sleep(livenessProbe.terminationGracePeriodSeconds! * SECOND_MS);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    child.kill('SIGKILL');
    expect(await exited).toBe('SIGKILL');
    expect(await blocked).toBe('cut');
  });
});
