import type { IncomingMessage } from 'node:http';
import { GatewayError, type Reply } from '../../../plugin/index.ts';
import type { GatewayContext } from '../../../core/kernel/index.ts';
import type { WebSocketSettings } from '../settings/websockets.ts';
import type { OpenSockets } from './open-sockets.ts';

/** RFC 6455, section 4.1. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

/** True for a request that asks for a WebSocket (RFC 6455, section 4.1). */
export const asksForWebSocket = ({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean =>
  method === 'GET' &&
  headers.upgrade?.toLowerCase() === 'websocket' &&
  (headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .includes('upgrade');

/**
 * Answers the handshake of a caller who is known. It is not a plugin, so no plugin list can leave it out, and its checks run
 * where explain sees them. The reply says only that the socket may open: the listener writes the handshake.
 */
export function answerHandshake(
  { exchange, req, res }: Pick<GatewayContext, 'exchange' | 'req' | 'res'>,
  settings: WebSocketSettings,
  sockets: OpenSockets,
): Reply {
  if (!settings.enabled)
    throw new GatewayError('upgrade_required', 'This gateway serves no WebSockets: send POST /v1/responses.');
  if (!asksForWebSocket(req))
    throw new GatewayError('upgrade_required', 'GET /v1/responses opens a WebSocket. Over HTTP, send POST.');
  if (req.headers['sec-websocket-version'] !== VERSION)
    throw new GatewayError('invalid_header', `Sec-WebSocket-Version must be ${VERSION}.`);
  if (!KEY.test(req.headers['sec-websocket-key'] ?? ''))
    throw new GatewayError('invalid_header', 'Sec-WebSocket-Key must be 16 bytes in base64.');
  checkOrigin(req, settings);
  const refusal = sockets.enter(exchange, res);
  if (refusal) throw refusal;
  return { status: 101, headers: {}, body: Buffer.alloc(0), stream: false };
}

/** Browsers let any page open a WebSocket to any host and tell its origin (RFC 6455, section 10.2). */
function checkOrigin({ headers: { origin, host } }: IncomingMessage, { origins }: WebSocketSettings): void {
  if (origin === undefined || origins.includes(origin.toLowerCase())) return;
  if (host !== undefined && URL.parse(origin)?.host === host.toLowerCase()) return;
  throw new GatewayError(
    'origin_not_allowed',
    `A page of ${JSON.stringify(origin.slice(0, 200))} may not open a WebSocket here (websockets.origins).`,
  );
}
