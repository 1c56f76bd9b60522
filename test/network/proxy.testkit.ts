import { createServer as createHttpServer, request as sendRequest, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Issued } from '../../src/core/settings/read/certificates.testkit.ts';

export interface TestProxy {
  readonly port: number;
  /** `CONNECT host:port` and `GET http://…`, in order. */
  readonly asked: readonly string[];
  /** The `proxy-authorization` of each. */
  readonly credentials: readonly (string | undefined)[];
}

export interface ProxyScript {
  /** Where names lead. Default: 127.0.0.1, at the port asked for. */
  readonly resolve?: (host: string) => { readonly host: string; readonly port?: number };
  /** `USER:PASSWORD` that it demands. */
  readonly credentials?: string;
  /** The whole answer to a CONNECT, in place of a tunnel; null: none, ever. */
  readonly answer?: string | null;
  /** Serves TLS. */
  readonly tls?: Issued;
}

/** A forward proxy on loopback: tunnels by CONNECT, and requests in absolute form. */
export async function startProxy({
  resolve = () => ({ host: '127.0.0.1' }),
  credentials,
  answer,
  tls,
}: ProxyScript = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const seen: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const isAllowed = ({ headers }: IncomingMessage): boolean => {
    const sent = headers['proxy-authorization'];
    seen.push(sent);
    return credentials === undefined || sent === `Basic ${Buffer.from(credentials).toString('base64')}`;
  };
  const server = tls ? createHttpsServer({ cert: tls.cert, key: tls.key }) : createHttpServer();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  server.on('connect', (req: IncomingMessage, client: Socket) => {
    asked.push(`CONNECT ${req.url}`);
    client.on('error', () => {});
    if (answer === null) return;
    if (answer !== undefined) return void client.end(answer);
    if (!isAllowed(req)) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const { hostname, port } = new URL(`http://${req.url}`);
    const to = resolve(hostname);
    const upstream = connect(to.port ?? Number(port || 80), to.host, () => {
      client.write('HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  server.on('request', (req, res) => {
    asked.push(`${req.method} ${req.url}`);
    if (!isAllowed(req)) return void res.writeHead(407).end();
    const { 'proxy-authorization': _, ...headers } = req.headers;
    const url = new URL(req.url ?? '');
    const to = resolve(url.hostname);
    const options = {
      host: to.host,
      port: to.port ?? url.port,
      path: url.pathname + url.search,
      method: req.method,
      headers,
    };
    const sent = sendRequest(options, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
    });
    sent.on('error', () => res.destroy());
    req.pipe(sent);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  // A TCP server has an AddressInfo.
  return { port: (server.address() as AddressInfo).port, asked, credentials: seen };
}
