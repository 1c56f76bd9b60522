/**
 * `npm run bench:plugins`: what each built-in plugin and each level of telemetry costs a 1 KB chat. The gateway and its
 * simulator are in this thread, the client in another, one request at a time. The time of `send` includes the
 * simulator's answer.
 */
import '../support/add-ons.ts';
import { rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import type { Watch } from '../../src/core/compose/chain-builder.ts';
import { toMiddleware } from '../../src/core/kernel/define.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { KEY, writeSettings } from '../support/gateway.ts';
import { requestBody } from './replies.ts';

const WARM = 2000;
const MEASURED = 10_000;

interface Costs {
  readonly us: Map<string, number>;
  readonly watch: Watch;
}

/** Adds up the time in each plugin, without the time in the plugins that it runs. There is one request at a time. */
function timePlugins(): Costs {
  const us = new Map<string, number>();
  let inner = 0;
  const instantiate: Watch['instantiate'] = async ({ plugin: { name } }, create) => {
    const middleware = toMiddleware(await create());
    us.set(name, 0);
    return async (ctx, next) => {
      const before = inner;
      const from = performance.now();
      inner = 0;
      await middleware(ctx, next);
      const all = performance.now() - from;
      us.set(name, us.get(name)! + (all - inner) * 1000);
      inner = before + all;
    };
  };
  return { us, watch: { instantiate } };
}

/** CPU µs of this thread per request. @param afterWarming called when the first requests are done */
async function run(telemetry: object, watch?: Watch, afterWarming = (): void => {}): Promise<number> {
  const configs = writeSettings({ server: { telemetry } });
  const logTo = { write: () => {} };
  const gateway = await startGateway({ configs, env: {}, logTo, ...(watch && { watch }) });
  const client = new Worker(import.meta.filename, { workerData: gateway.data.url });
  const send = async (count: number): Promise<void> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    client.postMessage(count);
    const [failed] = (await once(client, 'message')) as [number];
    if (failed > 0) throw new Error(`${failed} requests failed`);
  };
  try {
    await send(WARM);
    afterWarming();
    const from = process.threadCpuUsage();
    await send(MEASURED);
    const { user, system } = process.threadCpuUsage(from);
    return (user + system) / MEASURED;
  } finally {
    await client.terminate();
    await gateway.close();
    rmSync(configs, { recursive: true, force: true });
  }
}

function startClient(url: string): void {
  const pool = new Pool(url, { connections: 1 });
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-provider': '@sim' };
  // The simulator's model that answers at once.
  const body = requestBody(1, false).replace('gemini-2.5-flash', 'sim-fast');
  const send = async (count: number): Promise<void> => {
    let failed = 0;
    for (let sent = 0; sent < count; sent += 1) {
      const reply = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
      await reply.body.dump();
      if (reply.statusCode !== 200) failed += 1;
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage(failed);
  };
  parentPort!.on('message', (count: number) => void send(count));
}

/** Takes spans and forgets them. */
async function startCollector(): Promise<{ readonly url: string; close(): void }> {
  const reply = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => setTimeout(() => socket.end(reply), 50));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

async function main(): Promise<void> {
  const { us, watch } = timePlugins();
  await run({}, watch, () => {
    for (const name of us.keys()) us.set(name, 0);
  });
  console.log('| Plugin | µs of wall time per request |\n|---|---:|');
  for (const [name, total] of us) console.log(`| ${name} | ${(total / MEASURED).toFixed(1)} |`);

  const collector = await startCollector();
  const levels = {
    'no access lines': { log: { access: 'off' } },
    'access lines of failures': { log: { access: 'errors' } },
    'access lines of all requests (default)': {},
    'access lines and traces': { traces: { endpoint: `${collector.url}/v1/traces` } },
  };
  console.log('\n| Telemetry | CPU µs per request, all of the gateway |\n|---|---:|');
  for (const [name, telemetry] of Object.entries(levels))
    console.log(`| ${name} | ${(await run(telemetry)).toFixed(1)} |`);
  collector.close();
}

if (isMainThread) await main();
else startClient(workerData as string);
