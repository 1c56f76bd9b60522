import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { KEY, until, writeSettings } from '../support/gateway.ts';
import { openaiChunk, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import type { ServerResponse } from 'node:http';
import { MAIN } from '../support/built.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** An upstream that says one word of each stream and waits for the test. */
interface Waiting {
  readonly upstream: ScriptedUpstream;
  /** By the last message of the request. */
  readonly replies: Map<string, ServerResponse>;
}

async function startWaiting(): Promise<Waiting> {
  const replies = new Map<string, ServerResponse>();
  const upstream = await startUpstream((seen, res) => {
    const [{ content }] = seen.json['messages'] as [{ content: string }];
    replies.set(content, res);
    if (content.startsWith('quick')) return finish(res);
    if (content.startsWith('silent')) return;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(event(openaiChunk({ role: 'assistant', content: `${content} begun` })));
  });
  ended.push(() => upstream.close());
  return { upstream, replies };
}

function finish(res: ServerResponse): void {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(`${event(openaiChunk({ content: ' and ended' }))}${event(openaiChunk({}, 'stop'))}data: [DONE]\n\n`);
}

/** `gatehouse serve` as a process, and what it says. */
class Serving {
  readonly #process: ChildProcess;
  readonly exited: Promise<number | null>;
  said = '';
  code: number | null | undefined;

  constructor(configs: string) {
    this.#process = spawn(process.execPath, [MAIN, 'serve', '--configs', configs], { cwd: packageFile('') });
    this.exited = new Promise((resolve) =>
      this.#process.once('exit', (code) => {
        this.code = code;
        resolve(code);
      }),
    );
    for (const stream of [this.#process.stdout!, this.#process.stderr!])
      stream.on('data', (piece: Buffer) => (this.said += piece.toString()));
    ended.push(() => this.#process.kill('SIGKILL'));
  }

  /** Where it listens for requests, and for probes. */
  async listens(): Promise<{ url: string; statusUrl: string }> {
    const urls = /listens on (http:\/\/[\d.:]+);[^\n]*?(http:\/\/[\d.:]+)/;
    await until(() => urls.test(this.said), 'it listens');
    const [, url, statusUrl] = urls.exec(this.said)!;
    return { url: url!, statusUrl: statusUrl! };
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#process.kill(name);
  }

  /** Access lines, parsed. */
  get lines(): Record<string, unknown>[] {
    return this.said
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes('"route"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

async function serve(drain: object): Promise<Waiting & { serving: Serving; url: string; statusUrl: string }> {
  const waiting = await startWaiting();
  const loopback = { host: '127.0.0.1', port: 0 };
  const dir = writeSettings({
    server: { listen: loopback, status: loopback, admin: { enabled: false }, drain },
    catalog: {
      providers: [{ slug: 'own', provider: 'openai', base_url: `${waiting.upstream.url}/v1`, allow_insecure: true }],
    },
  });
  ended.push(() => rmSync(dir, { recursive: true, force: true }));
  const serving = new Serving(dir);
  return { ...waiting, serving, ...(await serving.listens()) };
}

interface Heard {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
  /** The connection was cut before the reply's end. */
  cut: boolean;
  done: Promise<void>;
}

/** A request on a connection of its own, and what has come back of it so far. */
async function ask(url: string, content: string, path = '/v1/chat/completions'): Promise<Heard> {
  const body = JSON.stringify({ model: '@own/m', max_tokens: 9, stream: true, messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
  const sent = request(url + path, { method: 'POST', agent: false, headers });
  const heard: Heard = { status: 0, headers: {}, text: '', cut: false, done: Promise.resolve() };
  const answered = new Promise<void>((resolve, reject) => {
    sent.once('error', reject).once('response', (response) => {
      heard.status = response.statusCode!;
      heard.headers = response.headers;
      response.on('data', (piece: Buffer) => (heard.text += piece.toString()));
      response.on('error', () => (heard.cut = true));
      heard.done = new Promise((closed) => response.once('close', closed));
      resolve();
    });
  });
  sent.end(body);
  await answered;
  return heard;
}

async function untilNotReady(statusUrl: string): Promise<void> {
  let answer = await fetch(`${statusUrl}/readyz?verbose`);
  while (answer.status === 200) answer = await fetch(`${statusUrl}/readyz?verbose`);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('- draining')]);
}

/** Nobody listens there any more. */
async function isRefused(url: string): Promise<boolean> {
  try {
    await (
      await ask(url, 'quick, too late')
    ).done;
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
  }
}

interface Client {
  readonly path: string;
  readonly lastEvent: RegExp;
  readonly error: RegExp;
}

const CLIENTS: readonly Client[] = [
  {
    path: '/v1/chat/completions',
    lastEvent: /data: \[DONE\]\n\n$/,
    error:
      /\n\ndata: \{"error":\{"message":"The gateway is shutting down.*"code":"shutting_down".*\}\}\n\n(?:data: \[DONE\]\n\n)?$/,
  },
  {
    path: '/v1/messages',
    lastEvent: /"type":"message_stop"\}\n\n$/,
    error: /\n\nevent: error\ndata: \{"type":"error","error":\{.*"message":"The gateway is shutting down.*\}\n\n$/,
  },
];

function expectWhole(stream: Heard, { lastEvent }: Client): void {
  expect([stream.status, stream.cut]).toEqual([200, false]);
  expect(stream.text).toContain('and ended');
  expect(stream.text).toMatch(lastEvent);
  expect(stream.text).not.toContain('"error":');
}

function expectOneError(stream: Heard, { error }: Client): void {
  expect([stream.status, stream.cut]).toEqual([200, false]);
  expect(stream.text).not.toContain('and ended');
  expect(stream.text.match(/"error":/g)).toHaveLength(1);
  expect(stream.text).toMatch(error);
}

describe('SIGTERM', () => {
  it('under 200 streams: says that it is not ready, serves on, listens no more, and cuts what does not end, with one error event', async () => {
    const { serving, url, statusUrl, upstream, replies } = await serve({ delay: '2s', timeout: '3s' });
    const names = Array.from({ length: 200 }, (_, index) => `stream-${index}`);
    const streams = await Promise.all(names.map((name, index) => ask(url, name, CLIENTS[index % 2]!.path)));
    const endsInTime = (index: number): boolean => index % 4 < 2;
    expect((await fetch(`${statusUrl}/readyz`)).status).toBe(200);

    serving.signal('SIGTERM');
    await untilNotReady(statusUrl);
    const late = await ask(url, 'quick, in the delay');
    await late.done;
    expect(late.headers['connection']).toBe('close');
    expectWhole(late, CLIENTS[0]!);

    for (const name of names.filter((_, index) => endsInTime(index))) finish(replies.get(name)!);
    while (!(await isRefused(url)));
    expect(serving.code).toBeUndefined();

    await Promise.all(streams.map((stream) => stream.done));
    for (const [index, stream] of streams.entries()) {
      const expectEnd = endsInTime(index) ? expectWhole : expectOneError;
      expectEnd(stream, CLIENTS[index % 2]!);
    }
    expect(await serving.exited).toBe(1);
    await until(() => upstream.sockets.size === 0, 'the upstream calls were aborted');
    const cut = serving.lines.filter((line) => line['error_code'] === 'shutting_down');
    expect(cut).toHaveLength(100);
    for (const line of cut) expect(line).toMatchObject({ status: 200, error_type: 'shutdown', stream: true });
    expect(serving.said).toContain('100 requests had to be cut');
  });

  it('answers those that still wait with 503 when their time is over', async () => {
    const { serving, url, upstream } = await serve({ delay: '0s', timeout: '300ms' });
    const waiting = Promise.all([ask(url, 'silent'), ask(url, 'silent', '/v1/messages')]);
    await until(() => upstream.seen.length === 2, 'both wait at the upstream');
    serving.signal('SIGTERM');
    const [chat, messages] = await waiting;
    await Promise.all([chat.done, messages.done]);
    for (const { headers } of [chat, messages])
      expect(headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
    expect([chat.status, JSON.parse(chat.text)]).toMatchObject([503, { error: { code: 'shutting_down' } }]);
    expect([messages.status, JSON.parse(messages.text)]).toMatchObject([503, { type: 'error' }]);
    expect(await serving.exited).toBe(1);
    expect(upstream.seen.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(serving.lines.map((line) => line['error_code'])).toEqual(['shutting_down', 'shutting_down']);
  });

  it('ends with 0 as soon as all has ended', async () => {
    const { serving, url, replies } = await serve({ delay: '0s', timeout: '1m' });
    const stream = await ask(url, 'one');
    serving.signal('SIGTERM');
    finish(replies.get('one')!);
    await stream.done;
    expect(stream.text).toContain('[DONE]');
    expect(await serving.exited).toBe(0);
    expect(serving.lines).toMatchObject([{ status: 200, msg: 'request completed' }]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('and %s after it end at once with 1', async (second) => {
    const { serving, url, statusUrl } = await serve({ delay: '1m', timeout: '1m' });
    const stream = await ask(url, 'endless');
    serving.signal('SIGTERM');
    await untilNotReady(statusUrl);
    // What comes within half a second is the first one, passed on by a parent.
    await until(() => (serving.signal(second), serving.code !== undefined), 'it has ended');
    expect(serving.code).toBe(1);
    await stream.done;
    expect(stream.cut).toBe(true);
  });
});

it('a signal that comes twice, as a Ctrl-C does through npm, cuts nothing', async () => {
  const { serving, url, statusUrl, replies } = await serve({ delay: '0s', timeout: '1m' });
  const stream = await ask(url, 'one');
  // Two of a kind might reach the process as one.
  serving.signal('SIGINT');
  serving.signal('SIGTERM');
  await untilNotReady(statusUrl);
  finish(replies.get('one')!);
  await stream.done;
  expectWhole(stream, CLIENTS[0]!);
  expect(await serving.exited).toBe(0);
});

it('SIGINT leaves out the delay', async () => {
  const { serving, url, replies } = await serve({ delay: '1m', timeout: '1m' });
  const stream = await ask(url, 'one');
  serving.signal('SIGINT');
  finish(replies.get('one')!);
  await stream.done;
  expect(stream.text).toContain('[DONE]');
  expect(await serving.exited).toBe(0);
});
