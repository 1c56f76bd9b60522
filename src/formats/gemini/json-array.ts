import type { ClientError, ErrorReply } from '../client-error.ts';
import { encodeError } from './errors.ts';

/** How the records of a stream are joined. */
export interface StreamFrame {
  record(json: string): string;
  /** After the last record of a complete stream. */
  end(): string;
}

/** Server-sent events (`alt=sse`). Google ends lines with CR LF (all recordings). */
export const SSE_FRAME: StreamFrame = { record: (json) => `data: ${json}\r\n\r\n`, end: () => '' };

/** One JSON array, written as it grows (docs/protocols/gemini.md#json-array-stream). */
export class ArrayFrame implements StreamFrame {
  #begun = false;

  record(json: string): string {
    const start = this.#begun ? BETWEEN : '[';
    this.#begun = true;
    return start + json;
  }

  end(): string {
    return this.#begun ? ']' : '[]';
  }
}

const BETWEEN = ',\r\n';

/** @param begun the reply has bytes already, which begin with a record */
export function encodeArrayError(error: ClientError, begun = true): string {
  return `${begun ? BETWEEN : '['}${JSON.stringify(encodeError(error).body)}]`;
}

/** An error before the first record (docs/protocols/gemini.md#array-errors). */
export function encodeFirstError(error: ClientError): ErrorReply {
  const { status, body } = encodeError(error);
  return { status, body: [body] };
}
