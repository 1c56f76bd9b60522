import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const LATEST = Symbol('the latest reply of a connection');

interface Connection {
  [LATEST]?: ServerResponse;
}

/** The latest response of each connection, in a field of its socket: the garbage collector reads a weak map whole. */
export class LatestReplies {
  get(socket: Duplex & Connection): ServerResponse | undefined {
    return socket[LATEST];
  }

  set(socket: Duplex & Connection, reply: ServerResponse): void {
    socket[LATEST] = reply;
  }
}
