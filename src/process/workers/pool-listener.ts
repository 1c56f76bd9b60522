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
 * The port of the workers. node:cluster opens it in the primary with a node:net server, takes over the server's socket
 * (`internal/cluster/round_robin_handle`), gives no access to it, and closes it when the last worker stops listening.
 * By then the kernel may hold connections, which it resets. Node reports every server that listens
 * (https://nodejs.org/api/diagnostics_channel.html#net), so the primary can close the socket while its queue is empty.
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

  /** Counts accepted connections from the first call on. */
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

  /**
   * Closes the port. Accepted connections are still handed out. node:cluster closes the socket again, which has no
   * effect.
   */
  close(): void {
    for (const handle of this.#handles()) handle.close();
  }

  /** The sockets taken over by node:cluster: other servers still have theirs. */
  #handles(): ListeningHandle[] {
    return this.#opened.flatMap(({ server, handle }) => (server._handle === null && handle.fd >= 0 ? [handle] : []));
  }
}
