import type { Worker } from 'node:cluster';
import { sharedClock, type Stamped } from './stale-connection.ts';
import type { ChildProcess } from 'node:child_process';

/** The messages about connections between node:cluster in the primary and a worker. */
interface ClusterMessage extends Stamped {
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
  readonly accepted?: unknown;
}

interface Connection {
  close(): void;
}

interface InTransit {
  readonly seq: unknown;
  readonly connection: Connection;
  /** The worker refuses the connection if it arrives late, because another worker may have it. */
  readonly mayMove: boolean;
  /** The connection waits in the primary; the worker does not know of it. */
  readonly isHeld: boolean;
  ticks: number;
}

/** The primary would spin without this delay while all other workers are busy. */
const HOLD_MS = 5;
/** In ticks of 500 ms: five of them take at least 2 s, twice STALE_MS. */
const MOVE_AFTER_TICKS = 5;
/** A connection is moved at most this often, or slow workers would pass it on forever. */
const MAX_MOVES = 2;

/**
 * Keeps connections from being lost between the primary and its workers. node:cluster hands a worker one connection at
 * a time and waits for its reply, `accepted` or not. A refused one goes to the next worker. In these cases it would
 * leave a connection open without a worker, and the client would wait forever (Node 24, measured):
 *
 * - A connection in transit to a worker that dies. This class replies `not accepted` for the worker.
 * - A connection in transit to a blocked worker. It moves to another worker, see stale-connection.ts.
 * - A connection that the last worker refuses, because it stops or dies. It is closed.
 */
export class Connections {
  readonly #followed = new Set<WorkerConnections>();
  /** Refused connections that have not been handed to another worker yet. */
  readonly unassigned = new Set<Connection>();
  readonly moves = new WeakMap<Connection, number>();
  #stopped = false;

  follow(worker: Worker): WorkerConnections {
    const followed = new WorkerConnections(worker, this);
    this.#followed.add(followed);
    return followed;
  }

