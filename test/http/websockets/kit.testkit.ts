import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import WebSocket, { type ClientOptions } from 'ws';
import { KEY, type TestGateway } from '../../support/gateway.ts';

export type Frame = Record<string, unknown> & { readonly type: string };
interface Shown {
  readonly id: string;
  readonly status: string;
  readonly previous_response_id: unknown;
  readonly output: readonly { readonly content?: readonly { readonly text?: string }[] }[];
}

export const responseOf = (frame: Frame | undefined): Shown => frame?.['response'] as Shown;
export const codeOf = (frame: Frame | undefined): unknown => (frame?.['error'] as { code?: unknown })?.code;
export const shownText = (frame: Frame | undefined): string =>
  responseOf(frame)
    .output.flatMap(({ content = [] }) => content)
    .map(({ text: shown = '' }) => shown)
    .join('');

const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** A client that reads as Codex does. */
export class Client {
  readonly ws: WebSocket;
  readonly frames: Frame[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  #waiting: (() => void)[] = [];

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) throw new Error('a binary frame');
      this.frames.push(JSON.parse(data.toString()) as Frame);
      this.#wake();
    });
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#wake();
    });
    ws.on('error', () => {});
  }

  send(body: object): void {
    this.ws.send(JSON.stringify(body));
  }

  create(body: object): void {
    this.send({ type: 'response.create', ...body });
  }

  /** The frames up to the end of the next turn. */
  async turn(body?: object): Promise<Frame[]> {
    if (body) this.create(body);
    for (;;) {
      const end = this.frames.findIndex(({ type }) => ENDS.has(type));
      if (end >= 0) return this.frames.splice(0, end + 1);
      if (this.closed) throw new Error(`closed: ${this.closed.code} ${this.closed.reason}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.closed;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

type Served = Pick<TestGateway, 'url'>;

const addressOf = ({ url }: Served, path: string): string => `${url.replace('http', 'ws')}${path}`;
const HEADERS = { authorization: `Bearer ${KEY}`, 'openai-beta': 'responses_websockets=2026-02-06' };

interface Options extends ClientOptions {
  readonly path?: string;
}

export async function connect(
  gateway: Served,
  { path = '/v1/responses', headers, ...options }: Options = {},
): Promise<Client> {
  const ws = new WebSocket(addressOf(gateway, path), { headers: { ...HEADERS, ...headers }, ...options });
  const client = new Client(ws);
  onTestFinished(() => ws.terminate());
  await once(ws, 'open');
  return client;
}

/** The reply that refuses a handshake. */
export async function refusal(gateway: Served, { path = '/v1/responses', ...options }: Options = {}) {
  const ws = new WebSocket(addressOf(gateway, path), options);
  const [, reply] = (await once(ws, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse(await text(reply)) as { error: { code: string; message: string } };
  return { status: reply.statusCode, headers: reply.headers, code: body.error.code, message: body.error.message };
}

/** A connection whose bytes a test writes itself. */
export async function rawSocket(gateway: TestGateway): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = createConnection(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

export const HANDSHAKE = [
  'GET /v1/responses HTTP/1.1',
  'Host: gateway',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  `Authorization: Bearer ${KEY}`,
  '',
  '',
].join('\r\n');

/** A frame of a client, masked with zeros (RFC 6455, section 5.2). */
export function frameOf(opcode: number, payload: Buffer | string, { fin = true } = {}): Buffer {
  const bytes = Buffer.from(payload as string);
  const head = bytes.length < 126 ? Buffer.alloc(6) : Buffer.alloc(8);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (bytes.length < 126 ? bytes.length : 126);
  if (bytes.length >= 126) head.writeUInt16BE(bytes.length, 2);
  return Buffer.concat([head, bytes]);
}

/** A raw connection after its handshake. */
export async function rawWebSocket(gateway: TestGateway): Promise<Socket> {
  const socket = await rawSocket(gateway);
  socket.write(HANDSHAKE);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString().startsWith('HTTP/1.1 101 ')) throw new Error(head.toString());
  return socket;
}

/** Requests in flight, of all routes. */
export async function inFlight({ statusUrl }: TestGateway): Promise<number> {
  const metrics = await (await fetch(`${statusUrl}/metrics`)).text();
  const counts = [...metrics.matchAll(/^gatehouse_requests_in_flight(?:\{[^}]*\})? (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  if (counts.length === 0) throw new Error('no metric of requests in flight');
  return counts.reduce((sum, count) => sum + count, 0);
}
