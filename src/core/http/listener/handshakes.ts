import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Clock } from '../../../plugin/index.ts';

/** Why a TLS handshake failed: its time passed, too many others were under way, the client left, or the two did not agree. */
export type HandshakeFailure = 'timeout' | 'full' | 'closed' | 'refused';

export interface HandshakeSetup {
  readonly clock: Clock;
  /** Milliseconds for a handshake, and how many may be under way at once. */
  readonly limits: () => { readonly ms: number; readonly most: number };
  readonly onFailed?: ((failure: HandshakeFailure) => void) | undefined;
}

interface TlsHandshake {
  readonly peer: string;
  readonly socket: Socket;
  readonly since: number;
  failure: HandshakeFailure;
}

/** The reply to plain HTTP, which OpenSSL knows by its method. It leaves without TLS. */
const PLAIN_HTTP = plainReply({
  error: {
    message: 'This port speaks TLS, and the request came as plain HTTP: send it to https://.',
    type: 'invalid_request_error',
    param: null,
    code: 'malformed_request',
  },
});

function plainReply(body: object): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`;
}

const CHECK_MS = 1000;

/**
 * Bounds connections whose TLS handshake has not ended: all limits of requests begin after it, and Node keeps any
 * number for two minutes. Beyond the number the oldest ends: a client that answers at once gets through a flood.
 */
export class Handshakes {
  readonly #setup: HandshakeSetup;
  /** By the address and port of the client, oldest first. Node does not say to which connection a TLS socket belongs. */
  readonly #open = new Map<string, TlsHandshake>();
  #isChecking = false;

  constructor(server: Server, setup: HandshakeSetup) {
    this.#setup = setup;
    server.prependListener('connection', (socket: Socket) => this.#begin(socket));
    server.prependListener('secureConnection', (socket: TLSSocket) => this.#open.delete(peerOf(socket)));
    server.prependListener('tlsClientError', ({ code }: NodeJS.ErrnoException, socket: TLSSocket) => {
      const handshake = this.#open.get(peerOf(socket));
      if (handshake) handshake.failure = 'refused';
      // A client that does not close is ended when its handshake has taken too long.
      if (handshake && code === 'ERR_SSL_HTTP_REQUEST') handshake.socket.end(PLAIN_HTTP);
      // Another client could not read an HTTP error.
      else socket.destroy();
    });
  }

  end(): void {
    for (const handshake of this.#open.values()) this.#fail(handshake, 'closed');
  }

  #begin(socket: Socket): void {
    const { clock, limits } = this.#setup;
    const { most } = limits();
    const handshake: TlsHandshake = { peer: peerOf(socket), socket, since: clock.now(), failure: 'closed' };
    const [oldest] = this.#open.size >= most ? this.#open.values() : [];
    if (oldest) this.#fail(oldest, 'full');
    this.#open.set(handshake.peer, handshake);
    socket.once('close', () => this.#fail(handshake, handshake.failure));
    if (!this.#isChecking) this.#checkLater();
  }

  #checkLater(): void {
    const { clock, limits } = this.#setup;
    this.#isChecking = true;
    clock.after(Math.min(limits().ms, CHECK_MS), () => this.#check());
  }

  #check(): void {
    const { clock, limits } = this.#setup;
    const { ms } = limits();
    this.#isChecking = false;
    for (const handshake of this.#open.values()) {
      if (clock.now() - handshake.since < ms) break;
      this.#fail(handshake, 'timeout');
    }
    if (this.#open.size > 0) this.#checkLater();
  }

  /** Without effect on a connection whose handshake has ended. */
  #fail(handshake: TlsHandshake, failure: HandshakeFailure): void {
    if (this.#open.get(handshake.peer) !== handshake) return;
    this.#open.delete(handshake.peer);
    handshake.socket.destroy();
    this.#setup.onFailed?.(failure);
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
