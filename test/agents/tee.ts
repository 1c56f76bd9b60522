import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy between an agent and the gateway that keeps what both say, for `--dump`. */

export interface Said {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  body: string;
  status?: number;
  reply: string;
}

export interface Tee {
  readonly url: string;
  readonly said: readonly Said[];
  close(): void;
}

export async function startTee(gateway: string): Promise<Tee> {
  const said: Said[] = [];
  const server = createServer((req, res) => {
    const { method = '', url = '', headers } = req;
    const one: Said = { method, url, headers, body: '', reply: '' };
    said.push(one);
    const onward = request(`${gateway}${url}`, { method, headers }, (reply) => {
      one.status = reply.statusCode ?? 0;
      res.writeHead(one.status, reply.headers);
      reply.on('data', (piece: Buffer) => void (one.reply += piece.toString()));
      reply.on('error', () => res.destroy());
      reply.pipe(res);
    });
    onward.on('error', () => res.destroy());
    req.on('data', (piece: Buffer) => void (one.body += piece.toString()));
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, said, close: () => server.close().closeAllConnections() };
}
