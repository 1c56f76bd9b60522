import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type Serve = (req: IncomingMessage, res: ServerResponse) => void;

interface Waiting {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Requests of one connection that came before the replies of those ahead of them had left. */
class Line {
  /** Those that are served. */
  running = 0;
  /** The connection is not read, because of those that wait. */
  paused = false;
  readonly waiting: Waiting[] = [];
}

/**
 * Serves so many requests of one connection at once (HTTP pipelining, RFC 9112, section 9.3.2). Those behind them wait: the
 * connection is read no further, and they are served in their order. Node's own parser emits all requests of a read at once, up to
 * 64 KiB of them, so no more than that waits here.
 */
export class Pipelines {
  readonly #lines = new WeakMap<Socket, Line>();
  readonly #serve: Serve;
  readonly #limit: () => number;
  #held: Waiting[] | undefined;

  /** @param limit of one connection, as it is now */
  constructor(serve: Serve, limit: () => number) {
    this.#serve = serve;
    this.#limit = limit;
  }

  take(req: IncomingMessage, res: ServerResponse): void {
    if (this.#held) return void this.#held.push({ req, res });
    // Node gives a reply its socket when those before it have left: nearly every request has it from the start.
    if (res.socket) return this.#serve(req, res);
    const { socket } = req;
    const line = this.#lines.get(socket) ?? this.#open(socket);
    line.waiting.push({ req, res });
    this.#advance(line, socket);
    if (line.waiting.length === 0) return;
    // The reply before it has left: it is served, whatever is counted.
    res.once('socket', () => this.#advance(line, socket));
    line.paused = true;
    socket.pause();
  }

  /** From now on requests wait, in the order they come; those that are served go on. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { req, res } of held) if (!req.socket.destroyed) this.take(req, res);
  }

  #open(socket: Socket): Line {
    const line = new Line();
    this.#lines.set(socket, line);
    // Reading the body of an earlier request resumes the connection.
    socket.on('resume', () => {
      if (line.paused) socket.pause();
    });
    return line;
  }

  #advance(line: Line, socket: Socket): void {
    // The first one on the connection had its socket at once, and is not counted here.
    const room = (): boolean => line.running < this.#limit() - 1 || line.waiting[0]?.res.socket != null;
    while (line.waiting.length > 0 && !socket.destroyed && room()) this.#start(line, line.waiting.shift()!);
    if (socket.destroyed) line.waiting.length = 0;
    if (!line.paused || line.waiting.length > 0) return;
    line.paused = false;
    socket.resume();
  }

  #start(line: Line, { req, res }: Waiting): void {
    line.running += 1;
    res.once('close', () => {
      line.running -= 1;
      this.#advance(line, req.socket);
    });
    this.#serve(req, res);
  }
}
