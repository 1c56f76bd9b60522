import { connect } from 'node:net';
import { getCACertificates } from 'node:tls';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import { UpstreamError, type Clock, type GatewayError } from '../plugin/index.ts';
import { createClient } from './connection.ts';
import type { DialContext, Wire } from './dial.ts';
import { checkOrigin, type Lookup } from './egress.ts';
import { WaitingLine } from './line.ts';
import { poolExhausted } from './limits.ts';
import type { Origin } from './types.ts';

/** What all pools share. */
export interface PoolContext {
  readonly clock: Clock;
  readonly lookup: Lookup;
  /** Certificate authorities to trust beside the usual ones, PEM. */
  readonly ca?: readonly string[] | undefined;
  /** Default: the network. */
  readonly wire?: Wire | undefined;
  /** So many more, or with a negative number fewer, requests wait in line for a connection. */
  readonly onWaiting?: ((change: number) => void) | undefined;
}

/** A request as the pool sees it: it waits in line, and undici drives it once it has a connection. */
export interface PooledRequest extends Dispatcher.DispatchHandler {
  readonly options: Dispatcher.DispatchOptions;
  /** Callers take turns for connections that come free. */
  readonly caller: string;
  /** All connections are in use: it waits in line for one. */
  onWaiting(): void;
  /** It has left the line: a connection is its own. */
  onTurn(): void;
  /** It ends without a reply. */
  onFault(error: GatewayError): void;
}

/** TCP, and TLS by undici's connector with its session cache. */
const network = (ca: PoolContext['ca']): Wire => ({
  connect: ({ host, port }) => connect({ host, port }),
  secure: buildConnector({
    allowH2: false,
    timeout: 0,
    ...(ca && { ca: [...getCACertificates('default'), ...ca] }),
  }),
});

/**
 * Idle connections close after this unless the upstream's `keep-alive: timeout` says otherwise: below the 60 s after which
 * common load balancers drop them, so that few requests meet a dead one.
 */
const KEEP_ALIVE_MS = 55_000;
const KEEP_ALIVE_MAX_MS = 600_000;

/** More origins than a catalog has. Past it, reloads have left pools behind that nobody asks for. */
const MAX_POOLS = 1024;
/** Requests that may wait for a connection of one origin: far more than `limits.in_flight` admits by default. */
const MAX_WAITING = 10_000;

const EVICTED = new UpstreamError('connection_failed', 'The connections to this upstream were closed.');

/**
 * The connections to one origin. Requests wait here for a free one, not in undici's queue: a request that is given up can
 * leave this line at once, while undici would keep it, body and all, until a connection came free. Its time in the line is bounded by
 * the request (`timeouts.connect`), its length here.
 */
export class OriginPool {
  readonly url: string;
  /** Name and port, for messages. */
  readonly host: string;
  readonly #pool: Pool;
  readonly #connections: number;
  readonly #running = new Set<PooledRequest>();
  readonly #waiting = new WaitingLine<PooledRequest>();
  readonly #onWaiting: (change: number) => void;
  /** Monotonic moment of the last request for it. */
  askedAt = 0;
  #startScheduled = false;

  constructor(origin: Origin, context: PoolContext) {
    const url = checkOrigin(origin);
    const { clock, lookup, ca, wire = network(ca) } = context;
    const { allowInsecure, metadataServer = false, chosenByCaller = false } = origin;
    const dialContext: DialContext = { clock, lookup, wire, allowInsecure, metadataServer, chosenByCaller };
    this.url = origin.url;
    this.host = url.host;
    this.#connections = origin.connections;
    this.#onWaiting = context.onWaiting ?? (() => {});
    this.#pool = new Pool(url, {
      connections: origin.connections,
      pipelining: 1,
      allowH2: false,
      // Ours rule: they know phases, pings and backpressure.
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

  /** Once more, in the place it still holds. */
  reenter(dispatch: PooledRequest): void {
    this.#pool.dispatch(dispatch.options, dispatch);
  }

  leave(dispatch: PooledRequest): void {
    if (this.#waiting.leave(dispatch.caller, dispatch)) return this.#onWaiting(-1);
    if (!this.#running.delete(dispatch)) return;
    if (this.#waiting.size === 0 || this.#startScheduled) return;
    this.#startScheduled = true;
    // Not from within a call of undici: its parser may be running, and starting a request can make it read.
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
    for (const dispatch of [...this.#waiting, ...this.#running]) dispatch.onFault(reason);
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

/** Pools by what defines them. They outlive the snapshot that first asked for them. */
export class PoolDirectory {
  readonly #pools = new Map<string, OriginPool>();
  readonly #context: PoolContext;
  readonly #max: number;
  #changedAt = 0;
  #stopSweep: (() => void) | undefined;

  constructor(context: PoolContext, max: number = MAX_POOLS) {
    this.#context = context;
    this.#max = max;
  }

  get(origin: Origin): OriginPool {
    // A pool's connections have passed its guard: no request may share them that its own guard would refuse.
    const key = `${origin.url} ${origin.allowInsecure} ${origin.metadataServer ?? false} ${origin.connections}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = new OriginPool(origin, this.#context);
      this.#makeRoom();
      this.#pools.set(key, pool);
    }
    pool.askedAt = this.#context.clock.now();
    return pool;
  }

  all(): OriginPool[] {
    return [...this.#pools.values()];
  }

  /**
   * The settings have changed. Which origins they still name shows in what is asked for: a pool that nobody has asked for since
   * is closed when it has been idle for as long as its connections are kept anyway. So no pool in use loses a connection.
   */
  settingsChanged(): void {
    this.#changedAt = this.#context.clock.now();
    this.#sweepLater();
  }

  async close(reason: GatewayError): Promise<void> {
    this.#stopSweep?.();
    await Promise.all(this.all().map((pool) => pool.close(reason)));
  }

  #sweepLater(): void {
    this.#stopSweep ??= this.#context.clock.after(KEEP_ALIVE_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#stopSweep = undefined;
    const idleSince = this.#context.clock.now() - KEEP_ALIVE_MS;
    for (const [key, pool] of this.#pools) {
      if (pool.askedAt > this.#changedAt) continue;
      if (pool.busy || pool.askedAt > idleSince) this.#sweepLater();
      else this.#drop(key, pool);
    }
  }

  /** Pools at work stay and may be more for a while; once they are done, all that is too much goes, the longest unasked first. */
  #makeRoom(): void {
    const excess = this.#pools.size - this.#max + 1;
    if (excess <= 0) return;
    const idle = [...this.#pools].filter(([, pool]) => !pool.busy).toSorted(([, a], [, b]) => a.askedAt - b.askedAt);
    for (const [key, pool] of idle.slice(0, excess)) this.#drop(key, pool);
  }

  #drop(key: string, pool: OriginPool): void {
    this.#pools.delete(key);
    void pool.close(EVICTED);
  }
}
