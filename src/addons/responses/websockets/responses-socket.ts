import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { limitReached } from './answers.ts';
import { MOST_FRAGMENTS } from './frame-limits.ts';
import type { OpenSocket, OpenSockets } from './open-sockets.ts';
import { SocketTurns, type TurnsConnection, type TurnsSetup } from './socket-turns.ts';
import type { Handshake } from './turn.ts';

export interface SocketSetup extends TurnsSetup {
  readonly sockets: OpenSockets;
  readonly tcp: Pick<Duplex, 'cork' | 'uncork'>;
}

/** RFC 6455, section 7.4.1, and the registry of https://www.iana.org/assignments/websocket. */
const CLOSE = { normal: 1000, goingAway: 1001, unsupported: 1003, policy: 1008, tryLater: 1013 } as const;

/** How often the gateway asks whether the client is still there. */
const PING_MS = 30_000;
/** Messages that may wait while a turn runs. Reading of the connection stops long before. */
const MOST_WAITING = 32;
/** Messages that may wait before reading stops. */
const READ_AHEAD = 2;
/** Bytes of a control frame besides its payload (RFC 6455, section 5.2). */
const CONTROL_HEAD = 6;
/** Memory of a piece of a message besides its bytes: until the message is whole, each is a Buffer of its own. */
const LEAST_PIECE = 256;
/** Pongs are not sent into a connection in which this many bytes wait (RFC 6455, section 5.5.3 permits it). */
const PONG_ROOM = 16 * 1024;

/** The connection of a WebSocket: its messages wait for their turns, its bytes are counted, and it ends once. */
export class ResponsesSocket implements OpenSocket, TurnsConnection {
  readonly #ws: WebSocket;
  readonly #setup: SocketSetup;
  readonly #turns: SocketTurns;
  readonly #waiting: Buffer[] = [];
  readonly #stopLifetime: () => void;
  #stopIdle: (() => void) | undefined;
  #stopPing: (() => void) | undefined;
  #busy = false;
  #alive = true;
  /** Bytes of the message that is arriving, and the memory that is counted for them. */
  #bytes = 0;
  #arriving = 0;
  /** The socket closes when its turn has ended. */
  #closing: (() => void) | undefined;