  others(one: WorkerConnections, which: 'listens' | 'isReady'): boolean {
    return [...this.#followed].some((other) => other !== one && other[which]);
  }

  /** No connection is in transit or unassigned. One waits only while others are in transit to all workers. */
  get areHandedOut(): boolean {
    return this.unassigned.size === 0 && ![...this.#followed].some(({ isHandingOut }) => isHandingOut);
  }

  refused(): void {
    if (this.#stopped) setImmediate(() => this.stop());
  }

  gone(one: WorkerConnections): void {
    this.#followed.delete(one);
    if (!this.others(one, 'listens')) this.#closeUnassigned();
  }

  /** Closes unassigned connections, now and later: no worker listens any more. */
  stop(): void {
    this.#stopped = true;
    this.#closeUnassigned();
  }

  #closeUnassigned(): void {
    for (const connection of this.unassigned) connection.close();
    this.unassigned.clear();
  }
}

/** The connections of one worker until it has accepted them. */
export class WorkerConnections {
  readonly #worker: Worker;
  readonly #pool: Connections;
  readonly #moved = new Set<unknown>();
  #inTransit: InTransit | undefined;
  #listening = false;
  #accepted = 0;
  /** The worker does not respond, and gets no connection while another does. */
  isSuspended = false;

  constructor(worker: Worker, pool: Connections) {
    this.#worker = worker;
    this.#pool = pool;
    worker.once('listening', () => (this.#listening = true));
    this.#watchSent();
    // Runs before node:cluster's listener, which may have assigned another worker by the time it is done.
    worker.process.prependListener('internalMessage', (message: ClusterMessage) => this.#receive(message));
    completeDisconnect(worker.process);
    // Runs after node:cluster's listener, which has removed the worker from the rotation. All messages of the worker
    // have been read by now.
    worker.process.once('disconnect', () => this.#gone());
  }

  get listens(): boolean {
    return this.#listening && this.#worker.isConnected();
  }

  get isReady(): boolean {
    return this.listens && !this.isSuspended;
  }

  get isHandingOut(): boolean {
    return this.#inTransit !== undefined;
  }

  /** The number of connections the worker has accepted since the last call. */
  takeAccepted(): number {
    const accepted = this.#accepted;
    this.#accepted = 0;
    return accepted;
  }

  /** Counts a tick. Unlike a clock: between two ticks the primary has read the worker's messages. */
  tick(): void {
    const waiting = this.#inTransit;
    if (!waiting || waiting.isHeld) return;
    waiting.ticks += 1;
    if (!this.isSuspended || !waiting.mayMove || waiting.ticks < MOVE_AFTER_TICKS) return;
    if (!this.#pool.others(this, 'isReady')) return;
    this.#moved.add(waiting.seq);
    const { moves } = this.#pool;
    moves.set(waiting.connection, (moves.get(waiting.connection) ?? 0) + 1);
    this.#refuse(waiting);
  }

  /** Wraps `send`, the only place where connections are visible: node:cluster emits no event for them. */
  #watchSent(): void {
    const { process } = this.#worker;
    const send = process.send.bind(process) as (...args: readonly unknown[]) => boolean;
    process.send = (...args: readonly unknown[]): boolean => {
      const [message, connection] = args as [ClusterMessage, Connection];
      if (message.act !== 'newconn') return send(...args);
      const pool = this.#pool;
      pool.unassigned.delete(connection);
      const isHeld = this.isSuspended && pool.others(this, 'isReady');
      const mayMove = (pool.moves.get(connection) ?? 0) < MAX_MOVES;
      const waiting: InTransit = { seq: message.seq, connection, mayMove, isHeld, ticks: 0 };
      this.#inTransit = waiting;
      if (!isHeld) return send(mayMove ? { ...message, sentAt: sharedClock() } : message, ...args.slice(1));
      setTimeout(() => this.#refuse(waiting), HOLD_MS);
      return true;
    };
  }

  #receive({ ack, accepted }: ClusterMessage): void {
    if (this.#moved.delete(ack)) {
      // The worker was blocked between accepting and replying, and reads a connection that another worker has too:
      // neither may serve it.
      if (accepted === true) this.#worker.process.kill('SIGKILL');
      return;
    }
    const waiting = this.#inTransit;
    if (!waiting || ack !== waiting.seq) return;
    this.#inTransit = undefined;
    if (accepted === true) this.#accepted += 1;
    else this.#pool.unassigned.add(waiting.connection);
    this.#pool.refused();
  }

  /** Refuses for the worker. node:cluster assigns another, or keeps the connection until a worker is free. */
  #refuse(waiting: InTransit): void {
    if (this.#inTransit !== waiting) return;
    this.#worker.process.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: waiting.seq, accepted: false });
  }

  #gone(): void {
    const waiting = this.#inTransit;
    if (waiting && this.#pool.others(this, 'listens')) this.#refuse(waiting);
    else waiting?.connection.close();
    this.#inTransit = undefined;
    this.#pool.gone(this);
  }
}

/**
 * Makes a worker's channel emit `disconnect` whenever it closes. Node omits the event if the worker dies before it has
 * confirmed a connection in transit (Node 24, `_handleQueue` in internal/child_process). node:cluster waits for this
 * event: without it the worker stays in the rotation, connections are handed to it and lost, and the port stays open
 * without a worker.
 */
function completeDisconnect(process: ChildProcess): void {
  let isReported = false;
  process.once('disconnect', () => (isReported = true));
  const disconnect = process.disconnect.bind(process);
  // Node also calls this method when the channel closes.
  process.disconnect = () => {
    disconnect();
    // Node emits in the next tick. A channel with queued messages is not null yet and emits later.
    globalThis.process.nextTick(() => {
      if (!isReported && !process.channel) process.emit('disconnect');
    });
  };
}
