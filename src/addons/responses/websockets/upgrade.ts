import { ServerResponse, STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientCertificateOf } from '../../../core/http/gateway/client-certificate.ts';
import { responsesSocket } from '../responses-socket.ts';
import { refusalOfHead } from '../../../core/http/listener/ambiguous-head.ts';
import { latestReply } from '../../../core/http/listener/pipelines.ts';
import { fixedRoute, normaliseTarget } from '../../../core/http/listener/request-target.ts';
import type { UpgradeTools } from '../../../core/http/listener/data-server.ts';
import { frameOptions } from './frame-limits.ts';
import { asksForWebSocket } from './handshake.ts';
import { ReplySocket, type SocketReplyHead, type ReplySink } from './reply-socket.ts';
import { ResponsesSocket, type SocketSetup } from './responses-socket.ts';
import { respond } from './turn.ts';

type UpgradeSetup = UpgradeTools & Pick<SocketSetup, 'sockets'>;

/** True for a request whose connection becomes a WebSocket, if the request path agrees. All others are ordinary requests. */
export const opensWebSocket = (req: IncomingMessage): boolean =>
  asksForWebSocket(req) && targetOf(req) === responsesSocket.path;

/** Without a key in the query: servers log addresses, and only browsers cannot send a header instead. */
function targetOf({ url, method }: IncomingMessage): string {
  const target = { url, method, headers: {} };
  normaliseTarget(target);
  return target.url?.split('?', 1)[0] ?? '';
}

/** How long the client of a refused handshake may take to read the reply. */
const LINGER_MS = 5000;

/** Serves the WebSockets of the data listener. */
export function serveWebSockets(server: Server, setup: UpgradeSetup): void {
  const opening = routeOf('GET');
  const turn = routeOf('POST');
  server.on('upgrade', (req, socket, head) => {
    // Node takes its listeners off a socket that it hands over.
    socket.on('error', () => {});
    const before = latestReply(socket);
    // The reply to an earlier request of this connection is still on its way, and nothing may come between.
    if (before && !before.writableFinished) return void socket.destroy();
    // It is one: the listener has no other sockets.
    const tcp = socket as Socket;
    const { headers } = req;
    req.url = targetOf(req);
    const { remoteAddress } = tcp;
    const handshake = { url: req.url, headers, remoteAddress, certificate: clientCertificateOf(tcp) };
    const answer = handshakeSink(async (reply, body) => {
      const isOpen = reply?.status === 101;
      if (isOpen) tcp.once('close', () => setup.sockets.leave(res));
      else setup.sockets.leave(res);
      if (!reply || tcp.destroyed) {
        setup.sockets.leave(res);
        return void tcp.destroy();
      }
      if (!isOpen) {
        tcp.end(Buffer.concat([refusalHead(reply), body]));
        // node:http has given up this socket, which would stay half open until its client ends it.
        return void tcp
          .once(
            'close',
            setup.clock.after(LINGER_MS, () => tcp.destroy()),
          )
          .resume();
      }
      const { WebSocketServer } = await import('ws');
      const { limits } = setup.sockets;
      const [hold, key] = [setup.sockets.holdFor(res), setup.sockets.keyOf(res)];
      const upgrader = new WebSocketServer(frameOptions(limits.frameBytes));
      upgrader.on('headers', (lines: string[]) => lines.push(...ownHeaders(reply)));
      upgrader.handleUpgrade(req, tcp, head, (ws) => {
        const opened = new ResponsesSocket(ws, handshake, { ...setup, tcp, turn, opening, hold, key, limits });
        tcp.prependListener('data', (bytes: Buffer) => opened.arrived(bytes.length));
      });
    });
    const reply = new ReplySocket(remoteAddress, answer);
    tcp.once('close', () => reply.destroy());
    const res = new ServerResponse(req);
    setup.sockets.expect(res);
    const refusal = refusalOfHead(req);
    const routed = refusal ? { ...opening, refusal } : opening;
    respond(reply, { req, res, koa: () => setup.koa(req, res) }, { handle: setup.handle, routed });
  });
}

function routeOf(method: 'GET' | 'POST') {
  const { path } = responsesSocket;
  const route = fixedRoute({ url: path, method });
  if (!route) throw new Error(`no route ${method} ${path}`);
  return route.read({ path, headers: {} });
}

/** Receives the reply to a handshake; undefined for one that broke off. */
function handshakeSink(onEnd: (head: SocketReplyHead | undefined, body: Buffer) => Promise<void>): ReplySink {
  const pieces: Buffer[] = [];
  let received: SocketReplyHead | undefined;
  return {
    head: (head) => void (received = head),
    body(bytes, taken) {
      pieces.push(bytes);
      taken();
    },
    closed: (whole) => void onEnd(whole ? received : undefined, Buffer.concat(pieces)),
  };
}

function refusalHead({ status, headers }: SocketReplyHead): Buffer {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`, 'latin1');
}

/** The headers of the handshake itself, which `ws` writes. */
const HANDSHAKE_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length', 'date', 'keep-alive']);

const ownHeaders = ({ headers }: SocketReplyHead): string[] =>
  [...headers].filter(([name]) => !HANDSHAKE_HEADERS.has(name)).map(([name, value]) => `${name}: ${value}`);
