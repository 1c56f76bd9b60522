import type { Connection, Submittable } from 'pg';

/** The messages of COPY, which `pg` can send and its types do not name. */
interface CopyingConnection extends Connection {
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** `COPY … FROM STDIN` of a text that is there as a whole. `pg` calls these methods, as it does those of its own queries. */
export class CopyIn implements Submittable {
  readonly #sql: string;
  readonly #text: string;
  /** `pg` replaces it by one that also ends the timer of the answer. */
  callback: (error?: Error) => void;

  constructor(sql: string, text: string, done: (error?: Error) => void) {
    this.#sql = sql;
    this.#text = text;
    this.callback = done;
  }

  submit(connection: Connection): void {
    (connection as CopyingConnection).query(this.#sql);
  }

  handleCopyInResponse(connection: CopyingConnection): void {
    connection.sendCopyFromChunk(Buffer.from(this.#text));
    connection.endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback();
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
