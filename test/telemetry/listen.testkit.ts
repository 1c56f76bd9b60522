import { once } from 'node:events';
import type { Server } from 'node:http';

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Puts a server on a free port of loopback. */
export async function listen(server: Server): Promise<Listening> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no TCP address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
