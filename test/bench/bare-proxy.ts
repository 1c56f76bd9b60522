/**
 * The measure of all ratios: node:http and undici `dispatch`, nothing else. It reads the body, sends it to the port in
 * `x-up` and sends the reply back; the head and the body of a short reply leave in one write.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';

const SHORT_BYTES = 65_536;
const UPSTREAM_HEADERS = Object.freeze({
  'content-type': 'application/json',
  authorization: 'Bearer upstream-key',
  accept: '*/*',
});

const pools = new Map<string, Pool>();

function poolFor(port: string): Pool {
  let pool = pools.get(port);
  if (!pool) {
    pool = new Pool(`http://127.0.0.1:${port}`, { connections: 512, pipelining: 1, keepAliveTimeout: 60_000 });
    pools.set(port, pool);
  }
  return pool;
}

function readBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', () => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
    req.on('error', reject);
  });
}

class ReplyWriter implements Dispatcher.DispatchHandler {
  readonly #res: ServerResponse;
  #short: { readonly status: number; readonly headers: Record<string, string> } | undefined;
  #body: Buffer | undefined;
  constructor(res: ServerResponse) {
    this.#res = res;
  }
  onRequestStart(): void {}
  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: NodeJS.Dict<string | string[]>): void {
    const length = headers['content-length'];
    const type = { 'content-type': String(headers['content-type']) };
    if (length === undefined || Number(length) > SHORT_BYTES)
      this.#res.writeHead(status, length === undefined ? type : { ...type, 'content-length': String(length) });
    else this.#short = { status, headers: { ...type, 'content-length': String(length) } };
  }
  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#short) {
      this.#body = this.#body ? Buffer.concat([this.#body, piece]) : piece;
    } else if (!this.#res.write(piece)) {
      controller.pause();
      this.#res.once('drain', () => controller.resume());
    }
  }
  onResponseEnd(): void {
    if (this.#short) this.#res.writeHead(this.#short.status, this.#short.headers);
    this.#res.end(this.#body);
  }
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#res.headersSent) this.#res.destroy();
    else this.#res.writeHead(502).end(error.message);
  }
}

async function proxy(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await readBody(req);
  const request = { path: req.url!, method: 'POST' as const, headers: UPSTREAM_HEADERS, body };
  poolFor(String(req.headers['x-up'])).dispatch(request, new ReplyWriter(res));
}

const server = createServer((req, res) => void proxy(req, res));
server.keepAliveTimeout = 600_000;
server.listen({ port: 8810, host: '127.0.0.1', backlog: 4096 });
