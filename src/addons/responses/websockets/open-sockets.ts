import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../../plugin/index.ts';
import type { Exchange } from '../../../core/kernel/index.ts';
import { compileWebSockets, type WebSocketSettings } from '../settings/websockets.ts';

export interface OpenSocket {
  /** Closes it once its running turn has ended. */
  drain(): void;
  terminate(): void;
}

/** Holds bytes for a key, or returns false; negative to release them. */
export type HoldBytes = (bytes: number) => boolean;

/** Once this part of `heldBytes` is in use, a key holds at most the rest: one key cannot close the sockets of the others. */
const UNSHARED = 3 / 4;

/** Time after which a key whose sockets are all open may try again. */
const RETRY_AFTER_MS = 1000;

/** The state of an open socket: it answers a message, or waits for one. */
type SocketState = 'answering' | 'waiting';
type CountSockets = (state: SocketState, change: 1 | -1) => void;

/** All WebSockets of the process. Outlives snapshots and uses the limits of the latest one. */
export class OpenSockets {
  /** Called when the number of sockets in a state changes. */
  readonly #count: CountSockets;
  readonly #open = new Map<OpenSocket, SocketState>();
  readonly #places = new Map<string, number>();
  readonly #heldBy = new Map<string, number>();
  /** Handshakes that wait for their answer, with the key whose place they have taken. */
  readonly #handshakes = new WeakMap<ServerResponse, string | undefined>();
  limits: WebSocketSettings = compileWebSockets();
  /** Bytes that sockets hold besides their running turns. */
  #held = 0;
  #draining = false;

  constructor(count: CountSockets = () => {}) {
    this.#count = count;
  }

  /** A response that opens a socket takes a place for it, and no other. */
  expect(res: ServerResponse): void {
    this.#handshakes.set(res, undefined);
  }

  /** Takes a place for the socket of the caller, or returns the refusal. */
  enter({ caller }: Exchange, res: ServerResponse): GatewayError | undefined {
    if (!this.#handshakes.has(res)) return undefined;
    if (this.#draining) return new GatewayError('shutting_down', 'The gateway is shutting down. Connect again.');
    const key = caller?.keyId ?? '';
    const count = this.#places.get(key) ?? 0;
    if (count >= this.limits.perKey)
      return new GatewayError(
        'busy',
        `This key has ${this.limits.perKey} WebSockets open (websockets.per_key). Close one, or send requests over HTTP.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    this.#places.set(key, count + 1);
    this.#handshakes.set(res, key);
    return undefined;
  }

  leave(res: ServerResponse): void {
    const key = this.#handshakes.get(res);
    if (key === undefined) return;
    this.#handshakes.delete(res);
    const count = (this.#places.get(key) ?? 0) - 1;
    if (count > 0) this.#places.set(key, count);
    else this.#places.delete(key);
  }

  add(socket: OpenSocket): void {
    this.#open.set(socket, 'waiting');
    this.#count('waiting', 1);
    if (this.#draining) socket.drain();
  }

  delete(socket: OpenSocket): void {
    const state = this.#open.get(socket);
    this.#open.delete(socket);
    if (state) this.#count(state, -1);
  }

  answers(socket: OpenSocket, isAnswering: boolean): void {
    const before = this.#open.get(socket);
    const now = isAnswering ? 'answering' : 'waiting';
    if (!before || before === now) return;
    this.#open.set(socket, now);
    this.#count(before, -1);
    this.#count(now, 1);
  }

  readonly keyOf = (res: ServerResponse): string => this.#handshakes.get(res) ?? '';

  /** Counts bytes for the key of a handshake. False: they do not fit, or not the key's share, and do not count. */
  holdFor(res: ServerResponse): HoldBytes {
    const key = this.keyOf(res);
    return (bytes) => {
      const ofKey = (this.#heldBy.get(key) ?? 0) + bytes;
      if (bytes > 0 && !this.#hasRoom(bytes, ofKey)) return false;
      this.#held += bytes;
      if (ofKey > 0) this.#heldBy.set(key, ofKey);
      else this.#heldBy.delete(key);
      return true;
    };
  }

  #hasRoom(bytes: number, ofKey: number): boolean {
    const { heldBytes } = this.limits;
    const held = this.#held + bytes;
    return held <= heldBytes && (held <= heldBytes * UNSHARED || ofKey <= heldBytes * (1 - UNSHARED));
  }

  /** Closes each socket once its running turn has ended. Further ones are refused. */
  drain(): void {
    this.#draining = true;
    for (const socket of this.#open.keys()) socket.drain();
  }

  terminate(): void {
    for (const socket of this.#open.keys()) socket.terminate();
  }
}