  constructor(ws: WebSocket, handshake: Handshake, setup: SocketSetup) {
    this.#ws = ws;
    this.#setup = setup;
    const { sockets, clock } = setup;
    this.#turns = new SocketTurns(this, handshake, setup);
    ws.on('message', (data: Buffer, isBinary: boolean) => this.#take(data, isBinary));
    ws.on('ping', (data: Buffer) => {
      this.#controlled(data.length);
      if (ws.bufferedAmount < PONG_ROOM) ws.pong(data);
    });
    ws.on('pong', (data: Buffer) => {
      this.#controlled(data.length);
      this.#alive = true;
    });
    // `ws` closes the socket after an error, with a code that shows it to the client.
    ws.on('error', () => {});
    ws.on('close', () => this.#closed());
    this.#stopLifetime = clock.after(setup.limits.lifetimeMs, () =>
      this.endBy(limitReached('This WebSocket has reached its lifetime (websockets.lifetime).')),
    );
    this.#schedulePing();
    this.#startIdleTimer();
    sockets.add(this);
  }

  /** Counts a piece of a message that arrives. The socket closes when all sockets together, or those of its key, hold too much. */
  arrived(bytes: number): void {
    const held = Math.max(bytes, LEAST_PIECE);
    if (!this.#setup.hold(held)) return this.close(CLOSE.tryLater, 'the gateway holds too many messages');
    this.#arriving += held;
    this.#bytes += bytes;
  }

  /**
   * A control frame has been read. It comes between the frames of a message, whose fragments are all that is left of the reads before it:
   * a client that sends pings a byte at a time must not use up what all sockets may hold.
   */
  #controlled(payload: number): void {
    this.#bytes = Math.max(0, this.#bytes - payload - CONTROL_HEAD);
    const pieces = Math.min(this.#bytes, MOST_FRAGMENTS + 1);
    this.#release(Math.max(0, this.#arriving - this.#bytes - pieces * LEAST_PIECE));
  }

  #release(bytes: number): void {
    this.#setup.hold(-bytes);
    this.#arriving -= bytes;
  }

  begun(): void {
    this.#stopIdle?.();
  }

  drain(): void {
    this.#closeAfterTurn(() => this.close(CLOSE.goingAway, 'the gateway is shutting down'));
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #take(data: Buffer, isBinary: boolean): void {
    this.#release(this.#arriving);
    this.#bytes = 0;
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (isBinary) return this.close(CLOSE.unsupported, 'messages must be text');
    if (this.#waiting.length >= MOST_WAITING) return this.close(CLOSE.policy, 'too many messages wait');
    if (!this.#setup.hold(data.length)) return this.close(CLOSE.tryLater, 'the gateway holds too many messages');
    this.#waiting.push(data);
    if (this.#waiting.length >= READ_AHEAD) this.#ws.pause();
    this.#advance();
  }

  #advance(): void {
    if (this.#busy || this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#closing) return this.#finish();
    const message = this.#waiting.shift();
    if (this.#waiting.length < READ_AHEAD && this.#ws.isPaused) this.#ws.resume();
    if (!message) return this.#startIdleTimer();
    this.#setBusy(true);
    this.#turns.answer(message, () => this.#setup.hold(-message.length));
  }

  #setBusy(busy: boolean): void {
    this.#busy = busy;
    this.#setup.sockets.answers(this, busy);
  }

  /** The next message has its turn once everything before it has left. */
  readonly done = (): void => {
    this.#setBusy(false);
    this.#advance();
  };

  #startIdleTimer(): void {
    const { clock, limits } = this.#setup;
    this.#stopIdle?.();
    this.#stopIdle = clock.after(limits.idleMs, () => this.close(CLOSE.normal, 'no turn for too long'));
  }

  readonly #sendOne = (text: string, sent: () => void): void => {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.send(text, { binary: false }, () => sent());
    else sent();
  };

  /** Frames that leave together are one write of the connection: a write of its own takes most of the time of a short event (measured). */
  readonly send = (texts: readonly string[], sent: () => void): void => {
    const { tcp } = this.#setup;
    const last = texts.length - 1;
    tcp.cork();
    texts.forEach((text, at) => this.#sendOne(text, at === last ? sent : () => {}));
    tcp.uncork();
  };

  /** Sends what is no event of a response. It counts until it has left: a client that reads nothing loses the socket. */
  readonly say = (text: string, sent: () => void): void => {
    if (this.#ws.readyState !== this.#ws.OPEN) return sent();
    const bytes = Buffer.byteLength(text);
    if (!this.#setup.hold(bytes)) return this.close(CLOSE.tryLater, 'the gateway holds too many messages');
    this.#startIdleTimer();
    this.#sendOne(text, () => {
      this.#setup.hold(-bytes);
      sent();
    });
  };

  endBy(last: string): void {
    this.#closeAfterTurn(() => this.#sendOne(last, () => this.close(CLOSE.normal, 'limit reached')));
  }

  #closeAfterTurn(close: () => void): void {
    this.#closing ??= close;
    if (!this.#busy) this.#finish();
  }

  /** Closes the socket for the first of its reasons, once. */
  #finish(): void {
    const close = this.#closing;
    this.#closing = () => {};
    close?.();
  }

  close(code: number, reason: string): void {
    // Otherwise the client's answer to the close would not be read.
    if (this.#ws.isPaused) this.#ws.resume();
    this.#ws.close(code, reason);
    this.#turns.abort();
  }

  #schedulePing(): void {
    this.#stopPing = this.#setup.clock.after(PING_MS, () => {
      // A client that is not read cannot answer; one that does not read is bounded by the deadline of its turn.
      const isSilent = this.#ws.bufferedAmount > 0 || this.#ws.isPaused;
      if (!isSilent && !this.#alive) return this.#ws.terminate();
      if (!isSilent) {
        this.#alive = false;
        this.#ws.ping();
      }
      this.#schedulePing();
    });
  }

  #closed(): void {
    const { sockets, hold } = this.#setup;
    this.#stopLifetime();
    this.#stopIdle?.();
    this.#stopPing?.();
    sockets.delete(this);
    this.#turns.abort();
    this.#turns.forget();
    hold(-this.#arriving - this.#waiting.reduce((bytes, message) => bytes + message.length, 0));
    this.#waiting.length = 0;
    this.#arriving = 0;
  }
}
