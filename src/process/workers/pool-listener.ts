import { subscribe } from 'node:diagnostics_channel';

/** A listening socket of node:net; `fd` is -1 once it is closed. */
interface ListeningHandle {
  readonly fd: number;
  onconnection: (...args: unknown[]) => unknown;
  close(): void;
}

interface NetServer {
  readonly _handle: ListeningHandle | null;
}

interface Opened {
  readonly server: NetServer;
  readonly handle: ListeningHandle;
}

/**
 * The port of the workers. node:cluster opens it in the primary with a server of node:net, takes the socket from that server
 * (`internal/cluster/round_robin_handle`), gives no access to it, and closes it when the last worker stops listening: by then the
 * kernel may hold connections, and resets them. Node tells of every server that listens
 * (https://nodejs.org/api/diagnostics_channel.html#net), so the primary can close the socket when its queue is empty.
 */
export class PoolListener {
  readonly #opened: Opened[] = [];
  #accepted = 0;

  constructor() {
    subscribe('tracing:net.server.listen:asyncEnd', (message) => {
      const { server } = message as { readonly server: NetServer };
      if (server._handle) this.#opened.push({ server, handle: server._handle });
    });
  }

  /** Counts connections from the first call on. */
  count(): () => number {
    for (const handle of this.#handles()) {
      const { onconnection } = handle;
      handle.onconnection = (...args) => {
        this.#accepted += 1;
        return onconnection.apply(handle, args);
      };
    }
    return () => this.#accepted;
  }

  /** The connections it has accepted are handed out nonetheless. node:cluster closes it once more, which does nothing. */
  close(): void {
    for (const handle of this.#handles()) handle.close();
  }

  /** Other servers of this process keep their socket. */
  #handles(): ListeningHandle[] {
    return this.#opened.flatMap(({ server, handle }) => (server._handle === null && handle.fd >= 0 ? [handle] : []));
  }
}
