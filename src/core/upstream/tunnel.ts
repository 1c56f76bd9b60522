import type { Socket } from 'node:net';
import { UpstreamError } from '../../plugin/index.ts';
import type { ProxyServer } from './types.ts';

/** A proxy that sends more than this before the end of its head is not one. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

type TunnelDone = (error: UpstreamError | undefined) => void;

/**
 * Asks a proxy for a tunnel (CONNECT, RFC 9110, section 9.3.6). Nothing of the upstream has been read afterwards: the
 * client speaks first in TLS. @param target `host:port`
 */
export function openTunnel(socket: Socket, proxy: ProxyServer, target: string, done: TunnelDone): void {
  let head: Buffer = Buffer.alloc(0);
  const finish = (error?: UpstreamError): void => {
    socket.off('readable', read).off('close', closed).off('end', closed);
    done(error);
  };
  const refuse = (reason: string): void =>
    finish(new UpstreamError('connection_failed', `The proxy opened no tunnel to ${target} (${reason}).`));
  const closed = (): void => refuse('it closed the connection');
  const read = (): void => {
    for (let bytes: Buffer | null; (bytes = socket.read() as Buffer | null) !== null;) {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf(HEAD_END);
      if (end >= 0) return answered(head.toString('latin1', 0, end), head.length - end - HEAD_END.length);
      if (head.length > MAX_HEAD_BYTES) return refuse('its answer is too long');
    }
  };
  const answered = (text: string, rest: number): void => {
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
    if (status === undefined) return refuse('its answer is not HTTP');
    if (!status.startsWith('2')) return refuse(status === '407' ? '407: it demands other credentials' : status);
    if (rest > 0) return refuse('it sent bytes of its own');
    finish();
  };
  socket.on('readable', read).on('close', closed).on('end', closed);
  const authorization = proxyAuthorization(proxy);
  const line = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${line}\r\n`);
}

/** RFC 7617; UTF-8, as browsers send it. */
export const proxyAuthorization = ({ credentials }: ProxyServer): string | undefined =>
  credentials && `Basic ${Buffer.from(credentials.reveal()).toString('base64')}`;
