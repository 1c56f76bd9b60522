import { rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { GatewayOptions } from '../../src/core/process/gateway-options.ts';
import { KEY, startTestGateway, until, writeSettings, type TestGateway } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** Key of another caller. */
export const OTHER_KEY = 'gk-of-another-caller';

export interface Place {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  /** Replies of the upstream that wait for the test, in the order of their requests. */
  readonly replies: ServerResponse[];
  /** The gateway has these limits from now on. */
  relimit(limits: object): Promise<void>;
  /** The gateway reads this server.yaml, and what is put beside it. */
  rewrite(server: object, beside?: (dir: string) => void): Promise<void>;
}

export async function start(server: object, options: Partial<GatewayOptions> = {}): Promise<Place> {
  const replies: ServerResponse[] = [];
  const upstream = await startUpstream((_, res) => void replies.push(res));
  open.push(upstream);
  const loopback = { host: '127.0.0.1', port: 0 };
  const always = { listen: loopback, status: loopback, admin: { port: 0 }, reload: { watch: false } };
  const dir = writeSettings({
    server: { ...always, ...server },
    keys: { keys: [KEY, OTHER_KEY].map((key, index) => ({ id: ['test', 'other'][index], key })) },
    catalog: {
      providers: [{ slug: 'own', provider: 'openai', base_url: `${upstream.url}/v1`, allow_insecure: true }],
    },
  });
  open.push({ close: () => rmSync(dir, { recursive: true, force: true }) });
  const gateway = await startTestGateway({}, { configs: dir, ...options });
  open.unshift(gateway);
  const rewrite: Place['rewrite'] = async (next, beside) => {
    writeFileSync(join(dir, 'server.yaml'), JSON.stringify({ ...always, ...next }));
    beside?.(dir);
    const { outcome } = await gateway.gateway.reload();
    if (outcome !== 'changed') throw new Error(`the settings are ${outcome}`);
  };
  return { gateway, upstream, replies, rewrite, relimit: (limits) => rewrite({ ...server, limits }) };
}

export interface Ask {
  readonly path?: string;
  readonly key?: string;
  readonly size?: number;
  readonly stream?: boolean;
  readonly headers?: Record<string, string>;
}

export const bodyOf = (size = 0, stream = false): string =>
  JSON.stringify({ model: '@own/m', max_tokens: 9, stream, messages: [{ role: 'user', content: 'x'.repeat(size) }] });

export const ask = (
  { gateway }: Place,
  { path = '/v1/chat/completions', key = KEY, size, stream, headers }: Ask = {},
) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...headers },
    body: bodyOf(size, stream),
  });

/** So many requests wait at the upstream. */
export async function fill(
  place: Place,
  count: number,
  how: Ask = {},
): Promise<{ readonly asked: Promise<Response>[] }> {
  const before = place.replies.length;
  const asked = Array.from({ length: count }, () => ask(place, how));
  // Those that still wait when the test is over are cut.
  for (const one of asked) one.catch(() => {});
  await until(() => place.replies.length === before + count, 'the upstream has been asked');
  return { asked };
}

/** Streams more than the sockets on the way can hold, and comes back when it has to wait. */
export async function flood(res: ServerResponse): Promise<{ readonly over: Promise<void> }> {
  const chunk = `data: ${JSON.stringify(openaiChunk({ content: 'x'.repeat(1_000_000) }))}\n\n`;
  let written = 0;
  let goOn = (): void => {};
  res.on('drain', () => goOn()).on('close', () => goOn());
  const send = async (): Promise<void> => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (; written < 64 && !res.destroyed; written += 1)
      if (!res.write(chunk)) await new Promise<void>((resolve) => (goOn = resolve));
  };
  const over = send();
  let before = -1;
  let times = 0;
  // Asked often: what is on its way between sockets moves after the upstream has stopped.
  await until(() => {
    times = written === before && res.writableNeedDrain ? times + 1 : 0;
    before = written;
    return times > 30;
  }, 'the upstream has to wait');
  return { over };
}

export const answer = (res: ServerResponse): void => json(res, openaiReply('done'));
export const codes = ({ logs }: TestGateway) => logs.flatMap((line) => ('route' in line ? [line['error_code']] : []));

export async function metric({ gateway }: Place, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

/** Bytes as the test writes them on a bare socket, and all that comes back. */
export class Wire {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  text = '';

  constructor({ gateway: { gateway } }: Place) {
    this.socket = connect(gateway.data.port, gateway.data.host);
    this.socket.on('data', (piece) => (this.text += piece.toString()));
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    open.unshift({ close: () => this.socket.destroy() });
  }

  /** One byte at a time, until the connection closes. */
  async trickle(text: string): Promise<void> {
    for (const letter of text) {
      if (this.socket.readyState === 'closed' || this.text !== '') return;
      this.socket.write(letter);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  get answer(): unknown {
    return JSON.parse(this.text.slice(this.text.indexOf('\r\n\r\n') + 4));
  }
}

export const headOf = (length: number | 'chunked', path = '/v1/chat/completions', key = KEY): string =>
  `POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\nx-gateway-api-key: ${key}\r\n${length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`}\r\n`;
