import type { Worker } from 'node:cluster';

/** What node:cluster says to a worker, and what a worker says back, where it is about a connection. */
interface ClusterMessage {
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
  readonly accepted?: unknown;
}

interface Connection {
  close(): void;
}

/**
 * Keeps connections from being lost between the primary and its workers. node:cluster hands a worker one at a time and waits for
 * its word, `accepted` or not; one that is not goes to the next worker. Two kinds it forgets and leaves open, and their clients
 * would wait for ever (Node 24, measured):
 *
 * - a connection on its way to a worker that dies. The worker's word is given in its place: not accepted;
 * - one that the last worker does not accept any more, because it stops. It is closed.
 */
export class Connections {
  /** Not accepted, and with no other worker since. */
  readonly #homeless = new Set<Connection>();
  #stopped = false;

  /** @param others whether there are workers beside this one */
  follow(worker: Worker, others: () => boolean): void {
    const { process } = worker;
    let onItsWay: { readonly seq: unknown; readonly connection: Connection } | undefined;
    const send = process.send.bind(process) as (...args: readonly unknown[]) => boolean;
    // The only place where connections are seen: node:cluster tells nobody of them.
    process.send = (...args: readonly unknown[]): boolean => {
      const [{ act, seq }, connection] = args as [ClusterMessage, Connection];
      if (act === 'newconn') {
        this.#homeless.delete(connection);
        onItsWay = { seq, connection };
      }
      return send(...args);
    };
    // Before node:cluster, which may have found another worker by the time it is done.
    process.prependListener('internalMessage', ({ ack, accepted }: ClusterMessage) => {
      if (!onItsWay || ack !== onItsWay.seq) return;
      if (accepted !== true) this.#homeless.add(onItsWay.connection);
      onItsWay = undefined;
      if (this.#stopped) setImmediate(() => this.stop());
    });
    worker.once('exit', () => {
      if (!onItsWay) return;
      const { seq, connection } = onItsWay;
      // One that node:cluster still believes to be connected would be handed the next one after this.
      if (others() && !process.connected)
        process.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false });
      else connection.close();
    });
  }

  /** No worker listens any more: who has none by now gets none. */
  stop(): void {
    this.#stopped = true;
    for (const connection of this.#homeless) connection.close();
    this.#homeless.clear();
  }
}
