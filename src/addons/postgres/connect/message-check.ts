import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';

/** A type of one byte, and a length that counts itself (https://www.postgresql.org/docs/15/protocol-message-formats.html). */
const HEAD = 5;
const LENGTH_BYTES = 4;
/** Rows of this store take less by far. */
const MOST_BYTES = 64 * 1024 * 1024;
const ENDED_BY_ZEROS: ReadonlySet<string> = new Set(['E', 'N']);

/** The connection of a client, which its types do not name. */
interface ListenedClient {
  readonly connection: { attachListeners(stream: Readable | EventEmitter): void };
}

/**
 * Breaks the connection of a client where its server sends what is no message of PostgreSQL. `pg` would throw out of an event of its
 * socket, which ends the process; wait for as many bytes as a head claims; or look for the end of an error for ever.
 */
export function checkMessages(client: object): void {
  const { connection } = client as ListenedClient;
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream: Readable) => {
    const check = new MessageCheck();
    const checked = new EventEmitter();
    stream.on('data', (bytes: Buffer) => {
      try {
        check.take(bytes);
        checked.emit('data', bytes);
      } catch {
        // Its parser may have had half of a message: nothing that comes later is read.
        checked.removeAllListeners();
        stream.destroy(new Error('the server sent what is no message of PostgreSQL'));
      }
    });
    stream.on('end', () => checked.emit('end'));
    attach(checked);
  };
}

/** Checks the frames of a stream of messages. Keeps none of their bytes. */
export class MessageCheck {
  readonly #head = Buffer.alloc(HEAD);
  #headBytes = 0;
  /** Bytes of the message that have not come yet. */
  #left = 0;
  /** The last two of those that have. */
  #end = 0;

  take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#headBytes < HEAD) {
        this.#head[this.#headBytes] = bytes[at]!;
        this.#headBytes += 1;
        at += 1;
        if (this.#headBytes === HEAD) this.#begin();
      } else {
        const end = Math.min(bytes.length, at + this.#left);
        for (const byte of bytes.subarray(Math.max(at, end - 2), end)) this.#end = ((this.#end << 8) | byte) & 0xffff;
        this.#left -= end - at;
        at = end;
      }
      if (this.#headBytes === HEAD && this.#left === 0) this.#finish();
    }
  }

  #begin(): void {
    this.#left = this.#head.readUInt32BE(1) - LENGTH_BYTES;
    // A message of one zero has no fields.
    this.#end = 0;
    if (this.#left < 0 || this.#left > MOST_BYTES) throw new RangeError(`a message of ${this.#left} bytes`);
  }

  #finish(): void {
    const type = String.fromCharCode(this.#head[0]!);
    const isEmpty = this.#head.readUInt32BE(1) === LENGTH_BYTES;
    if (ENDED_BY_ZEROS.has(type) && (isEmpty || this.#end !== 0)) throw new RangeError('an error without an end');
    this.#headBytes = 0;
  }
}
