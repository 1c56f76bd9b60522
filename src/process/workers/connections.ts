import type { Worker } from 'node:cluster';
import { completeDisconnect } from './channel-end.ts';
import { sharedClock, type Stamped } from './stale-connection.ts';

/** What node:cluster says to a worker, and what a worker says back, where it is about a connection. */
interface ClusterMessage extends Stamped {
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
  readonly accepted?: unknown;
}

interface Connection {
  close(): void;
}

interface OnItsWay {
  readonly seq: unknown;
  readonly connection: Connection;
  /** The worker refuses it when it comes late: another may have it. */
  readonly mayMove: boolean;
  /** It waits here, and the worker knows nothing of it. */
  readonly isHeld: boolean;
  ticks: number;
}

/** A connection for a suspended worker goes back into the round after this: at once would spin while all the others are busy. */
const HOLD_MS = 5;
/** Ticks of 500 ms: after five of them at least 2 s have passed, which is twice STALE_MS. */
const MOVE_AFTER_TICKS = 5;
/** A connection that was handed on so often stays where it is, or workers that are all slow would pass it round for ever. */
const MAX_MOVES = 2;

/**
 * Keeps connections from being lost between the primary and its workers. node:cluster hands a worker one at a time and waits for
 * its word, `accepted` or not; one that is not goes to the next worker. These it leaves open without a worker, and their clients
 * would wait for ever (Node 24, measured):
 *
 * - a connection on its way to a worker that dies. The worker's word is given in its place: not accepted;
 * - a connection on its way to a worker that is blocked. It goes to another worker, see stale-connection.ts;
 * - a connection that the last worker does not accept any more, because it stops or dies. It is closed.
 */
export class Connections {
  readonly #followed = new Set<WorkerConnections>();
  /** Not accepted, and with no other worker since. */
  readonly #homeless = new Set<Connection>();
  readonly #moves = new WeakMap<Connection, number>();
  #stopped = false;

  follow(worker: Worker): WorkerConnections {
    const followed: WorkerConnections = new WorkerConnections(worker, {
      homeless: this.#homeless,
      moves: this.#moves,
      others: (which) => [...this.#followed].some((other) => other !== followed && other[which]),
      refused: () => {
        if (this.#stopped) setImmediate(() => this.stop());
      },
      gone: () => {
        this.#followed.delete(followed);
        if (![...this.#followed].some(({ listens }) => listens)) this.#closeHomeless();
      },
    });
    this.#followed.add(followed);
    return followed;
  }

  /** No connection is between the primary and a worker. While one waits for a free worker, others are on their way to all. */
  get areHandedOut(): boolean {
    return this.#homeless.size === 0 && ![...this.#followed].some(({ isHandingOut }) => isHandingOut);
  }

  /** No worker listens any more: who has none by now gets none. */
  stop(): void {
    this.#stopped = true;
    this.#closeHomeless();
  }

  #closeHomeless(): void {
    for (const connection of this.#homeless) connection.close();
    this.#homeless.clear();
  }
}

interface Around {
  readonly homeless: Set<Connection>;
  readonly moves: WeakMap<Connection, number>;
  others(which: 'listens' | 'isReady'): boolean;
  refused(): void;
  gone(): void;
}

/** The connections of one worker, until it has accepted them. */
export class WorkerConnections {
  readonly #worker: Worker;
  readonly #around: Around;
  readonly #moved = new Set<unknown>();
  #onItsWay: OnItsWay | undefined;
  #listening = false;
  #accepted = 0;
  /** The worker does not answer: it gets no connection while another does. */
  isSuspended = false;

  constructor(worker: Worker, around: Around) {
    this.#worker = worker;
    this.#around = around;
    worker.once('listening', () => (this.#listening = true));
    this.#watchSent();
    // Before node:cluster, which may have found another worker by the time it is done.
    worker.process.prependListener('internalMessage', (message: ClusterMessage) => this.#heard(message));
    completeDisconnect(worker.process);
    // After node:cluster, which has taken the worker out of the round. All that the worker has said is known by now.
    worker.process.once('disconnect', () => this.#gone());
  }

  get listens(): boolean {
    return this.#listening && this.#worker.isConnected();
  }

  get isReady(): boolean {
    return this.listens && !this.isSuspended;
  }

  get isHandingOut(): boolean {
    return this.#onItsWay !== undefined;
  }

  /** How many the worker has accepted since this was last asked. */
  takeAccepted(): number {
    const accepted = this.#accepted;
    this.#accepted = 0;
    return accepted;
  }

  /**
   * The primary looks after its workers. Counted in looks, not by a clock: between two of them the primary has read what the worker
   * said, also where the primary itself stood still.
   */
  look(): void {
    const waiting = this.#onItsWay;
    if (!waiting || waiting.isHeld) return;
    waiting.ticks += 1;
    if (!this.isSuspended || !waiting.mayMove || waiting.ticks < MOVE_AFTER_TICKS) return;
    if (!this.#around.others('isReady')) return;
    this.#moved.add(waiting.seq);
    const { moves } = this.#around;
    moves.set(waiting.connection, (moves.get(waiting.connection) ?? 0) + 1);
    this.#refuse(waiting);
  }

  /** The only place where connections are seen: node:cluster emits no event for them. */
  #watchSent(): void {
    const { process } = this.#worker;
    const send = process.send.bind(process) as (...args: readonly unknown[]) => boolean;
    process.send = (...args: readonly unknown[]): boolean => {
      const [message, connection] = args as [ClusterMessage, Connection];
      if (message.act !== 'newconn') return send(...args);
      const { homeless, moves, others } = this.#around;
      homeless.delete(connection);
      const isHeld = this.isSuspended && others('isReady');
      const mayMove = (moves.get(connection) ?? 0) < MAX_MOVES;
      const waiting: OnItsWay = { seq: message.seq, connection, mayMove, isHeld, ticks: 0 };
      this.#onItsWay = waiting;
      if (!isHeld) return send(mayMove ? { ...message, sentAt: sharedClock() } : message, ...args.slice(1));
      setTimeout(() => this.#refuse(waiting), HOLD_MS);
      return true;
    };
  }

  #heard({ ack, accepted }: ClusterMessage): void {
    if (this.#moved.delete(ack)) {
      // It was blocked between its decision and its word, and reads a connection that another worker has: neither may serve it.
      if (accepted === true) this.#worker.process.kill('SIGKILL');
      return;
    }
    const waiting = this.#onItsWay;
    if (!waiting || ack !== waiting.seq) return;
    this.#onItsWay = undefined;
    if (accepted === true) this.#accepted += 1;
    else this.#around.homeless.add(waiting.connection);
    this.#around.refused();
  }

  /** In place of the worker. node:cluster finds another, or keeps the connection until one is free. */
  #refuse(waiting: OnItsWay): void {
    if (this.#onItsWay !== waiting) return;
    this.#worker.process.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: waiting.seq, accepted: false });
  }

  #gone(): void {
    const waiting = this.#onItsWay;
    if (waiting && this.#around.others('listens')) this.#refuse(waiting);
    else waiting?.connection.close();
    this.#onItsWay = undefined;
    this.#around.gone();
  }
}
