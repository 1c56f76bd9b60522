import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { KEY, writeSettings, type TestSettings } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

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

/** A gateway in a process of its own, before a scripted upstream of OpenAI's and Anthropic's API. */
export interface MeasuredGateway {
  /** Bytes in use. @param request `gc`: after a collection */
  heapOf(request: 'gc' | 'now'): Promise<number>;
  /** Sends a message to the module that was loaded with the gateway, and returns its answer. */
  ask(message: string): Promise<unknown>;
  post(model: string, more: { readonly stream?: true; readonly signal?: AbortSignal }): Promise<Response>;
  /** Sends so many requests, eight at a time. */
  sendAll(model: string, count: number): Promise<void>;
  close(): Promise<void>;
}

/** @param reporter module that is loaded with the gateway and answers messages, from the root of the repository */
export async function startMeasured(
  settings: TestSettings = {},
  reporter = 'test/allocation/report-heap.ts',
): Promise<MeasuredGateway> {
  const upstream = await startUpstream(({ url: path, json }, res) => {
    // A stream that goes on for longer than the test.
    if (json['stream'] === true) {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(CHUNK)}\n\n`);
      return;
    }
    const body = JSON.stringify(path.includes('/messages') ? CLAUDE : OPENAI);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
  });
  const entry = { api_key: 'sk-test', base_url: upstream.url, allow_insecure: true };
  const providers = [
    { slug: 'gpt', provider: 'openai', ...entry },
    { slug: 'claude', provider: 'anthropic', ...entry },
  ];
  const dir = writeSettings({ catalog: { providers }, ...settings });
  const heap = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
  const hook = ['--import', join(root, reporter)];
  const gateway = spawn(
    process.execPath,
    [...heap, ...hook, join(root, 'src/cli/main.ts'), 'serve', '--configs', dir],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  const url = await listening(gateway);

  const post: MeasuredGateway['post'] = async (model, more) => {
    const { signal = null, ...fields } = more;
    const messages = [{ role: 'user', content: TEXT.repeat(11) }];
    const body = JSON.stringify({ model, max_tokens: 300, messages, ...fields });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
    const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body, signal });
    expect(reply.status).toBe(200);
    return reply;
  };
  const ask: MeasuredGateway['ask'] = async (message) => {
    const answer = once(gateway, 'message');
    gateway.send(message);
    const [value]: unknown[] = await answer;
    return value;
  };
  return {
    heapOf: async (request) => Number(await ask(request)),
    ask,
    post,
    async sendAll(model, count) {
      const lane = async (): Promise<void> => {
        for (let sent = 0; sent < count / 8; sent += 1) await (await post(model, {})).arrayBuffer();
      };
      await Promise.all(Array.from({ length: 8 }, lane));
    },
    async close() {
      gateway.kill();
      await once(gateway, 'exit');
      await upstream.close();
      rmSync(dir, { recursive: true });
    },
  };
}

/** The address of the data listener, which the gateway names when it listens. */
function listening(gateway: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    for (const stream of [gateway.stdout!, gateway.stderr!])
      stream.on('data', (piece) => {
        text += String(piece);
        const found = /listens on (http:\/\/[\d.:]+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
    gateway.once('exit', () => reject(new Error(`The gateway did not start: ${text}`)));
  });
}
