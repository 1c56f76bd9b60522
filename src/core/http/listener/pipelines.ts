import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type Serve = (req: IncomingMessage, res: ServerResponse) => void;

const LATEST = Symbol('the latest reply of a connection');
type Connection = Duplex & { [LATEST]?: ServerResponse };

/** The reply to the last request that has arrived on a connection. */
export const latestReply = (socket: Connection): ServerResponse | undefined => socket[LATEST];

interface Waiting {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** The requests of one connection that arrived before earlier replies had left. */
class PipelineQueue {
  running = 0;
  paused = false;
  readonly waiting: Waiting[] = [];
}

/**
 * Limits how many pipelined requests of one connection are served at once (RFC 9112, section 9.3.2). Further ones wait
 * in order while reading is paused: at most those of one read of Node's parser, 64 KiB.
 */
export class Pipelines {
  readonly #lines = new WeakMap<Socket, PipelineQueue>();
  readonly #serve: Serve;
  readonly #limit: () => number;
  #held: Waiting[] | undefined;

  constructor(serve: Serve, limit: () => number) {
    this.#serve = serve;
    this.#limit = limit;
  }

  take(req: IncomingMessage, res: ServerResponse): void {
    const connection: Connection = req.socket;
    connection[LATEST] = res;
    if (this.#held) return void this.#held.push({ req, res });
    // Node assigns the socket to a response once the earlier ones have left: nearly every response has it from the
    // start.
    if (res.socket) return this.#serve(req, res);
    const { socket } = req;
    const line = this.#lines.get(socket) ?? this.#open(socket);
    line.waiting.push({ req, res });
    this.#advance(line, socket);
    if (line.waiting.length === 0) return;
    // All earlier replies have left: this request is served regardless of the limit.
    res.once('socket', () => this.#advance(line, socket));
    line.paused = true;
    socket.pause();
  }

  /** Makes new requests wait, in order. Requests being served continue. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { req, res } of held) if (!req.socket.destroyed) this.take(req, res);
  }

  #open(socket: Socket): PipelineQueue {
    const line = new PipelineQueue();
    this.#lines.set(socket, line);
    // Reading the body of an earlier request resumes the connection, so this pauses it again.
    socket.on('resume', () => {
      if (line.paused) socket.pause();
    });
    return line;
  }

  #advance(line: PipelineQueue, socket: Socket): void {
    // The first request of the connection had its socket at once and is not counted here.
    const room = (): boolean => line.running < this.#limit() - 1 || line.waiting[0]?.res.socket != null;
    while (line.waiting.length > 0 && !socket.destroyed && room()) this.#start(line, line.waiting.shift()!);
    if (socket.destroyed) line.waiting.length = 0;
    if (!line.paused || line.waiting.length > 0) return;
    line.paused = false;
    socket.resume();
  }

  #start(line: PipelineQueue, { req, res }: Waiting): void {
    line.running += 1;
    res.once('close', () => {
      line.running -= 1;
      this.#advance(line, req.socket);
    });
    this.#serve(req, res);
  }
}
