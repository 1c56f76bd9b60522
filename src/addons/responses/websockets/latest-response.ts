import type { TurnResult } from './turn-reply.ts';
import type { HoldBytes } from './open-sockets.ts';
import { itemsOf, joinItems, textOf, type Frame } from './frame.ts';

/** A turn whose earlier items are in its input. */
export interface Continued {
  /** JSON text of the whole input; undefined: the input stays as the client wrote it. */
  readonly input: string | undefined;
  /** The response that the request path has to find: the socket does not have it. */
  readonly root: string | undefined;
  /** The response that the client named and that the socket has written out. */
  readonly named: string | undefined;
}

interface Latest {
  readonly id: string;
  readonly root: string | undefined;
  /** JSON texts of its input and its output, between commas. */
  readonly items: string;
  readonly bytes: number;
}

/**
 * The latest response of a socket, which the next turn may continue by `previous_response_id`, even with `store: false`
 * (docs/protocols/openai-responses.md#websocket). An id that is not here stays in the request: the request path finds it in a
 * store, the upstream knows it, or the turn fails.
 */
export class LatestResponse {
  readonly #hold: HoldBytes;
  #latest: Latest | undefined;

  constructor(hold: HoldBytes) {
    this.#hold = hold;
  }

  get bytes(): number {
    return this.#latest?.bytes ?? 0;
  }

  continue(frame: Frame): Continued {
    const previous = textOf(frame, 'previous_response_id');
    const latest = this.#latest;
    const unknown = { input: undefined, root: previous, named: undefined };
    if (previous === undefined || previous !== latest?.id) return unknown;
    const items = itemsOf(frame);
    return items === undefined
      ? unknown
      : { input: `[${joinItems(latest.items, items)}]`, root: latest.root, named: previous };
  }

  /** @param limit bytes up to which the response is kept */
  keep(frame: Frame, { input, root }: Continued, { id, output }: Required<TurnResult>, limit: number): void {
    this.forget();
    const items = joinItems(input === undefined ? (itemsOf(frame) ?? '') : input.slice(1, -1), output);
    const bytes = Buffer.byteLength(items);
    if (bytes <= limit && this.#hold(bytes)) this.#latest = { id, root, items, bytes };
  }

  /** A turn that fails removes the response that it continues: the client then sends the whole input. */
  evict(frame: Frame): void {
    if (this.#latest !== undefined && this.#latest.id === textOf(frame, 'previous_response_id')) this.forget();
  }

  forget(): void {
    if (this.#latest) this.#hold(-this.#latest.bytes);
    this.#latest = undefined;
  }
}
