import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `pass`: bytes go both ways. `cut`: connections are closed and none is accepted. `hang`: bytes vanish both ways, and connections stay.
 * `deaf`: only the bytes of the server vanish; `mute`: only those of the client.
 */
export type RelayMode = 'pass' | 'cut' | 'hang' | 'deaf' | 'mute';

/** A TCP relay on loopback before a server, whose network the test decides. */
export interface Relay {
  readonly port: number;
  /** @param delayMs time that each piece of bytes takes */
  set(mode: RelayMode, delayMs?: number): void;
  /** New connections go to another port, as after a change of an address. */
  lead(to: number): void;
  close(): Promise<void>;
}

export async function startRelay(to: number): Promise<Relay> {
  let mode: RelayMode = 'pass';
  let delay = 0;
  let target = to;
  const sockets = new Set<Socket>();
  const pass = (from: Socket, into: Socket, lost: RelayMode): void => {
    from.on('data', (bytes) => {
      const deliver = (): void => {
        // What vanished does not come later: a stream with a hole in it is closed at the mend, as by a router that forgot it.
        if (mode === 'hang' || mode === lost) lossy.add(from).add(into);
        else if (!into.destroyed) into.write(bytes);
      };
      if (delay > 0) setTimeout(deliver, delay);
      else deliver();
    });
    from.on('close', () => setTimeout(() => into.destroy(), delay));
    from.on('error', () => {});
  };
  const lossy = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => sockets.delete(socket));
    }
    pass(client, upstream, 'mute');
    pass(upstream, client, 'deaf');
    if (mode === 'cut') client.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const destroy = (all: Iterable<Socket>): void => {
    for (const socket of all) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    set(next, delayMs = 0) {
      mode = next;
      delay = delayMs;
      if (mode === 'cut') destroy(sockets);
      if (mode === 'pass') destroy(lossy);
    },
    lead(next) {
      target = next;
    },
    close() {
      destroy(sockets);
      return new Promise((closed) => void server.close(() => closed()));
    },
  };
}
