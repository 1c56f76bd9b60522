import { connect } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import { UpstreamError, type Clock, type GatewayError } from '../../plugin/index.ts';
import { LiveList, type Listed } from '../kernel/live-list.ts';
import { createClient, type DialContext, type Wire } from './connection.ts';
import { checkOrigin, type Lookup } from './egress.ts';
import { WaitingLine } from './line.ts';
import { poolExhausted } from './limits.ts';
import type { Routes } from './route.ts';
import type { Origin } from './types.ts';

export interface PoolContext {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly wire: Wire;
  /** Default: none has a proxy. */
  readonly routes?: Routes | undefined;
  readonly onWaiting?: ((change: number) => void) | undefined;
}

/** A request in the pool: it waits in line, and undici drives it once it has a connection. */
interface PooledRequest extends Dispatcher.DispatchHandler, Listed<PooledRequest> {
  readonly options: Dispatcher.DispatchOptions;
  readonly caller: string;
  onWaiting(): void;
  onTurn(): void;
  onFault(error: GatewayError): void;
}

/** The network: TCP, and TLS by undici's connector with its session cache. */
export const networkWire = (ca: readonly string[] = []): Wire => ({
  connect: ({ host, port }) => connect({ host, port }),
  secure: buildConnector({
    allowH2: false,
    timeout: 0,
    // One for all connections: reading 150 certificates takes milliseconds.
    ...(ca.length > 0 && { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...ca] }) }),
  }),
});

/** Below the 60 s after which common load balancers drop connections, so that few requests use a dead one. */
const KEEP_ALIVE_MS = 55_000;
const KEEP_ALIVE_MAX_MS = 600_000;

/** More than the origins of a catalog. Beyond it, reloads have left unused pools behind. */
const MAX_POOLS = 1024;
/** Maximum number of requests that wait for a connection of one origin: far more than the default of `limits.in_flight`. */
const MAX_WAITING = 10_000;

const EVICTED = new UpstreamError('connection_failed', 'The connections to this upstream were closed.');

/**
 * Requests wait for a connection here and not in undici's queue, which would keep an abandoned request and its body
 * until a connection became free. The request limits its time in the line (`timeouts.connect`); the pool its length.
 */
export class OriginPool {
  readonly url: string;
  /** Host name and port, for messages. */
  readonly host: string;
  readonly #pool: Pool;
  readonly #connections: number;
  readonly #running = new LiveList<PooledRequest>();
  readonly #waiting = new WaitingLine<PooledRequest>();
  readonly #onWaiting: (change: number) => void;
  /** Monotonic time of the last request for the pool. */
  requestedAt = 0;
  #startScheduled = false;

