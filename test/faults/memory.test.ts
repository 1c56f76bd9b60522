import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  openaiChunk,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
  type Script,
} from '../support/upstream.ts';

/**
 * What the process holds after garbage collection, while the bad thing goes on: gateway, upstream and clients together, so the bounds
 * are wide. A leak of what flows through would be hundreds of MiB in each of these tests.
 */

const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What of a buffer is outside the heap goes a turn or two after the object. */
async function held(): Promise<number> {
  for (let turn = 0; turn < 4; turn += 1) {
    collectGarbage();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Waits for what is garbage to go; what is kept does not. */
async function expectGrowth(before: number, bound: number): Promise<void> {
  await expect.poll(async () => (await held()) - before, { interval: 50 }).toBeLessThan(bound);
}

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script;
const clients = new Set<Socket>();
const answering = new Set<ServerResponse>();
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => {
    answering.add(res);
    res.on('close', () => answering.delete(res));
    return script(request, res, index);
  });
  gateway = await startTestGateway({
    server: {
      listen: { host: '127.0.0.1', port: 0 },
      status: { host: '127.0.0.1', port: 0 },
      admin: { port: 0 },
      limits: { connections: 1200, in_flight: 1200, in_flight_per_key: 1200, commit_bytes: '1MiB' },
    },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      openai: { provider: '@openai', override_params: { model: 'gpt-x' } },
      claude: { provider: '@claude', override_params: { model: 'claude-haiku-4-5' } },
      // Held until `timeouts.first_content`, because another target exists.
      silent: {
        strategy: { mode: 'fallback' },
        targets: [{ provider: '@openai', override_params: { model: 'gpt-x' } }, { provider: '@claude' }],
      },
      complete: { provider: '@openai', override_params: { model: 'gpt-x' }, commit: 'complete' },
    },
  });
});
afterEach(async () => {
  for (const socket of clients) socket.destroy();
  clients.clear();
  await until(() => answering.size === 0, 'upstreams are let go');
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const body = (stream: boolean): string =>
  JSON.stringify({ model: 'any', stream, max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] });

const headers = (config: string) => ({
  'content-type': 'application/json',
  'x-gateway-api-key': KEY,
  'x-gateway-config': config,
});

/** A client that stops reading with the first bytes of its reply. */
function slowReader(config: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  clients.add(socket);
  const text = body(true);
  const lines = Object.entries({ ...headers(config), host: hostname, 'content-length': String(text.length) });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${text}`,
  );
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('data', () => resolve(socket.pause()));
  });
}

interface Flood {
  readonly written: number;
  /** The upstream has been told to wait. */
  readonly waiting: boolean;
}

/** Writes one piece as fast as it is taken, up to `limit` bytes. */
function flood(res: ServerResponse, piece: Buffer, limit = Infinity): Flood {
  const state = { written: 0, waiting: false };
  const go = (): void => {
    state.waiting = false;
    while (!res.destroyed && state.written < limit) {
      state.written += piece.length;
      if (res.write(piece)) continue;
      state.waiting = true;
      return;
    }
  };
  res.on('drain', () => setImmediate(go));
  go();
  return state;
}

const line = (event: object): Buffer => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);

function begin(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** Resolves once `taken` has not changed for a while although the upstream may write. */
async function settled(taken: () => number): Promise<number> {
  let before = -1;
  for (let still = 0; still < 5;) {
    await new Promise((resolve) => setTimeout(resolve, 40));
    still = taken() === before ? still + 1 : 0;
    before = taken();
  }
  return before;
}

describe('memory stays bounded', () => {
  it.each([
    ['that passes through', 'openai'],
    ['that is translated', 'claude'],
  ])('by replies of 10 MB %s', async (_, config) => {
    const text = 'x'.repeat(10 * MIB);
    const whole = Buffer.from(JSON.stringify(config === 'openai' ? openaiReply(text) : anthropicReply(text)));
    script = (__, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(whole);
    const ask = async (): Promise<number> => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: headers(config),
        body: body(false),
      });
      let bytes = 0;
      for await (const piece of answer.body!) bytes += piece.length;
      return bytes;
    };
    expect(await ask()).toBeGreaterThan(10 * MIB);
    const before = await held();
    for (let n = 0; n < 12; n += 1) expect(await ask()).toBeGreaterThan(10 * MIB);
    await expectGrowth(before, 40 * MIB);
  });

  it.each([
    ['comments, held for another target', 'silent', ': ping\n\n'],
    ['events, held for another target', 'silent', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['events that are swallowed', 'claude', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['comments, held to the end', 'complete', ': ping\n\n'],
  ])('by endless pings: %s', async (_, config, ping) => {
    const floods: Flood[] = [];
    script = (__, res) => {
      begin(res);
      if (config === 'claude') for (const event of anthropicEvents().slice(0, 1)) res.write(line(event));
      floods.push(flood(res, Buffer.from(ping.repeat(100))));
    };
    const before = await held();
    for (let n = 0; n < 10; n += 1) void slowReader(config).catch(() => undefined);
    await until(() => floods.length === 10, 'all are asked');
    await settled(() =>
      Math.min(
        64 * MIB,
        floods.reduce((sum, { written }) => sum + written, 0),
      ),
    );
    await expectGrowth(before, 10 * 4 * MIB);
  });

  it('by slow readers of endless streams, since the upstream is made to wait', async () => {
    const floods: Flood[] = [];
    const piece = line(openaiChunk({ content: 'x'.repeat(4096) }));
    script = (_, res) => {
      begin(res);
      floods.push(flood(res, piece, 32 * MIB));
    };
    const before = await held();
    await Promise.all(Array.from({ length: 10 }, () => slowReader('openai')));
    await settled(() => floods.reduce((sum, { written }) => sum + written, 0));
    await until(() => floods.every(({ waiting }) => waiting), 'all upstreams are made to wait');
    // What the kernel takes on two hops: 4 MiB each by default, of which nothing is ours.
    for (const { written } of floods) expect(written).toBeLessThan(32 * MIB);
    await expectGrowth(before, 10 * 4 * MIB);
  });

  it('by 1,000 slow readers of long streams', async () => {
    const floods: Flood[] = [];
    const piece = line(openaiChunk({ content: 'x'.repeat(4096) }));
    script = (_, res) => {
      begin(res);
      // No more, or a thousand of them would fill the kernel's buffers, which all processes share.
      floods.push(flood(res, piece, 512 * 1024));
    };
    const before = await held();
    // A thousand at once would block the loop of this process for longer than the gateway waits for a head.
    for (let open = 0; open < 1000; open += 50)
      await Promise.all(Array.from({ length: 50 }, () => slowReader('openai')));
    await settled(() => floods.reduce((sum, { written }) => sum + written, 0));
    expect(floods).toHaveLength(1000);
    await expectGrowth(before, 1000 * 400 * 1024);
  });
});
