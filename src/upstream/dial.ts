import { isIPv6, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { toGatewayError, UpstreamError, type Clock, type GatewayError } from '../plugin/index.ts';
import { permittedAddresses, type Lookup } from './egress.ts';
import { causeOf, outOfSockets, toTlsError } from './faults.ts';

/** RFC 8305, section 5: the recommended wait before the next address is tried beside a silent one. */
const ATTEMPT_DELAY_MS = 250;

/** How connections come about: over the network, or in memory where gateway configs are tested. */
export interface Wire {
  /** @param to an address that was checked, and the name it was found by */
  connect(to: { readonly host: string; readonly port: number; readonly hostname: string }): Socket;
  /** TLS on the socket it is given. */
  readonly secure: buildConnector.connector;
}

/** What dialling needs that is the same for all connections of a pool. */
export interface DialContext {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly allowInsecure: boolean;
  readonly metadataServer: boolean;
  readonly chosenByCaller: boolean;
  readonly wire: Wire;
}

type Done = (error: GatewayError | undefined, socket?: Socket) => void;

/**
 * One connection being made: look up, check, connect to a checked address, then TLS for the name that was asked for.
 * Attempts to several addresses run beside each other, each starting when the one before has failed or been silent for a
 * while: Node's own `autoSelectFamily` gives each attempt but the last only that while, which far regions outlast.
 * There is no timeout in here: the request that waits has one, and abandons the dial when it passes.
 */
export class Dial {
  readonly #context: DialContext;
  readonly #target: buildConnector.Options;
  readonly #done: Done;
  readonly #attempts = new Set<Socket>();
  #addresses: readonly string[] = [];
  #next = 0;
  #stopWaiting: (() => void) | undefined;
  /** The socket under the TLS handshake. */
  #raw: Socket | undefined;
  #over = false;

  constructor(context: DialContext, target: buildConnector.Options, done: Done) {
    this.#context = context;
    this.#target = target;
    this.#done = done;
  }

  async start(): Promise<void> {
    const { allowInsecure, metadataServer, chosenByCaller, lookup } = this.#context;
    try {
      this.#addresses = await permittedAddresses(this.#target.hostname, allowInsecure, lookup, metadataServer);
    } catch (error) {
      const own = error instanceof Error ? outOfSockets(error.cause, this.#host) : undefined;
      this.#finish(own ?? (chosenByCaller && !allowInsecure ? unreported(error, this.#host) : toGatewayError(error)));
      return;
    }
    if (!this.#over) this.#attempt();
  }

  abandon(reason: GatewayError): void {
    this.#finish(reason);
    this.#raw?.destroy();
  }

  get #host(): string {
    const { hostname } = this.#target;
    return `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${this.#port}`;
  }

  get #port(): number {
    const { port, protocol } = this.#target;
    if (port !== '') return Number(port);
    return protocol === 'https:' ? 443 : 80;
  }

  #attempt(): void {
    this.#stopWaiting?.();
    const address = this.#addresses[this.#next];
    if (address === undefined) return;
    this.#next += 1;
    // An address literal: nothing is looked up again.
    const socket = this.#context.wire.connect({ host: address, port: this.#port, hostname: this.#target.hostname });
    this.#attempts.add(socket);
    socket.once('connect', () => this.#connected(socket));
    // Stays for as long as the socket lives: an attempt that lost may still fail, and that must reach nobody.
    socket.on('error', (error) => this.#failed(socket, error));
    this.#stopWaiting = this.#context.clock.after(ATTEMPT_DELAY_MS, () => this.#attempt());
  }

  #failed(socket: Socket, error: Error): void {
    if (!this.#attempts.delete(socket) || this.#over) return;
    if (this.#next < this.#addresses.length) return this.#attempt();
    if (this.#attempts.size > 0) return;
    this.#finish(
      outOfSockets(error, this.#host) ??
        new UpstreamError('connection_failed', `No connection to ${this.#host}${causeOf(error)}.`, { cause: error }),
    );
  }

  #connected(socket: Socket): void {
    this.#attempts.delete(socket);
    this.#stopWaiting?.();
    for (const loser of this.#attempts) loser.destroy();
    this.#attempts.clear();
    if (this.#over) {
      socket.destroy();
      return;
    }
    // Whole requests and answers are written at once: nothing is gained by waiting for more (Nagle).
    socket.setNoDelay(true);
    if (this.#target.protocol === 'https:') this.#handshake(socket);
    else this.#finish(undefined, socket.setKeepAlive(true, 60_000));
  }

  #handshake(raw: Socket): void {
    this.#raw = raw;
    this.#context.wire.secure({ ...this.#target, httpSocket: raw }, (...[error, socket]) => {
      if (error) {
        raw.destroy();
        this.#finish(toTlsError(error, this.#host));
      } else if (this.#over) socket.destroy();
      else this.#finish(undefined, socket);
    });
  }

  #finish(error: GatewayError | undefined, socket?: Socket): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting?.();
    for (const attempt of this.#attempts) attempt.destroy();
    this.#attempts.clear();
    this.#done(error, socket);
  }
}

/**
 * Whether a name leads inside or nowhere is a map of the network, one name at a time. Who may choose the host, but no address
 * inside, is told the same of both.
 */
const unreported = (cause: unknown, host: string): UpstreamError =>
  new UpstreamError(
    'egress_refused',
    `${host} cannot be reached: it has no address, or only such as callers may not choose (custom_hosts.allow_insecure).`,
    { cause },
  );
