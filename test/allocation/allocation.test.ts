import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY, writeSettings } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const root = join(import.meta.dirname, '..', '..');
const TEXT = 'All happy families are alike; each unhappy family is unhappy in its own way. ';

const OPENAI = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [
    { index: 0, message: { role: 'assistant', content: TEXT.repeat(8) }, logprobs: null, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 200, completion_tokens: 150, total_tokens: 350 },
};
const CHUNK = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, delta: { content: TEXT }, logprobs: null, finish_reason: null }],
};
const CLAUDE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: TEXT.repeat(8) }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 200, output_tokens: 150 },
};

let upstream: ScriptedUpstream;
let gateway: ChildProcess;
let url: string;
let dir: string;

beforeAll(async () => {
  upstream = await startUpstream(({ url: path, json }, res) => {
    // A stream that goes on for longer than the test.
    if (json['stream'] === true) {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(CHUNK)}\n\n`);
      return;
    }
    const body = JSON.stringify(path.includes('/messages') ? CLAUDE : OPENAI);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
  });
  const entry = { api_key: 'sk-test', base_url: upstream.url, allow_insecure: true };
  dir = writeSettings({
    catalog: {
      providers: [
        { slug: 'gpt', provider: 'openai', ...entry },
        { slug: 'claude', provider: 'anthropic', ...entry },
      ],
    },
  });
  const heap = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
  const hook = ['--import', join(import.meta.dirname, 'report-heap.ts')];
  gateway = spawn(process.execPath, [...heap, ...hook, join(root, 'src/cli/main.ts'), 'serve', '--configs', dir], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  url = await listening(gateway);
});

afterAll(async () => {
  gateway.kill();
  await once(gateway, 'exit');
  await upstream.close();
  rmSync(dir, { recursive: true });
});

/** The address of the data listener, which the gateway names when it listens. */
function listening({ stdout, stderr }: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    for (const stream of [stdout!, stderr!])
      stream.on('data', (piece) => {
        text += String(piece);
        const found = /listens on (http:\/\/[\d.:]+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
    gateway.once('exit', () => reject(new Error(`The gateway did not start: ${text}`)));
  });
}

async function heapOf(request: 'gc' | 'now'): Promise<number> {
  gateway.send(request);
  const [bytes]: unknown[] = await once(gateway, 'message');
  return Number(bytes);
}

async function post(model: string, more: { readonly stream?: true; readonly signal?: AbortSignal }): Promise<Response> {
  const { signal = null, ...fields } = more;
  const messages = [{ role: 'user', content: TEXT.repeat(11) }];
  const body = JSON.stringify({ model, max_tokens: 300, messages, ...fields });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
  const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body, signal });
  expect(reply.status).toBe(200);
  return reply;
}

async function send(model: string): Promise<void> {
  await (await post(model, {})).arrayBuffer();
}

async function sendAll(model: string, count: number): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let sent = 0; sent < count / 8; sent += 1) await send(model);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** Compiled code allocates less, so the code must be compiled first. */
const WARM_UP = 3000;
const COUNT = 400;

it.each([
  ['in its own format', '@gpt/gpt-4o-mini', 50],
  ['translated for Claude', '@claude/claude-sonnet-4-5', 66],
])(
  'A chat of 1 KB %s (%s) allocates at most %d KB',
  async (_, model, most) => {
    await sendAll(model, WARM_UP);
    let least = Infinity;
    // The lowest of three: timers, reloads of files and the compiler allocate now and then.
    for (let round = 0; round < 3; round += 1) {
      const before = await heapOf('gc');
      await sendAll(model, COUNT);
      least = Math.min(least, ((await heapOf('now')) - before) / COUNT / 1024);
    }
    console.log(`${model}: ${least.toFixed(1)} KB per request`);
    expect(least).toBeLessThan(most);
    expect(least).toBeGreaterThan(5);
  },
  120_000,
);

/** Opens streams until the first event of each has arrived. */
async function openStreams(count: number, signal: AbortSignal): Promise<void> {
  const open = async (): Promise<void> => {
    const { body } = await post('@gpt/gpt-4o-mini', { stream: true, signal });
    await body!.getReader().read();
  };
  for (let opened = 0; opened < count; opened += 20) await Promise.all(Array.from({ length: 20 }, open));
}

const STREAMS = 300;

it('An open stream holds at most 24 KB of heap', async () => {
  const client = new AbortController();
  await openStreams(100, client.signal);
  const before = await heapOf('gc');
  await openStreams(STREAMS, client.signal);
  const held = ((await heapOf('gc')) - before) / STREAMS / 1024;
  client.abort();
  console.log(`${held.toFixed(1)} KB of heap per stream`);
  expect(held).toBeLessThan(24);
  expect(held).toBeGreaterThan(5);
}, 120_000);