  constructor(origin: Origin, context: PoolContext) {
    const url = checkOrigin(origin);
    const { clock, lookup, wire, routes } = context;
    const { allowInsecure, metadataServer = false, chosenByCaller = false } = origin;
    // A metadata server is one of this machine.
    const proxy = metadataServer ? undefined : routes?.proxyFor(url);
    const dialContext: DialContext = { clock, lookup, wire, proxy, allowInsecure, metadataServer, chosenByCaller };
    this.url = origin.url;
    this.host = url.host;
    this.#connections = origin.connections;
    this.#onWaiting = context.onWaiting ?? (() => {});
    this.#pool = new Pool(url, {
      connections: origin.connections,
      pipelining: 1,
      allowH2: false,
      // Disabled: the gateway's own limits consider phases, pings and backpressure.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      factory: (target, options) => createClient(target, options, dialContext),
    });
  }

  get busy(): boolean {
    return this.#running.size > 0 || this.#waiting.size > 0;
  }

  enter(dispatch: PooledRequest): void {
    if (this.#running.size < this.#connections && this.#waiting.size === 0) return this.#run(dispatch);
    if (this.#waiting.size >= MAX_WAITING)
      return dispatch.onFault(poolExhausted(this.host, 'the line for one is full'));
    dispatch.onWaiting();
    this.#waiting.enter(dispatch.caller, dispatch);
    this.#onWaiting(1);
  }

  /** Dispatches the request again, in the slot that it still holds. */
  reenter(dispatch: PooledRequest): void {
    this.#pool.dispatch(dispatch.options, dispatch);
  }

  leave(dispatch: PooledRequest): void {
    if (this.#waiting.size > 0 && this.#waiting.leave(dispatch.caller, dispatch)) return this.#onWaiting(-1);
    if (!this.#running.delete(dispatch)) return;
    if (this.#waiting.size === 0 || this.#startScheduled) return;
    this.#startScheduled = true;
    // Deferred, because this may run inside a call of undici's parser, and starting a request can re-enter it.
    queueMicrotask(() => this.#startWaiting());
  }

  stats(): { origin: string; running: number; connected: number; queued: number } {
    return {
      origin: this.url,
      running: this.#running.size,
      connected: this.#pool.stats.connected,
      queued: this.#waiting.size,
    };
  }

  async close(reason: GatewayError): Promise<void> {
    for (const dispatch of [...this.#waiting, ...this.#running.all()]) dispatch.onFault(reason);
    await this.#pool.destroy();
  }

  #startWaiting(): void {
    this.#startScheduled = false;
    while (this.#running.size < this.#connections) {
      const dispatch = this.#waiting.take();
      if (!dispatch) return;
      this.#onWaiting(-1);
      dispatch.onTurn();
      this.#run(dispatch);
    }
  }

  #run(dispatch: PooledRequest): void {
    this.#running.add(dispatch);
    this.#pool.dispatch(dispatch.options, dispatch);
  }
}

/** Pools by origin and options. They outlive the snapshot that created them. */
export class PoolDirectory {
  readonly #pools = new Map<string, OriginPool>();
  /** The pool of each origin that a request has named: nearly all name one that another has named. */
  #known = new WeakMap<Origin, OriginPool>();
  readonly #context: () => PoolContext;
  readonly #clock: Clock;
  readonly #max: number;
  #changedAt = 0;
  /** Version of the network settings: pools of an earlier one get no more requests. */
  #version = 0;
  #stopSweep: (() => void) | undefined;

  /** @param context read for each new pool */
  constructor(context: () => PoolContext, max: number = MAX_POOLS) {
    this.#context = context;
    this.#clock = context().clock;
    this.#max = max;
  }

  /** New pools open connections another way. */
  networkChanged(): void {
    this.#version += 1;
    this.#known = new WeakMap();
  }

  get(origin: Origin): OriginPool {
    const pool = this.#known.get(origin) ?? this.#find(origin);
    pool.requestedAt = this.#clock.now();
    return pool;
  }

  #find(origin: Origin): OriginPool {
    // The key includes the guard's options: a request must not share connections that its own guard would refuse.
    const key = `${origin.url} ${origin.allowInsecure} ${origin.metadataServer ?? false} ${origin.connections} ${this.#version}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = new OriginPool(origin, this.#context());
      this.#makeRoom();
      this.#pools.set(key, pool);
    }
    this.#known.set(origin, pool);
    return pool;
  }

  all(): OriginPool[] {
    return [...this.#pools.values()];
  }

  /** A pool without requests since then is closed when its connections have idled out: none in use loses one. */
  settingsChanged(): void {
    this.#changedAt = this.#clock.now();
    this.#sweepLater();
  }

  async close(reason: GatewayError): Promise<void> {
    this.#stopSweep?.();
    await Promise.all(this.all().map((pool) => pool.close(reason)));
  }

  #sweepLater(): void {
    this.#stopSweep ??= this.#clock.after(KEEP_ALIVE_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#stopSweep = undefined;
    const idleSince = this.#clock.now() - KEEP_ALIVE_MS;
    for (const [key, pool] of this.#pools) {
      if (pool.requestedAt > this.#changedAt) continue;
      if (pool.busy || pool.requestedAt > idleSince) this.#sweepLater();
      else this.#drop(key, pool);
    }
  }

  /** Closes idle pools above the maximum, least recently used first. Busy pools stay, so the maximum may be exceeded for a while. */
  #makeRoom(): void {
    const excess = this.#pools.size - this.#max + 1;
    if (excess <= 0) return;
    const idle = [...this.#pools]
      .filter(([, pool]) => !pool.busy)
      .toSorted(([, a], [, b]) => a.requestedAt - b.requestedAt);
    for (const [key, pool] of idle.slice(0, excess)) this.#drop(key, pool);
  }

  #drop(key: string, pool: OriginPool): void {
    this.#pools.delete(key);
    this.#known = new WeakMap();
    void pool.close(EVICTED);
  }
}
